import type { BaseAddress } from './base-address.ts'
import type { RequestCookies } from './protocol/cookies.ts'

/**
 * The cookie of a visitor at one public link. It goes to the addresses of this link only, to no page of another site, and ends with
 * the browser.
 */
export class LinkCookie {
  readonly #name: string
  readonly #attributes: string

  constructor(base: BaseAddress, secure: boolean, linkId: string) {
    this.#name = `stowage_link_${linkId}`
    const secureWord = base.isHttps || secure ? '; Secure' : ''
    this.#attributes = `Path=${base.path}auth/link/${linkId}; SameSite=Strict; HttpOnly${secureWord}`
  }

  set(key: string): string {
    return `${this.#name}=${key}; ${this.#attributes}`
  }

  /** `undefined` also when there are several: then another page has set one. */
  read(cookies: RequestCookies): string | undefined {
    const values = cookies.tokens(this.#name)
    return values.length === 1 ? values[0] : undefined
  }
}
