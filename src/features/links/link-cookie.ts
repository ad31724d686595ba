import type { BaseAddress } from '../../http/base-address.ts'
import { BrowserCookie, secureWord } from '../../http/browser-cookies.ts'

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
