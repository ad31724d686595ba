import { createHash } from 'node:crypto'
import { LockedOut, Overloaded, StoreUnavailable } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import { type Milliseconds, type Seconds, UNLIMITED } from '../base/units.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'

interface LockoutOptions {
  /** How many wrong passwords in a row lock the user; -1: never. */
  readonly maxAttempts: number
  readonly duration: Milliseconds
}

/** Where no password locks a user out, wrong codes still do: only the owner of the password can cause that. */
export const CODE_LOCKOUT: LockoutOptions = { maxAttempts: 10, duration: 300_000 }
/** Wrong codes of apps in a row, on top of all other counts (NIST SP 800-63B permits 100). */
export const GUESS_LOCKOUT: LockoutOptions = { maxAttempts: 50, duration: 86_400_000 }

/**
 * The unit whose wrong passwords are counted together: a user, one trusted device of a user, or a name that does not exist.
 */
export interface LockoutKey {
  readonly key: string
}

export const userLockoutKey = (user: { readonly id: string; readonly unlocks: number }): LockoutKey => ({
  key: `${USER_PREFIX}${user.id}:${user.unlocks}`,
})

export const deviceLockoutKey = (
  user: { readonly id: string; readonly unlocks: number },
  digest: string,
): LockoutKey => ({
  key: `lockout:device:${user.id}:${user.unlocks}:${digest}`,
})

/** The name itself is not stored, because people type their password into the wrong field. */
export const nameLockoutKey = (name: string): LockoutKey => ({
  key: `${UNKNOWN_NAME_PREFIX}${createHash('sha256').update(name).digest('base64url')}`,
})

/** Codes of users whose passwords are never counted. A new password does not lift it. */
export const codesLockoutKey = (user: { readonly id: string; readonly codeUnlocks: number }): LockoutKey => ({
  key: `${USERS_PREFIX}-codes:${user.id}:${user.codeUnlocks}`,
})

/** Codes of apps, over days: six digits can be guessed within months if a lockout ends every few minutes. */
export const guessesLockoutKey = (user: { readonly id: string; readonly codeUnlocks: number }): LockoutKey => ({
  key: `${USERS_PREFIX}-guesses:${user.id}:${user.codeUnlocks}`,
})

/** All counts of users begin with it, so that one scan finds them. */
const USERS_PREFIX = 'lockout:user'
const USER_PREFIX = `${USERS_PREFIX}:`
/** Strangers can create any number of these keys, so the code that creates the store must limit them. */
export const UNKNOWN_NAME_PREFIX = 'lockout:name:'

interface LockedUser {
  readonly userId: string
  /** What was wrong. Each has its own number of unlocks in the user's row. */
  readonly of: 'passwords' | 'codes'
  readonly unlocks: number
  readonly failures: number
  /** Wall-clock end of the lock. */
  readonly until: Milliseconds
}

interface Counter {
  readonly failures: number
  /** Attempts that are being checked; each may turn out to be a failure. */
  readonly pending: readonly Reservation[]
  /** Wall-clock time, used to report the remaining duration. The lock itself ends when the entry expires. */
  readonly lockedUntil?: Milliseconds
}

/** Expires by itself, because the node may stop or lose the store before it can report the result of the attempt. */
interface Reservation {
  readonly id: string
  readonly until: Milliseconds
}

/** Longer than an attempt can wait and run. */
const RESERVATION_TTL: Milliseconds = 60_000
/** Failures that did not cause a lockout are forgotten after a day without another failure. */
const MEMORY: Milliseconds = 86_400_000
/** How often a waiting attempt polls the store for attempts that run on other nodes. */
const POLL_INTERVAL: Milliseconds = 50
const MAX_WAITING = 500
/** Pause after the store became unreachable before its reservations are released. */
const RELEASE_PAUSE: Milliseconds = 1000

/**
 * Temporary lockout (I3.2, I5.9; D6). Each attempt is reserved before its password is checked, so parallel guesses
 * cannot exceed the limit: failures plus attempts in progress never exceed it. An attempt that would exceed it waits for the
 * result of the others instead of being rejected, because all of them may be right.
 */
export class Lockout {
  readonly #store: EphemeralStore
  readonly #system: System
  readonly #options: LockoutOptions
  readonly #waiting = new Map<string, Set<() => void>>()
  /** Ids of reservations that the store may still hold after it became unreachable, each with its key. */
  readonly #abandoned = new Map<string, string>()
  #willRelease = false

  constructor(store: EphemeralStore, system: System, options: LockoutOptions) {
    this.#store = store
    this.#system = system
    this.#options = options
  }

