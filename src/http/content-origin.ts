import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { FastifyServerOptions } from 'fastify'
import { BaseAddress } from './base-address.ts'
import type { Route } from './route.ts'

/** Long enough for a viewer that loads a document in parts; a ticket that was passed on works no longer than this. */
const TICKET_TTL: Milliseconds = 5 * 60_000
const MAC_BYTES = 32

/** What a ticket permits: reading one state of one file, for one session or through one public link. */
interface ContentTicket extends EntryAddress {
  /** Digest of the file: a ticket is for this state only. */
  readonly sha256: string
  /** Handle of the session that asked for the ticket; absent: a guest did. */
  readonly session: string | undefined
  /** Id of the public link through which the file is read; then sessions are ignored. */
  readonly link: string | undefined
}

/** A ticket whose signature is good. */
export interface OpenedTicket extends ContentTicket {
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

  issue({ context, id, sha256, session, link }: ContentTicket): string {
    const fields = [context, id, sha256, this.#system.now() + TICKET_TTL, session ?? null, link ?? null]
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
    const [context, id, sha256, expires, session, link] = JSON.parse(
      Buffer.from(payload, 'base64url').toString('utf8'),
    ) as [string, string, string, Milliseconds, string | null, string | null | undefined]
    const by = { session: session ?? undefined, link: link ?? undefined }
    return { context, id, sha256, ...by, hasExpired: this.#system.now() >= expires }
  }
}

const mac = (key: Uint8Array, payload: string): Buffer => createHmac('sha256', key).update(payload).digest()

/** Where the content origin answers tickets, relative to its base address. */
export const TICKET_PATH = 'files/'

/** Where visitors of a public link read a file, relative to the base address. */
export const publicFilePath = (link: string, id: string): string => `auth/link/${link}/files/${id}`

/**
 * A second origin of this service, for files that a browser would run or render with active content (D18.15). It answers
 * tickets and nothing else, and uses no cookies, so such a file can reach neither the session nor the pages of the user.
 */
export class ContentOrigin {
  readonly base: BaseAddress
  readonly tickets: ContentTickets
  readonly #hosts: ReadonlySet<string>

  /** @param href absolute, with another host than the base address */
  constructor(href: string, tickets: ContentTickets) {
    const { protocol, host, port } = new URL(href)
    this.base = new BaseAddress(href)
    this.tickets = tickets
    // Some clients and proxies write the default port.
    const defaultPort = protocol === 'https:' ? 443 : 80
    this.#hosts = new Set(port === '' ? [host, `${host}:${defaultPort}`] : [host])
  }

  /** Whether a request with this `Host` header is for the content origin. */
  isAt(host: string | undefined): boolean {
    return host !== undefined && (this.#hosts.has(host) || this.#hosts.has(host.toLowerCase()))
  }
}

const CONTENT = 'content'

/** Keeps the routes of the content origin and all others apart: a request finds only those of the origin it is for. */
export const originConstraint = (contentOrigin: ContentOrigin): RouterConstraints => ({
  origin: {
    name: 'origin',
    mustMatchWhenDerived: true,
    storage: () => {
      const handlers = new Map<unknown, never>()
      return {
        get: origin => handlers.get(origin) ?? null,
        set: (origin, handler) => handlers.set(origin, handler as never),
      }
    },
    // Without a value the request matches the other routes; the declared type does not know this case.
    deriveConstraint: ({ headers }) => (contentOrigin.isAt(headers.host) ? CONTENT : (undefined as never)),
  },
})

type RouterConstraints = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>

/** The part of a registration that says for which origin a route is. */
export const onlyAt = (route: Pick<Route, 'onContentOrigin'> | undefined): { constraints?: { origin: string } } =>
  route?.onContentOrigin === true ? { constraints: { origin: CONTENT } } : {}
