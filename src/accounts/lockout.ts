import { createHash } from 'node:crypto'
import { LockedOut, Overloaded, StoreUnavailable } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import { type Milliseconds, type Seconds, UNLIMITED } from '../base/units.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'

export interface LockoutOptions {
  /** The wrong password in a row that locks; -1: never. */
  readonly maxAttempts: number
  readonly duration: Milliseconds
}

/** Whose wrong passwords are counted together: a user, one of his devices, or a name that nobody has. */
export interface Counted {
  readonly key: string
}

export const countedUser = (user: { readonly id: string; readonly unlocks: number }): Counted => ({
  key: `${USER_PREFIX}${user.id}:${user.unlocks}`,
})

export const countedDevice = (user: { readonly id: string; readonly unlocks: number }, digest: string): Counted => ({
  key: `lockout:device:${user.id}:${user.unlocks}:${digest}`,
})

/** The name itself is not kept: people type their password into the wrong field. */
export const countedName = (name: string): Counted => ({
  key: `${UNKNOWN_NAME_PREFIX}${createHash('sha256').update(name).digest('base64url')}`,
})

const USER_PREFIX = 'lockout:user:'
/** Strangers can cause any number of these, so whoever makes the store bounds them. */
export const UNKNOWN_NAME_PREFIX = 'lockout:name:'

interface Counter {
  readonly failures: number
  /** Attempts that are being checked right now; each may turn out to be a failure. */
  readonly pending: readonly Reservation[]
  /** Wall clock, to tell how long it still lasts; the end itself is the end of the entry's life. */
  readonly lockedUntil?: Milliseconds
}

/** Runs out by itself: the node may end, or lose the store, before it can say how the attempt went. */
interface Reservation {
  readonly id: string
  readonly until: Milliseconds
}

/** Longer than a check waits and takes. */
const RESERVATION_TTL: Milliseconds = 60_000
/** Failures that did not lead to a lockout are forgotten after a day without another one. */
const MEMORY: Milliseconds = 86_400_000
/** Somebody who waits for others' attempts looks again after so long, in case they were made on another node. */
const LOOK_AGAIN: Milliseconds = 50
const MAX_WAITING = 500
/** How long after losing the store its reservations are looked for again. */
const RELEASE_PAUSE: Milliseconds = 1000

/**
 * Temporary lockout (interface 3.2, 5.9; D6). An attempt is reserved before its password is checked, so that parallel
 * guesses cannot all slip in under the limit: failures and attempts in progress together never exceed it. Who comes when
 * the limit is in use waits for the others' outcome rather than being refused, for they may all be right.
 */
export class Lockout {
  readonly #store: EphemeralStore
  readonly #system: System
  readonly #options: LockoutOptions
  readonly #waiting = new Map<string, Set<() => void>>()
  /** Reservations that the store may hold although it was lost before it said so, each with the key it is under. */
  readonly #abandoned = new Map<string, string>()
  #willRelease = false

  constructor(store: EphemeralStore, system: System, options: LockoutOptions) {
    this.#store = store
    this.#system = system
    this.#options = options
  }

  get enabled(): boolean {
    return this.#options.maxAttempts !== UNLIMITED
  }

  /**
   * Checks a password unless the limit has been reached; a wrong one counts, a right one clears the count, a check that
   * rejects leaves it. `locked` tells whether this very failure brought the lock.
   * @throws {LockedOut} without checking (D6.1)
   */
  async attempt({ key }: Counted, check: () => Promise<boolean>): Promise<{ right: boolean; locked: boolean }> {
    if (!this.enabled) return { right: await check(), locked: false }
    const id = Buffer.from(this.#system.randomBytes(9)).toString('base64url')
    let outcome: 'right' | 'wrong' | 'unknown' = 'unknown'
    try {
      await this.#reserve(key, id)
      try {
        outcome = (await check()) ? 'right' : 'wrong'
      } finally {
        // Also when the check rejects: a reservation that stayed would count against the user for a while.
        await this.#settle(key, id, outcome)
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#abandon(key, id)
      throw error
    }
    return { right: outcome === 'right', locked: outcome === 'wrong' && (await this.#isLocked(key)) }
  }

  /** @throws {LockedOut} */
  async requireNotLocked({ key }: Counted): Promise<void> {
    const counter = this.enabled ? await this.#store.get<Counter>(key) : undefined
    if (counter?.lockedUntil !== undefined) throw new LockedOut(this.#secondsLeft(counter.lockedUntil))
  }

  /** When a present lock ends, wall clock. To be shown, not to be judged by: unknown while the store is out of reach. */
  async lockedUntil({ key }: Counted): Promise<Milliseconds | undefined> {
    const counter = await this.#store.get<Counter>(key).catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return undefined
      throw error
    })
    return counter?.lockedUntil
  }

  /** Users who are locked out now; the counts of `unlocks` tell whether the lock has been lifted since. */
  async *lockedUsers(): AsyncGenerator<{ userId: string; unlocks: number; failures: number; until: Milliseconds }> {
    for await (const [key, { failures, lockedUntil }] of this.#store.scan<Counter>(USER_PREFIX)) {
      if (lockedUntil === undefined) continue
      const [userId = '', unlocks] = key.slice(USER_PREFIX.length).split(':')
      yield { userId, unlocks: Number(unlocks), failures, until: lockedUntil }
    }
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
      // Gone: the lock it had has run out meanwhile, or the store has been emptied.
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
    // Of too many the rest runs out by itself.
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
    if (waiting.size >= MAX_WAITING) throw new Overloaded('Too many logins of one user at once.')
    this.#waiting.set(key, waiting)
    await new Promise<void>(resolve => {
      const timer = setTimeout(() => wake(), LOOK_AGAIN)
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

  /** At least 1, and never more than the whole lock, whatever the wall clock has done meanwhile. */
  #secondsLeft(until: Milliseconds): Seconds {
    const left = Math.min(until - this.#system.now(), this.#options.duration)
    return Math.max(1, Math.ceil(left / 1000))
  }
}
