import { Forbidden, ServiceError, Unauthenticated } from '../../base/errors.ts'
import type { Database } from '../../stores/database.ts'
import type { Audit } from '../../accounts/audit.ts'
import type { Login } from '../../accounts/login.ts'
import type { Client } from '../../accounts/sessions.ts'
import { findUser, type User } from '../../accounts/users.ts'
import { type Passkeys, SIGN_IN } from './passkeys.ts'
import type { SecondFactors } from '../factors/second-factors.ts'

interface Dependencies {
  readonly database: Database
  readonly passkeys: Pick<Passkeys, 'ownerOf'>
  readonly factors: Pick<SecondFactors, 'verify'>
  readonly login: Pick<Login, 'admits'>
  readonly audit: Audit
}

/** Sign-in with a passkey alone, which names its user (D29.5). */
export class PasskeySignIn {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * The user whose passkey has made the assertion. `SignIn` opens the session.
   * @throws {Unauthenticated} `passkey-refused`, the same for an unknown passkey and for anything else that is wrong
   * @throws {LockedOut} without checking @throws {Forbidden} `account-disabled`; `passkey-login-off`; both only for a right passkey
   */
  async identify(assertion: unknown, client: Client): Promise<User> {
    const { database, passkeys, factors, login, audit } = this.#deps
    const userId = await passkeys.ownerOf(assertion)
    const user = userId === undefined ? undefined : await findUser(database, userId)
    if (!user) {
      await audit.record({ event: 'login-failed', address: client.address, detail: { mechanism: 'passkey' } })
      throw refused()
    }
    await factors.verify(user, { passkey: assertion }, { client, bound: SIGN_IN }).catch((error: unknown) => {
      throw error instanceof ServiceError && error.code === 'second-factor-wrong' ? refused() : error
    })
    const why = user.disabled ? 'disabled' : login.admits(user) ? undefined : 'not admitted'
    if (why !== undefined) {
      const detail = { mechanism: 'passkey', why }
      const { id, name } = user
      await audit.record({ event: 'login-failed', userId: id, userName: name, address: client.address, detail })
    }
    if (user.disabled) throw new Forbidden('account-disabled', 'This account is disabled.')
    if (why !== undefined) {
      throw new Forbidden('passkey-login-off', 'This account signs in through an identity provider.')
    }
    return user
  }
}

const refused = (): Unauthenticated =>
  new Unauthenticated('passkey-refused', 'The passkey was not accepted. Try again, or sign in with your password.')
