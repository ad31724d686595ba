import { Forbidden } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { type Caller, isGuest } from './caller.ts'
import type { Login } from './login.ts'
import { type Audit, eventOf } from './audit.ts'
import { idOf, type Session, type Sessions } from './sessions.ts'
import type { FactorAnswer, FactorChecks } from './second-factor.ts'

/** Whose proof has to be recent before a change that matters: of no user, of users with a second factor, or of all. */
export type StepUpMode = 'off' | 'factors' | 'all'

/** Maximum age of a recent proof. */
const FRESH_TTL: Milliseconds = 300_000

interface Dependencies {
  readonly factors: Pick<FactorChecks, 'verify'>
  readonly login: Pick<Login, 'requireCurrentPassword'>
  readonly sessions: Pick<Sessions, 'noteProof'>
  readonly audit: Audit
  readonly system: System
}

/** What a user sends to prove again who they are. */
type FreshAnswer = FactorAnswer | { readonly password: string }

/**
 * A session that was left open must not be enough to take over an account: before a change of passwords, names, second factors,
 * access tokens or accounts of others, the last proof of who the user is must be recent (D28.6).
 */
export class StepUp {
  readonly #deps: Dependencies
  readonly #mode: StepUpMode

  constructor(deps: Dependencies, mode: StepUpMode) {
    this.#deps = deps
    this.#mode = mode
  }

  /**
   * HTTP Basic proves the password with each request, and access tokens are refused where this is asked.
   * @throws {Forbidden} `fresh-sign-in-required`
   */
  requireFresh(caller: Pick<Caller, 'user' | 'session'>): void {
    if (this.hasRecentProof(caller)) return
    throw new Forbidden(
      'fresh-sign-in-required',
      'Your last proof of identity is older than five minutes. Send a new one to `POST /auth/fresh`, then repeat the request.',
    )
  }

  /** True also where none is asked for. */
  hasRecentProof({ user, session }: Pick<Caller, 'user' | 'session'>): boolean {
    const isAsked = this.#mode === 'all' || (this.#mode === 'factors' && user.hasSecondFactor)
    return !session || !isAsked || this.#isFresh(session)
  }

  /**
   * Proves again who the caller is, for five minutes. A user with a second factor must use it.
   * @throws {Forbidden} `fresh-sign-in-required` for a password where a second factor is needed; `second-factor-wrong`;
   * `current-password-wrong`, `password-login-off` @throws {LockedOut}
   */
  async prove(caller: Caller, answer: FreshAnswer): Promise<void> {
    const { factors, login, sessions, audit } = this.#deps
    const { user, client } = caller
    const session = requireSessionOf(caller, 'prove again who you are')
    let kind = 'password'
    if (!('password' in answer)) {
      kind = await factors.verify(user, answer, { client, bound: boundTo(session) })
    } else if (user.hasSecondFactor) {
      throw new Forbidden('fresh-sign-in-required', 'Send a second factor: the password alone is not enough.')
    } else {
      await login.requireCurrentPassword(user, answer.password, client)
    }
    await sessions.noteProof(session, kind !== 'password')
    await audit.record(eventOf('step-up', caller, user, { mechanism: kind }))
  }

  #isFresh({ authenticated, loginTime }: Session): boolean {
    return this.#deps.system.now() - (authenticated ?? loginTime) <= FRESH_TTL
  }
}

/** The challenge of a passkey for a new proof is valid for this session only. */
export const boundTo = (session: Session): string => `session:${idOf(session)}`

/** The session of the caller. @throws {Forbidden} `not-allowed` without one, as with HTTP Basic */
export function requireSessionOf(caller: Caller, what: string): Session {
  if (caller.session && !isGuest(caller)) return caller.session
  throw new Forbidden('not-allowed', `You may not ${what} without a session. Sign in with a cookie.`)
}
