import { Forbidden, Unauthenticated, InvalidInput } from '../base/errors.ts'
import { type Audit, eventOf } from './audit.ts'
import type { Client, Session, Sessions } from './sessions.ts'
import type { FirstFactor, NextStep, PendingLogin, PendingLogins } from './pending-logins.ts'
import type { FactorAnswer, ProofKind, FactorChecks } from './second-factor.ts'
import type { Database } from '../stores/database.ts'
import type { Login } from './login.ts'
import type { PasswordRules } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { forgetDevices } from './trusted-devices.ts'
import { changeUser, findUser, type User } from './users.ts'

interface SignInDependencies {
  readonly sessions: Sessions
  readonly factors: Pick<FactorChecks, 'kindsOf' | 'verify'>
  readonly pending: PendingLogins
  readonly temporaryPasswords: TemporaryPasswords
  readonly audit: Audit
}

/** A sign-in whose user has been identified. */
export interface IdentifiedUser extends FirstFactor {
  readonly client: Client
  /** The sign-in included a second factor already: a passkey, or one that the identity provider has checked. */
  readonly provesFactor?: boolean
}

/** A sign-in that is complete. */
export interface SignedIn extends Omit<FirstFactor, 'lifetime' | 'proof'> {
  readonly session: Session
}

/** A sign-in that waits for its next step. */
export type WaitingSignIn = {
  /** For the browser. */
  readonly pendingToken: string
} & ({ readonly needs: 'factor'; readonly factors: readonly ProofKind[] } | { readonly needs: 'password' })

/**
 * The last part of every sign-in, however it began, and the only place that opens sessions: no session exists before the second
 * factor of a user who has one (D28.2), and none before a temporary password has been replaced (D33).
 */
export class SignIn {
  readonly #deps: SignInDependencies

  constructor(deps: SignInDependencies) {
    this.#deps = deps
  }

  /**
   * Opens the session, or a pending login if the user must first prove a second factor or replace a temporary password.
   * @throws {Forbidden} `account-disabled`
   */
  async begin(identified: IdentifiedUser): Promise<SignedIn | WaitingSignIn> {
    const { user, provesFactor = false } = identified
    if (user.disabled) throw new Forbidden('account-disabled', 'This account is disabled.')
    if (!user.hasSecondFactor || provesFactor)
      return await this.#afterFactor(identified, identified.client, provesFactor)
    const { factors, pending } = this.#deps
    const pendingToken = await pending.create(identified, 'factor')
    return { needs: 'factor', pendingToken, factors: await factors.kindsOf(user.id) }
  }

  /** The pending login of a browser, to ask for its next step. */
  async findPending(pendingToken: string | undefined, needs: NextStep): Promise<PendingLogin | undefined> {
    return await this.#deps.pending.find(pendingToken, needs)
  }

  /** Ends the pending login of a browser that signs out. */
  async abandon(pendingToken: string): Promise<void> {
    await this.#deps.pending.end(pendingToken)
  }

  /**
   * Checks the second factor that a pending login waits for, and continues as {@link begin} does.
   * @throws {Unauthenticated} `sign-in-expired` @throws {Forbidden} `second-factor-wrong`, which can be tried again
   * @throws {LockedOut}
   */
  async complete(
    pendingToken: string | undefined,
    answer: FactorAnswer,
    client: Client,
  ): Promise<SignedIn | WaitingSignIn> {
    const { factors, pending } = this.#deps
    const waiting = await pending.findForAttempt(pendingToken, 'factor')
    if (!waiting || pendingToken === undefined) throw expired()
    const kind = await factors.verify(waiting.user, answer, { client, bound: waiting.bound })
    // The password may have changed meanwhile. If two right answers arrive at once, only one of them opens a session.
    const taken = await pending.take(pendingToken, 'factor')
    if (!taken) throw expired()
    const result = await this.#afterFactor({ ...taken, proof: kind }, client, true)
    if (await taken.isOpenAtProvider()) return result
    // The provider's logout came while the session was being opened, and may have missed it.
    if (!isWaiting(result)) await this.#deps.sessions.end(result.session.token)
    throw expired()
  }

