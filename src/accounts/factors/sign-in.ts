import { Forbidden, Unauthenticated } from '../../base/errors.ts'
import type { Database } from '../../stores/database.ts'
import type { Audit } from '../audit.ts'
import { type Caller, isGuest } from '../caller.ts'
import { ADMIN, ADMINS } from '../principals.ts'
import type { Client, Session, Sessions } from '../sessions.ts'
import { findPrincipalNamed, normaliseName } from '../users.ts'
import type { FirstFactor, NextStep, PendingLogin, PendingLogins } from './pending-logins.ts'
import type { FactorAnswer, ProofKind, SecondFactors } from './second-factors.ts'
import type { TemporaryPasswords } from './temporary-passwords.ts'

interface Dependencies {
  readonly sessions: Sessions
  readonly factors: SecondFactors
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
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @throws {Forbidden} `account-disabled` */
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
    // The password may have changed meanwhile; and of two right answers one opens a session.
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
    await audit.record({
      event: 'login',
      userId: user.id,
      userName: user.name,
      actorId: user.id,
      address: client.address,
      detail: { mechanism, ...(proof ? { factor: proof } : {}) },
    })
    const hasProviderFactor = hasSecondFactor && proof === undefined && lifetime.provider !== undefined
    // A factor that was proven here, after the provider, is a proof of now.
    const { authenticated: _before, ...proven } = lifetime
    const factor = { hasSecondFactor, hasProviderFactor }
    const session = await sessions.open(user, client, { ...(proof === undefined ? lifetime : proven), ...factor })
    return { user, session, mechanism, successUrl }
  }
}

/** Whether a sign-in waits for its next step. */
export const isWaiting = (result: SignedIn | WaitingSignIn): result is WaitingSignIn => 'pendingToken' in result

const expired = (): Unauthenticated => new Unauthenticated('sign-in-expired', 'This sign-in has ended. Sign in again.')

/** Who must have a second factor. `off`: no user can add one, and those who have one are still asked for it. */
export type FactorRequirement = 'off' | 'optional' | 'admins' | 'all'

interface FactorPolicyOptions {
  readonly requirement: FactorRequirement
  /** Names of groups whose members must have a second factor, as written in the settings. */
  readonly groups: readonly string[]
}

/** Decides who must have a second factor (D28.9). */
export class FactorPolicy {
  readonly #database: Database
  readonly #requirement: FactorRequirement
  readonly #groups: readonly string[]

  constructor(database: Database, { requirement, groups }: FactorPolicyOptions) {
    this.#database = database
    this.#requirement = requirement
    this.#groups = groups.map(normaliseName)
  }

  /** Whether users can add second factors. */
  get isOffered(): boolean {
    return this.#requirement !== 'off'
  }

  /** Whether the caller must add a second factor before anything else. */
  async isMissing(caller: Pick<Caller, 'user' | 'groups' | 'session'>): Promise<boolean> {
    const { user, session } = caller
    // Not `hasSecondFactor` of the session: the user may have removed the factor since.
    if (isGuest(caller) || user.hasSecondFactor || session?.hasProviderFactor === true) return false
    return await this.#isRequired(caller)
  }

  /** @throws {Forbidden} `second-factor-missing` */
  async requirePresent(caller: Caller): Promise<void> {
    if (await this.isMissing(caller))
      throw new Forbidden('second-factor-missing', 'This account must have a second factor. Add one first.')
  }

  async #isRequired({ user, groups }: Pick<Caller, 'user' | 'groups'>): Promise<boolean> {
    if (this.#requirement === 'off') return false
    if (this.#requirement === 'all') return true
    if (this.#requirement === 'admins' && (user.id === ADMIN || groups.has(ADMINS))) return true
    return await this.#isInNamedGroup(groups)
  }

  async #isInNamedGroup(groups: ReadonlySet<string>): Promise<boolean> {
    for (const name of this.#groups) {
      const id = await findPrincipalNamed(this.#database, name)
      if (id !== undefined && groups.has(id)) return true
    }
    return false
  }
}
