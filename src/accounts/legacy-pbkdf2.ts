import { pbkdf2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { PasswordScheme } from './password-scheme.ts'

const ITERATIONS = 10_240
const KEY_BYTES = 24
const derive = promisify(pbkdf2)

/** Returns salt and key, both in Base64, or `undefined` for any other text. */
export function parsePbkdf2(stored: string): { readonly salt: string; readonly key: string } | undefined {
  const [, salt, key] = /^([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]+={0,2})$/.exec(stored) ?? []
  return salt === undefined || key === undefined ? undefined : { salt, key }
}

/** @param salt in Base64 */
export const derivePbkdf2 = (password: string, salt: string): Promise<Buffer> =>
  derive(password, Buffer.from(salt, 'base64'), ITERATIONS, KEY_BYTES, 'sha1')

/**
 * The password format of the earlier server: `base64(salt)$base64(key)`, PBKDF2-HMAC-SHA1 (D5.1). Verified so that migrated
 * users can sign in. Always outdated: the first login stores the password in the current scheme.
 */
export const legacyPbkdf2: PasswordScheme = {
  understands: stored => parsePbkdf2(stored) !== undefined,
  outdated: () => true,
  async verify(password, stored) {
    const { salt, key } = parsePbkdf2(stored) ?? { salt: '', key: '' }
    const expected = Buffer.from(key, 'base64')
    if (expected.length !== KEY_BYTES) return false
    return timingSafeEqual(await derivePbkdf2(password, salt), expected)
  },
}
