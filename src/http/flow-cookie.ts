import { FLOW_TTL } from '../sso/login-flows.ts'
import type { BaseAddress } from './base-address.ts'
import type { RequestCookies } from './protocol/cookies.ts'

/**
 * Ties a login that is not complete to the browser that began it (D9.5, D28.2), for as long as it lives: by CAS or OpenID Connect, or one
 * that waits for a second factor. Lax, so that it
 * arrives when the provider sends the browser back, whatever the cookie of the session is.
 */
export class FlowCookie {
  readonly #name: string
  readonly #attributes: string

  constructor(base: BaseAddress, secure: boolean, protocol: 'cas' | 'oidc' | '2fa' = 'cas') {
    // Under this name browsers take it from this very host only, not from another one of the same domain.
    this.#name = `${base.isHttps ? '__Host-' : ''}stowage_${protocol}`
    this.#attributes = `Path=/; SameSite=Lax; HttpOnly${base.isHttps || secure ? '; Secure' : ''}`
  }

  set(value: string): string {
    return `${this.#name}=${value}; Max-Age=${FLOW_TTL / 1000}; ${this.#attributes}`
  }

  clear(): string {
    return `${this.#name}=; Max-Age=0; ${this.#attributes}`
  }

  /** Whether the browser sends such a cookie, one or several. */
  isIn(cookies: RequestCookies): boolean {
    return cookies.tokens(this.#name).length > 0
  }

  /** `undefined` also when there are several: then another page has set one. */
  read(cookies: RequestCookies): string | undefined {
    const values = cookies.tokens(this.#name)
    return values.length === 1 ? values[0] : undefined
  }
}
