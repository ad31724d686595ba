import { pbkdf2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { PasswordScheme } from './password-scheme.ts'

const ITERATIONS = 10_240
const KEY_BYTES = 24
const derive = promisify(pbkdf2)

/**
 * What an earlier server of this kind stored: `base64(salt)$base64(key)`, PBKDF2-HMAC-SHA1 (D5.1). Verified so that people
 * who come from there can sign in, and always outdated: the first login stores the password anew.
 */
export const legacyPbkdf2: PasswordScheme = {
  understands: stored => /^[A-Za-z0-9+/]+={0,2}\$[A-Za-z0-9+/]+={0,2}$/.test(stored),
  outdated: () => true,
  async verify(password, stored) {
    const [salt = '', key = ''] = stored.split('$')
    const expected = Buffer.from(key, 'base64')
    if (expected.length !== KEY_BYTES) return false
    const actual = await derive(password, Buffer.from(salt, 'base64'), ITERATIONS, KEY_BYTES, 'sha1')
    return timingSafeEqual(actual, expected)
  },
}