  /**
   * Completes a sign-in that waits for a new password in place of a temporary one. All other sessions of the user end.
   * @throws {Unauthenticated} `sign-in-expired` @throws {InvalidInput} `password-rules` or `password-unchanged`, which can be
   * tried again @throws {Overloaded}
   */
  async completeWithPassword(pendingToken: string | undefined, password: string, client: Client): Promise<SignedIn> {
    const { pending, temporaryPasswords } = this.#deps
    const waiting = await pending.find(pendingToken, 'password')
    if (!waiting || pendingToken === undefined) throw expired()
    temporaryPasswords.requireAcceptable(waiting.user, password)
    // Each attempt from here on costs two hashes.
    if (!(await pending.findForAttempt(pendingToken, 'password'))) throw expired()
    const user = await temporaryPasswords.replace(waiting.user, password, client)
    if (!user) throw expired()
    // The user may have signed out while the passwords were hashed.
    if (!(await pending.end(pendingToken))) throw expired()
    return await this.#open({ ...waiting, user }, client, waiting.proof !== undefined)
  }

  /** Opens the session, unless a temporary password must be replaced first. */
  async #afterFactor(
    established: FirstFactor,
    client: Client,
    hasSecondFactor: boolean,
  ): Promise<SignedIn | WaitingSignIn> {
    const { pending, temporaryPasswords } = this.#deps
    // A provider or a passkey signs users in whatever their password is.
    if (established.mechanism !== 'form' || !temporaryPasswords.isUsedBy(established.user)) {
      return await this.#open(established, client, hasSecondFactor)
    }
    return { needs: 'password', pendingToken: await pending.create(established, 'password') }
  }

  async #open(
    { user, mechanism, lifetime, successUrl, proof }: FirstFactor,
    client: Client,
    hasSecondFactor: boolean,
  ): Promise<SignedIn> {
    const { sessions, audit } = this.#deps
    const detail = { mechanism, ...(proof ? { factor: proof } : {}) }
    await audit.record(eventOf('login', { user, client }, user, detail))
    const hasProviderFactor = hasSecondFactor && proof === undefined && lifetime.provider !== undefined
    // A factor that was proven here is newer than the sign-in at the provider, so the time of that sign-in is left out.
    const { authenticated: _before, ...proven } = lifetime
    const factor = { hasSecondFactor, hasProviderFactor }
    const session = await sessions.open(user, client, { ...(proof === undefined ? lifetime : proven), ...factor })
    return { user, session, mechanism, successUrl }
  }
}

/** Whether a sign-in waits for its next step. */
export const isWaiting = (result: SignedIn | WaitingSignIn): result is WaitingSignIn => 'pendingToken' in result

const expired = (): Unauthenticated => new Unauthenticated('sign-in-expired', 'This sign-in has ended. Sign in again.')

interface PasswordDependencies {
  readonly database: Database
  readonly login: Pick<Login, 'usesTemporaryPassword'>
  readonly passwords: Passwords
  readonly passwordRules: PasswordRules
  readonly sessions: Pick<Sessions, 'clearAway'>
  readonly audit: Audit
}

/** Passwords that an administrator has set, and that their users replace at the next sign-in (D33). */
export class TemporaryPasswords {
  readonly #deps: PasswordDependencies

  constructor(deps: PasswordDependencies) {
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
  async replace(user: User, password: string, client: Client): Promise<User | undefined> {
    const { database, passwords, sessions, audit } = this.#deps
    if (await passwords.verify(password, user.password)) {
      throw new InvalidInput('password-unchanged', 'This is the temporary password. Choose another one.')
    }
    const hash = await passwords.hash(password)
    const entry = eventOf('password-changed', { user, client }, user, { why: 'temporary-password' })
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
