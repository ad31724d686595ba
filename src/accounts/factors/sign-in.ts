import { Forbidden, Unauthenticated } from '../../base/errors.ts'
import type { Audit } from '../audit.ts'
import type { Client, Session, Sessions } from '../sessions.ts'
import type { FirstFactor, PendingLogin, PendingLogins } from './pending-logins.ts'
import type { FactorAnswer, ProofKind, SecondFactors } from './second-factors.ts'

interface Dependencies {
  readonly sessions: Sessions
  readonly factors: SecondFactors
  readonly pending: PendingLogins
  readonly audit: Audit
}

/** A sign-in whose user has been identified. */
export interface IdentifiedUser extends FirstFactor {
  readonly client: Client
  /** The sign-in included a second factor already: a passkey, or one that the identity provider has checked. */
  readonly provesFactor?: boolean
}

/** A sign-in that is complete. */
export interface SignedIn extends Omit<FirstFactor, 'lifetime'> {
  readonly session: Session
}

/** A sign-in that waits for a second factor. */
export interface FactorNeeded {
  /** For the browser. */
  readonly pendingToken: string
  readonly factors: readonly ProofKind[]
}

/**
 * The last part of every sign-in, however it began, and the only place that opens sessions: no session exists before the second
 * factor of a user who has one (D28.2).
 */
export class SignIn {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @throws {Forbidden} `account-disabled` */
  async begin(identified: IdentifiedUser): Promise<SignedIn | FactorNeeded> {
    const { user, provesFactor = false } = identified
    if (user.disabled) throw new Forbidden('account-disabled', 'This account is disabled.')
    if (!user.hasSecondFactor || provesFactor) return await this.#open(identified, identified.client, provesFactor)
    const { factors, pending } = this.#deps
    return { pendingToken: await pending.create(identified), factors: await factors.kindsOf(user.id) }
  }

  /** The pending login of a browser, to ask for its second factor. */
  async findPending(pendingToken: string | undefined): Promise<PendingLogin | undefined> {
    return await this.#deps.pending.find(pendingToken)
  }

  /**
   * @throws {Unauthenticated} `sign-in-expired` @throws {Forbidden} `second-factor-wrong`, which can be tried again
   * @throws {LockedOut}
   */
  async complete(pendingToken: string | undefined, answer: FactorAnswer, client: Client): Promise<SignedIn> {
    const { factors, pending } = this.#deps
    const waiting = await pending.findForAttempt(pendingToken)
    if (!waiting || pendingToken === undefined) throw expired()
    const kind = await factors.verify(waiting.user, answer, { client, bound: waiting.bound })
    // The password may have changed meanwhile; and of two right answers one opens a session.
    const taken = await pending.take(pendingToken)
    if (!taken) throw expired()
    return await this.#open(taken, client, true, kind)
  }

  async #open(
    { user, mechanism, lifetime, successUrl }: FirstFactor,
    client: Client,
    hasSecondFactor: boolean,
    kind?: ProofKind,
  ): Promise<SignedIn> {
    const { sessions, audit } = this.#deps
    await audit.record({
      event: 'login',
      userId: user.id,
      userName: user.name,
      actorId: user.id,
      address: client.address,
      detail: { mechanism, ...(kind ? { factor: kind } : {}) },
    })
    const session = await sessions.open(user, client, { ...lifetime, hasSecondFactor })
    return { user, session, mechanism, successUrl }
  }
}

/** Whether a sign-in waits for a second factor. */
export const needsFactor = (result: SignedIn | FactorNeeded): result is FactorNeeded => 'pendingToken' in result

const expired = (): Unauthenticated => new Unauthenticated('sign-in-expired', 'This sign-in has ended. Sign in again.')