  /** A lockout with `times` as many attempts, for a counter that many people share. */
  withMoreAttempts(times: number): Lockout {
    const { maxAttempts, duration } = this.#options
    return new Lockout(this.#store, this.#system, {
      maxAttempts: this.enabled ? times * maxAttempts : UNLIMITED,
      duration,
    })
  }

  get enabled(): boolean {
    return this.#options.maxAttempts !== UNLIMITED
  }

  /**
   * Checks a password unless the limit has been reached. A wrong password is counted, a right one clears the count, and a check
   * that throws leaves the count as it is. `locked` is true if this failure caused the lock.
   * @param clears false where a right answer is not the last step of a sign-in: it then leaves the count as it is
   * @throws {LockedOut} without checking (D6.1)
   */
  async attempt(
    { key }: LockoutKey,
    check: () => Promise<boolean>,
    { clears = true }: { readonly clears?: boolean } = {},
  ): Promise<{ right: boolean; locked: boolean }> {
    if (!this.enabled) return { right: await check(), locked: false }
    const id = Buffer.from(this.#system.randomBytes(9)).toString('base64url')
    let outcome: 'right' | 'wrong' | 'unknown' = 'unknown'
    try {
      await this.#reserve(key, id)
      try {
        outcome = (await check()) ? 'right' : 'wrong'
      } finally {
        // Also runs when the check throws; otherwise the reservation would count against the user until it expires.
        await this.#settle(key, id, outcome === 'right' && !clears ? 'unknown' : outcome)
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#abandon(key, id)
      throw error
    }
    return { right: outcome === 'right', locked: outcome === 'wrong' && (await this.#isLocked(key)) }
  }

  /** @throws {LockedOut} */
  async requireNotLocked({ key }: LockoutKey): Promise<void> {
    const counter = this.enabled ? await this.#store.get<Counter>(key) : undefined
    if (counter?.lockedUntil !== undefined) throw new LockedOut(this.#secondsLeft(counter.lockedUntil))
  }

  /**
   * The wall-clock end of a present lock. For display only, not for decisions: it is unknown while the store is unreachable.
   */
  async lockedUntil({ key }: LockoutKey): Promise<Milliseconds | undefined> {
    try {
      return (await this.#store.get<Counter>(key))?.lockedUntil
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined
      throw error
    }
  }

  /**
   * The locks of users, by passwords and by codes, those that end last first. `unlocks` is compared with the user's row to skip locks
   * that have been lifted.
   */
  async lockedUsers(): Promise<readonly LockedUser[]> {
    const found: LockedUser[] = []
    for await (const [key, { failures, lockedUntil }] of this.#store.scan<Counter>(USERS_PREFIX)) {
      if (lockedUntil === undefined) continue
      const [userId = '', unlocks] = key.slice(key.indexOf(':', USERS_PREFIX.length) + 1).split(':')
      const of = key.startsWith(USER_PREFIX) ? 'passwords' : 'codes'
      found.push({ userId, of, unlocks: Number(unlocks), failures, until: lockedUntil })
    }
    return found.sort((a, b) => b.until - a.until)
  }

  async #isLocked(key: string): Promise<boolean> {
    return (await this.#store.get<Counter>(key))?.lockedUntil !== undefined
  }

  async #reserve(key: string, id: string): Promise<void> {
    for (;;) {
      let reserved = false
      const counter = await this.#store.update<Counter>(key, old => {
        const { failures, lockedUntil } = old ?? { failures: 0 }
        const pending = this.#live(old)
        reserved = lockedUntil === undefined && failures + pending.length < this.#options.maxAttempts
        if (!reserved) return old && { value: old }
        const reservation = { id, until: this.#system.now() + RESERVATION_TTL }
        return { value: { failures, pending: [...pending, reservation] }, ttl: this.#memory() }
      })
      if (reserved) return
      if (counter?.lockedUntil !== undefined) throw new LockedOut(this.#secondsLeft(counter.lockedUntil))
      await this.#outcomeOfOthers(key)
    }
  }

  async #settle(key: string, reservation: string, outcome: 'right' | 'wrong' | 'unknown'): Promise<void> {
    await this.#store.update<Counter>(key, old => {
      // No entry: its lock has expired, or the store has been emptied.
      const { failures, lockedUntil } = old ?? { failures: 0 }
      const pending = this.#live(old).filter(({ id }) => id !== reservation)
      if (lockedUntil !== undefined) return { value: { failures, pending, lockedUntil } }
      const counted = outcome === 'right' ? 0 : failures + (outcome === 'wrong' ? 1 : 0)
      if (counted >= this.#options.maxAttempts) {
        const until = this.#system.now() + this.#options.duration
        return { value: { failures: counted, pending, lockedUntil: until }, ttl: this.#options.duration }
      }
      return counted + pending.length === 0 ? undefined : { value: { failures: counted, pending }, ttl: this.#memory() }
    })
    for (const wake of this.#waiting.get(key) ?? []) wake()
  }

  #abandon(key: string, id: string): void {
    // Beyond this number, reservations expire by themselves.
    if (this.#abandoned.size < MAX_WAITING) this.#abandoned.set(id, key)
    this.#releaseLater()
  }

  #releaseLater(): void {
    if (this.#willRelease) return
    this.#willRelease = true
    setTimeout(() => void this.#releaseAbandoned(), RELEASE_PAUSE).unref()
  }

  async #releaseAbandoned(): Promise<void> {
    this.#willRelease = false
    for (const [id, key] of this.#abandoned) {
      const isAway = await this.#settle(key, id, 'unknown').then(
        () => false,
        () => true,
      )
      if (isAway) return this.#releaseLater()
      this.#abandoned.delete(id)
    }
  }

  #live(counter: Counter | undefined): readonly Reservation[] {
    const now = this.#system.now()
    return counter?.pending.filter(({ until }) => until > now) ?? []
  }

  async #outcomeOfOthers(key: string): Promise<void> {
    const waiting = this.#waiting.get(key) ?? new Set()
    if (waiting.size >= MAX_WAITING)
      throw new Overloaded(`This user has ${MAX_WAITING} sign-ins in progress. Try again in 1 second.`)
    this.#waiting.set(key, waiting)
    await new Promise<void>(resolve => {
      const timer = setTimeout(() => wake(), POLL_INTERVAL)
      const wake = (): void => {
        clearTimeout(timer)
        waiting.delete(wake)
        if (waiting.size === 0) this.#waiting.delete(key)
        resolve()
      }
      waiting.add(wake)
    })
  }

  #memory(): Milliseconds {
    return Math.max(MEMORY, this.#options.duration)
  }

  /** At least 1 and at most the whole lock duration, even if the wall clock has been changed. */
  #secondsLeft(until: Milliseconds): Seconds {
    const left = Math.min(until - this.#system.now(), this.#options.duration)
    return Math.max(1, Math.ceil(left / 1000))
  }
}
