import type { Turn } from '../base/concurrency.ts'
import type { Argon2id } from './argon2id.ts'
import { derivePbkdf2, parsePbkdf2 } from './legacy-pbkdf2.ts'
import type { PasswordScheme } from './password-scheme.ts'

const PREFIX = '$argon2id-of-pbkdf2-sha1$'

/**
 * argon2id over the key of an old PBKDF2 hash: `$argon2id-of-pbkdf2-sha1$salt` followed by the PHC string of argon2id.
 * Created from an old hash without the password (`stowage import entrystore --wrap-hashes`), so that a stolen database is
 * harder to crack than the old one. Always outdated: the first login stores plain argon2id.
 */
export class WrappedPbkdf2 implements PasswordScheme {
  readonly #argon2id: Argon2id

  constructor(argon2id: Argon2id) {
    this.#argon2id = argon2id
  }

  understands(stored: string): boolean {
    return stored.startsWith(PREFIX)
  }

  outdated(): boolean {
    return true
  }

  async verify(password: string, stored: string, turn?: Turn): Promise<boolean> {
    const [, salt, inner] = /^([A-Za-z0-9+/]{22}==)(\$argon2id\$.+)$/.exec(stored.slice(PREFIX.length)) ?? []
    if (salt === undefined || inner === undefined) return false
    const key = await derivePbkdf2(password, salt)
    return await this.#argon2id.verify(key.toString('base64'), inner, turn)
  }

  /** @param stored `base64salt$base64key` @throws {TypeError} for anything else, without repeating it */
  async wrap(stored: string): Promise<string> {
    const parsed = parsePbkdf2(stored)
    if (!parsed) throw new TypeError('this is not a PBKDF2 hash in the old format')
    return PREFIX + parsed.salt + (await this.#argon2id.hash(parsed.key))
  }
}
