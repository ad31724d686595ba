import type { Seconds } from '../base/units.ts'
import type { BaseAddress } from './base-address.ts'
import type { RequestCookies } from './protocol/cookies.ts'

const TTL: Seconds = 365 * 86_400
/** The longest entity id (SAML Core 8.3.6). */
const MAX_CHARACTERS = 1024

/** Remembers the identity provider that a browser chose last in a federation. It identifies nobody and gives no access. */
export class ChoiceCookie {
  readonly #name: string
  readonly #attributes: string

  constructor(base: BaseAddress, secure: boolean) {
    this.#name = `${base.isHttps ? '__Host-' : ''}stowage_idp`
    this.#attributes = `Path=/; SameSite=Lax; HttpOnly${base.isHttps || secure ? '; Secure' : ''}`
  }

  set(entityId: string): string {
    return `${this.#name}=${Buffer.from(entityId).toString('base64url')}; Max-Age=${TTL}; ${this.#attributes}`
  }

  /** `undefined` also when there are several. */
  read(cookies: RequestCookies): string | undefined {
    const entityId = Buffer.from(cookies.only(this.#name) ?? '', 'base64url').toString('utf8')
    return entityId === '' || entityId.length > MAX_CHARACTERS ? undefined : entityId
  }
}
