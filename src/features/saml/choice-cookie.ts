import type { Seconds } from '../../base/units.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import { HostCookie } from '../../http/browser-cookies.ts'
import type { RequestCookies } from '../../http/protocol/cookies.ts'

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
