import type { Milliseconds } from '../base/units.ts'

interface Entry {
  value: unknown
  expires: Milliseconds
}

/** The lifetime of an entry, from `now` on. */
export interface Lifetime {
  readonly now: Milliseconds
  readonly ttl: Milliseconds
}

/**
 * A map whose values expire. No operation takes time in proportion to the number of entries: each insertion checks two old
 * entries and deletes them if they have expired, so that there are about as many expired entries as live ones at most.
 */
export class ExpiringMap {
  readonly #most: number
  readonly #entries = new Map<string, Entry>()
  /** Iterates in circles; a Map's iterator stays valid while entries are added and removed. */
  #sweeper = this.#entries.entries()
  /** Kept between evictions, because a new iterator would step over all deleted entries again. */
  #oldest: Iterator<string> | undefined
  #sinceEviction = 0

  /** With more than `most` entries, the one inserted first is dropped. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most
  }

  /** Entries held, expired ones included. */
  get size(): number {
    return this.#entries.size
  }

  has(key: string, now: Milliseconds): boolean {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.expires > now
  }

  get(key: string, now: Milliseconds): unknown {
    const entry = this.#entries.get(key)
    return entry && entry.expires > now ? entry.value : undefined
  }

  /** The remaining lifetime of a live entry; `undefined` if there is none. */
  remaining(key: string, now: Milliseconds): Milliseconds {
    return Math.max(0, (this.#entries.get(key)?.expires ?? now) - now)
  }

  /** Replaces a live value without changing its position; an expired key counts as inserted now. */
  set(key: string, value: unknown, { now, ttl }: Lifetime): void {
    const expires = now + ttl
    const old = this.#entries.get(key)
    if (old && old.expires > now) {
      old.value = value
      old.expires = expires
      return
    }
    if (old) this.#entries.delete(key)
    this.#entries.set(key, { value, expires })
    this.sweep(2, now)
    if (this.#entries.size > this.#most) this.#evict()
    // An idle iterator keeps every table alive that the Map has outgrown since.
    else if (++this.#sinceEviction > this.#most) this.#oldest = undefined
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  /** Checks the next `count` entries, and deletes those that have expired. */
  sweep(count: number, now: Milliseconds): void {
    for (let seen = 0; seen < count; seen++) {
      const step = this.#sweeper.next()
      if (step.done) {
        this.#sweeper = this.#entries.entries()
        return
      }
      const [key, entry] = step.value
      if (entry.expires <= now) this.#entries.delete(key)
    }
  }

  [Symbol.iterator](): Iterator<[string, Entry]> {
    return this.#entries.entries()
  }

  /** Every key that the iterator returns is deleted at once, so that the next one is the oldest. */
  #evict(): void {
    this.#sinceEviction = 0
    this.#oldest ??= this.#entries.keys()
    const step = this.#oldest.next()
    if (step.done) this.#oldest = undefined
    else this.#entries.delete(step.value)
  }
}
