import type { Seconds } from '../base/units.ts'
import { FLOW_TTL } from '../sso/login-flows.ts'
import type { BaseAddress } from './base-address.ts'
import type { RequestCookies } from './protocol/sender.ts'

/** A cookie beside those of the session. */
class BrowserCookie {
  protected readonly name: string
  readonly #attributes: string
  readonly #maxAge: string

  /** @param life absent for a cookie that ends with the browser */
  constructor(name: string, attributes: string, life?: Seconds) {
    this.name = name
    this.#attributes = attributes
    this.#maxAge = life === undefined ? '' : `Max-Age=${life}; `
  }

  set(value: string): string {
    return `${this.name}=${value}; ${this.#maxAge}${this.#attributes}`
  }

  clear(): string {
    return `${this.name}=; Max-Age=0; ${this.#attributes}`
  }

  /** Whether the browser sends such a cookie, one or several. */
  isIn(cookies: RequestCookies): boolean {
    return cookies.tokens(this.name).length > 0
  }

  /** `undefined` also when there are several: then another page has set one. */
  read(cookies: RequestCookies): string | undefined {
    const values = cookies.tokens(this.name)
    return values.length === 1 ? values[0] : undefined
  }
}

/** A cookie for all pages of this host. Lax, so that it arrives when another site sends the browser here. */
class HostCookie extends BrowserCookie {
  constructor(base: BaseAddress, secure: boolean, name: string, life: Seconds) {
    // Under a name with this prefix browsers take it from this very host only, not from another one of the same domain.
    super(`${base.isHttps ? '__Host-' : ''}${name}`, `Path=/; SameSite=Lax; HttpOnly${secureWord(base, secure)}`, life)
  }
}

const secureWord = ({ isHttps }: BaseAddress, secure: boolean): string => (isHttps || secure ? '; Secure' : '')

/**
 * Ties a sign-in that is not complete to the browser that began it (D9.5, D28.2), for as long as it lives: by CAS or OpenID Connect, or one
 * that waits for a second factor.
 */
export class FlowCookie extends HostCookie {
  constructor(base: BaseAddress, secure: boolean, protocol: 'cas' | 'oidc' | '2fa' = 'cas') {
    super(base, secure, `stowage_${protocol}`, FLOW_TTL / 1000)
  }
}

const CHOICE_TTL: Seconds = 365 * 86_400
/** The longest entity id (SAML Core 8.3.6). */
const MAX_CHARACTERS = 1024

/** Remembers the identity provider that a browser chose last in a federation. It identifies nobody and gives no access. */
export class ChoiceCookie extends HostCookie {
  constructor(base: BaseAddress, secure: boolean) {
    super(base, secure, 'stowage_idp', CHOICE_TTL)
  }

  override set(entityId: string): string {
    return super.set(Buffer.from(entityId).toString('base64url'))
  }

  override read(cookies: RequestCookies): string | undefined {
    const entityId = Buffer.from(cookies.only(this.name) ?? '', 'base64url').toString('utf8')
    return entityId === '' || entityId.length > MAX_CHARACTERS ? undefined : entityId
  }
}

/**
 * The cookie of a visitor at one public link. It goes to the addresses of this link only, to no page of another site, and ends with
 * the browser.
 */
export class LinkCookie extends BrowserCookie {
  constructor(base: BaseAddress, secure: boolean, linkId: string) {
    const path = `${base.path}auth/link/${linkId}`
    super(`stowage_link_${linkId}`, `Path=${path}; SameSite=Strict; HttpOnly${secureWord(base, secure)}`)
  }
}
