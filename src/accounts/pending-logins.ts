import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Database } from '../stores/database.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'
import { type LogoutKeys, userLogoutKey } from './session-lists.ts'
import type { SessionLifetime } from './session-options.ts'
import { digestOf } from './tokens.ts'
import { findUser, type User } from './users.ts'
import type { ProofKind } from './second-factor.ts'

/** Time for the next step of a sign-in: to prove their second factor, or to choose a new password. */
export const PENDING_TTL: Milliseconds = 300_000
/** Further attempts need the password again, whose check is expensive. */
const MAX_ATTEMPTS = 5
const TOKEN_BYTES = 32

export const PENDING_PREFIX = 'pending-login:'

/** What an incomplete sign-in waits for: a second factor, or a new password in place of a temporary one. */
export type NextStep = 'factor' | 'password'

/** What the steps of a sign-in so far have established. */
export interface FirstFactor {
  readonly user: User
  /** How the user signed in: `form`, or the name of a provider. */
  readonly mechanism: string
  readonly lifetime: SessionLifetime
  /** Where a browser goes afterwards; already checked. */
  readonly successUrl?: string | undefined
  /** How the second factor was proven, if it was. */
  readonly proof?: ProofKind | undefined
}

interface Stored extends Omit<FirstFactor, 'user'> {
  readonly needs: NextStep
  readonly userId: string
  readonly epoch: number
  readonly attempts: number
  /** One for each of {@link logoutKeysOf}; absent in those of an earlier version. */
  readonly logoutMarks?: readonly string[]
}

export interface PendingLogin extends FirstFactor {
  /** Identifies the pending login to challenges that are made for it. */
  readonly bound: string
  /** False once the identity provider has ended its session. */
  readonly isOpenAtProvider: () => Promise<boolean>
}

interface Dependencies {
  readonly database: Database
  readonly ephemeral: EphemeralStore
  /** In the store of the sessions: a logout ends both by one key. */
  readonly logoutKeys: LogoutKeys
  readonly system: System
}

/**
 * Sign-ins that wait for their next step. The browser has a token, the store its digest. It opens no session and grants
 * nothing; it ends when the password changes, the account is disabled, or the identity provider ends its session.
 */
export class PendingLogins {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Returns the token for the browser. */
  async create({ user, mechanism, lifetime, successUrl, proof }: FirstFactor, needs: NextStep): Promise<string> {
    const token = Buffer.from(this.#deps.system.randomBytes(TOKEN_BYTES)).toString('base64url')
    const { id: userId, epoch } = user
    const logoutMarks = await this.#deps.logoutKeys.addPending(logoutKeysOf(lifetime, userId), PENDING_TTL)
    const first = { needs, userId, epoch, mechanism, lifetime, successUrl, proof }
    const stored: Stored = { ...first, attempts: 0, logoutMarks }
    await this.#deps.ephemeral.add(keyOf(token), stored, PENDING_TTL)
    return token
  }

  /** Leaves it as it is. */
  async find(token: string | undefined, needs: NextStep): Promise<PendingLogin | undefined> {
    if (token === undefined) return undefined
    return await this.#current(token, needs, await this.#deps.ephemeral.get<Stored>(keyOf(token)))
  }

  /** Counts an attempt and returns the pending login; `undefined` when no attempts are left. */
  async findForAttempt(token: string | undefined, needs: NextStep): Promise<PendingLogin | undefined> {
    if (token === undefined) return undefined
    const stored = await this.#deps.ephemeral.update<Stored>(keyOf(token), old =>
      old && old.attempts < MAX_ATTEMPTS ? { value: { ...old, attempts: old.attempts + 1 } } : undefined,
    )
    return await this.#current(token, needs, stored)
  }

  /** Ends it, whatever it waits for. Returns false when there was none, or its time is over. */
  async end(token: string): Promise<boolean> {
    return (await this.#deps.ephemeral.take<Stored>(keyOf(token))) !== undefined
  }

  /** Ends the pending login. If several requests do so at once, one of them gets it. */
  async take(token: string, needs: NextStep): Promise<PendingLogin | undefined> {
    return await this.#current(token, needs, await this.#deps.ephemeral.take<Stored>(keyOf(token)))
  }

  /**
   * A pending login ends when the password changes, when the user gets a first factor or loses the last one, and when the account is
   * disabled or deleted.
   */
  async #current(token: string, needs: NextStep, stored: Stored | undefined): Promise<PendingLogin | undefined> {
    const user = stored && (await findUser(this.#deps.database, stored.userId))
    if (!user || user.disabled || user.epoch !== stored.epoch || stored.needs !== needs) return undefined
    const { mechanism, lifetime, successUrl, proof, logoutMarks = [] } = stored
    // A user with a second factor has proven it before they choose a new password.
    const isNeeded =
      needs === 'factor'
        ? user.hasSecondFactor
        : user.hasTemporaryPassword && user.hasSecondFactor === (proof !== undefined)
    const isOpenAtProvider = (): Promise<boolean> =>
      this.#deps.logoutKeys.arePending(logoutKeysOf(lifetime, user.id), logoutMarks)
    if (!isNeeded || !(await isOpenAtProvider())) return undefined
    return { user, mechanism, lifetime, successUrl, proof, bound: `pending:${digestOf(token)}`, isOpenAtProvider }
  }
}

/** By each of these the provider can end the sign-in. */
const logoutKeysOf = ({ provider, logoutKeys = [] }: SessionLifetime, userId: string): readonly string[] =>
  provider === undefined ? [] : [...logoutKeys, userLogoutKey(provider, userId)]

const keyOf = (token: string): string => PENDING_PREFIX + digestOf(token)
