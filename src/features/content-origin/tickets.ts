import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { FileOnContentOrigin } from '../../http/content-origin.ts'

/** Long enough for a viewer that loads a document in parts; a ticket that was passed on works no longer than this. */
const TICKET_TTL: Milliseconds = 5 * 60_000
const MAC_BYTES = 32

/** A ticket whose signature is good. */
export interface OpenedTicket extends FileOnContentOrigin {
  readonly hasExpired: boolean
}

/**
 * Tickets for the content origin: signed texts that name a file and a session, in the path of an address (D18.15). Nothing is
 * stored. A ticket does not prove a right: session, right and digest are checked again when it is used.
 */
export class ContentTickets {
  readonly #keys: readonly Uint8Array[]
  readonly #system: System

  /** @param secrets random; the first one signs and all of them verify, so that secrets can be rotated */
  constructor(secrets: readonly Uint8Array[], system: System) {
    this.#keys = secrets.map(
      secret => new Uint8Array(hkdfSync('sha256', secret, '', 'stowage content ticket', MAC_BYTES)),
    )
    this.#system = system
  }

  issue({ context, id, sha256, session, share }: FileOnContentOrigin): string {
    const fields = [context, id, sha256, this.#system.now() + TICKET_TTL, session ?? null, share ?? null]
    const payload = Buffer.from(JSON.stringify(fields)).toString('base64url')
    return `${payload}.${mac(this.#keys[0] ?? new Uint8Array(), payload).toString('base64url')}`
  }

  /** `undefined` unless this service has signed the text. */
  open(text: string): OpenedTicket | undefined {
    const [payload = '', signature = '', ...rest] = text.split('.')
    const given = Buffer.from(signature, 'base64url')
    // One spelling for each signature: base64url has several for the last digit.
    const isWellFormed = rest.length === 0 && given.length === MAC_BYTES && given.toString('base64url') === signature
    if (!isWellFormed || !this.#keys.some(key => timingSafeEqual(mac(key, payload), given))) return undefined
    const [context, id, sha256, expires, session, share] = JSON.parse(
      Buffer.from(payload, 'base64url').toString('utf8'),
    ) as [string, string, string, Milliseconds, string | null, string | null | undefined]
    const by = { session: session ?? undefined, share: share ?? undefined }
    return { context, id, sha256, ...by, hasExpired: this.#system.now() >= expires }
  }
}

const mac = (key: Uint8Array, payload: string): Buffer => createHmac('sha256', key).update(payload).digest()
