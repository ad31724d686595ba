import type { Milliseconds, Seconds } from '../base/units.ts'
import type { BaseAddress } from './base-address.ts'
import { ENDED, lifetime, type RequestCookies } from './protocol/cookies.ts'

/** A cookie beside those of the session. */
export class BrowserCookie {
  protected readonly name: string
  readonly #attributes: string
  readonly #life: Seconds | undefined

  /** @param life absent for a cookie that ends with the browser */
  constructor(name: string, attributes: string, life?: Seconds) {
    this.name = name
    this.#attributes = attributes
    this.#life = life
  }

  set(value: string): string {
    return `${this.name}=${value}; ${this.#life === undefined ? '' : lifetime(this.#life)}${this.#attributes}`
  }

  clear(): string {
    return `${this.name}=; ${ENDED}${this.#attributes}`
  }

  /** Whether the browser sends such a cookie, one or several. */
  isIn(cookies: RequestCookies): boolean {
    return cookies.tokens(this.name).length > 0
  }

  /** `undefined` also when there are several values: then another page has set one of them. */
  read(cookies: RequestCookies): string | undefined {
    const values = cookies.tokens(this.name)
    return values.length === 1 ? values[0] : undefined
  }
}

/** A cookie for all pages of this host. Lax, so that it arrives when another site sends the browser here. */
export class HostCookie extends BrowserCookie {
  constructor(base: BaseAddress, secure: boolean, name: string, life: Seconds) {
    // Browsers accept a cookie with this prefix only from the host itself, not from another host of the same domain.
    super(`${base.isHttps ? '__Host-' : ''}${name}`, `Path=/; SameSite=Lax; HttpOnly${secureWord(base, secure)}`, life)
  }
}

export const secureWord = ({ isHttps }: BaseAddress, secure: boolean): string => (isHttps || secure ? '; Secure' : '')

/** Long enough for a second factor and a password change at an identity provider (D8.2). */
export const FLOW_TTL: Milliseconds = 900_000

/** Ties a sign-in that is not complete to the browser that began it (D9.5, D28.2), for as long as it lives. */
export class FlowCookie extends HostCookie {
  /** @param kind what the sign-in waits for: an identity provider by one protocol, or a second factor */
  constructor(base: BaseAddress, secure: boolean, kind: string) {
    super(base, secure, `stowage_${kind}`, FLOW_TTL / 1000)
  }
}
