import { InvalidInput } from '../../base/errors.ts'
import type { Database } from '../../stores/database.ts'
import type { Audit, AuditEntry } from '../audit.ts'
import type { Login } from '../login.ts'
import type { PasswordRules } from '../password-rules.ts'
import type { Passwords } from '../passwords.ts'
import type { Client, Sessions } from '../sessions.ts'
import { forgetDevices } from '../trusted-devices.ts'
import { changeUser, findUser, type User } from '../users.ts'

interface Dependencies {
  readonly database: Database
  readonly login: Pick<Login, 'usesTemporaryPassword'>
  readonly passwords: Passwords
  readonly passwordRules: PasswordRules
  readonly sessions: Pick<Sessions, 'clearAway'>
  readonly audit: Audit
}

/** Passwords that an administrator has set, and that their users replace at the next sign-in (D33). */
export class TemporaryPasswords {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Whether the user has to choose a new password before a sign-in with the present one is complete. */
  isUsedBy(user: User): boolean {
    return this.#deps.login.usesTemporaryPassword(user)
  }

  /** @throws {InvalidInput} `password-rules`, and for what cannot be a password; without any hashing */
  requireAcceptable({ name }: User, password: string): void {
    this.#deps.passwordRules.require(password, [name])
  }

  /**
   * Sets the password that the user has chosen. The user has proven the temporary one, and the second factor if there is one.
   * @returns `undefined` if the account or its password has changed meanwhile
   * @throws {InvalidInput} `password-unchanged` @throws {Overloaded}
   */
  async replace(user: User, password: string, { address }: Client): Promise<User | undefined> {
    const { database, passwords, sessions, audit } = this.#deps
    if (await passwords.verify(password, user.password)) {
      throw new InvalidInput('password-unchanged', 'This is the temporary password. Choose another one.')
    }
    const hash = await passwords.hash(password)
    const entry: AuditEntry = {
      event: 'password-changed',
      userId: user.id,
      userName: user.name,
      actorId: user.id,
      address,
      detail: { why: 'temporary-password' },
    }
    const changed = await database.transaction(async tx => {
      const now = await findUser(tx, user.id)
      if (!now || now.disabled || now.epoch !== user.epoch) return undefined
      await forgetDevices(tx, now.id)
      await audit.insert(tx, entry)
      return await changeUser(tx, now, { password: hash })
    })
    if (!changed) return undefined
    audit.announce(entry)
    // The new epoch has already ended the other sessions; this deletes them from the store.
    await sessions.clearAway(user.id)
    return changed
  }
}
