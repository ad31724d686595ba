import { InvalidInput } from '../base/errors.ts'
import type { BaseAddress } from './base-address.ts'

/**
 * The absolute form of the address to which a browser is sent after signing in (D2.1).
 * @throws {InvalidInput} `invalid-form` unless the address has the origin of this service
 */
export function readSuccessUrl(base: BaseAddress, successUrl: string | undefined): string | undefined {
  if (successUrl === undefined) return undefined
  const isOwn = !/[\\\p{C}]/u.test(successUrl) && URL.canParse(successUrl, base.href)
  const url = isOwn ? new URL(successUrl, base.href) : undefined
  // A `blob:` URL has the origin of the page that made it.
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (isWeb && url.origin === base.origin && url.username === '' && url.password === '') return url.href
  throw new InvalidInput('invalid-form', '`successurl` is not an address of this service.')
}
