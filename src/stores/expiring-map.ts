import type { Milliseconds } from '../base/units.ts'

interface Entry {
  value: unknown
  expires: Milliseconds
}

/** How long an entry is kept, counted from `now`. */
export interface Lifetime {
  readonly now: Milliseconds
  readonly ttl: Milliseconds
}

/**
 * Values that expire. Nothing here takes time in proportion to the number of entries: each insertion looks at two old
 * entries and clears them away if they have expired, so that at most about as many dead ones as live ones lie around.
 */
export class ExpiringMap {
  readonly #most: number
  readonly #entries = new Map<string, Entry>()
  /** Goes round and round; a Map's iterator stays good while entries come and go. */
  #sweeper = this.#entries.entries()
  /** Kept between evictions: a new iterator would step over all that were deleted before, again and again. */
  #oldest: Iterator<string> | undefined
  #sinceEviction = 0

  /** With more than `most` entries, the one inserted first goes. */
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

  /** What is left of a live entry's time; none without one. */
  remaining(key: string, now: Milliseconds): Milliseconds {
    return Math.max(0, (this.#entries.get(key)?.expires ?? now) - now)
  }

  /** Replaces a live value in its place; a key that had expired counts as inserted now. */
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
    // An iterator that rests keeps every table alive that the Map has outgrown since.
    else if (++this.#sinceEviction > this.#most) this.#oldest = undefined
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  /** Looks at the next `count` entries, and deletes those that have expired. */
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

  /** Every key that the iterator gives is deleted at once, so that its next one is the oldest. */
  #evict(): void {
    this.#sinceEviction = 0
    this.#oldest ??= this.#entries.keys()
    const step = this.#oldest.next()
    if (step.done) this.#oldest = undefined
    else this.#entries.delete(step.value)
  }
}
