import { Forbidden, Unauthenticated } from '../base/errors.ts'
import type { Database } from '../stores/database.ts'
import { normaliseName } from './names.ts'
import type { Passwords } from './passwords.ts'
import { requirePasswordShape } from './passwords.ts'
import { ADMIN } from './principals.ts'
import { findUserByName, replaceHash, type User } from './users.ts'

/**
 * The one place where a user name and a password are judged (D4.2): every mechanism that takes a password comes here.
 */
export class Login {
  readonly #database: Database
  readonly #passwords: Passwords
  /** Hash of `service.auth.adminpw`, which wins over the stored password while it is set (D5.6). */
  readonly #adminOverride: string | undefined

  constructor(database: Database, passwords: Passwords, adminOverride: string | undefined) {
    this.#database = database
    this.#passwords = passwords
    this.#adminOverride = adminOverride
  }

  /**
   * @throws {InvalidInput} when it cannot be a password at all
   * @throws {Unauthenticated} `wrong-credentials`, the same for every way in which name and password do not fit (D2.2)
   * @throws {Forbidden} `account-disabled`, only when the password is right
   * @throws {Overloaded} when too many passwords wait to be checked
   */
  async withPassword(name: string, password: string): Promise<User> {
    requirePasswordShape(password)
    const user = await findUserByName(this.#database, normaliseName(name))
    const stored = user && this.#storedPassword(user)
    const right = await this.#passwords.verify(password, stored)
    if (!user || !right) throw new Unauthenticated('wrong-credentials', 'The user name or the password is wrong.')
    if (user.disabled) throw new Forbidden('account-disabled', 'This account is disabled.')
    if (stored === user.password && stored !== undefined && this.#passwords.outdated(stored)) {
      await replaceHash(this.#database, user, await this.#passwords.hash(password))
    }
    return user
  }

  /**
   * For a change of one's own password (D5.3).
   * @throws {Forbidden} `current-password-wrong`
   */
  async requireCurrentPassword(user: User, password: string): Promise<void> {
    requirePasswordShape(password)
    if (await this.#passwords.verify(password, this.#storedPassword(user))) return
    throw new Forbidden('current-password-wrong', 'The current password is wrong.')
  }

  #storedPassword(user: User): string | undefined {
    return user.id === ADMIN && this.#adminOverride !== undefined ? this.#adminOverride : user.password
  }
}
