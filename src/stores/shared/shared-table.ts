import { Overloaded } from '../../base/errors.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import type { SharedMemory } from './shared-memory.ts'
import {
  type HashedKey,
  RECORD_BYTES,
  type SharedEntry,
  type SharedRecord,
  SharedStripe,
  STRIPE_WORDS,
} from './shared-stripe.ts'
import { MAX_SIZE } from './size-class.ts'

/** With this many stripes threads rarely wait for each other. */
export const STRIPES = 64
const MAX_KEY_BYTES: Bytes = 4096
/** Number of records read under one lock. */
const SLICE = 200

/** The conditions of a write. */
export interface Write {
  readonly now: Milliseconds
  readonly expires: Milliseconds
  /** The version of the live record that was read before; `undefined` when there was none. */
  readonly expected: number | undefined
}

/** A map from text to text in memory that all threads share. Each method is atomic. */
export class SharedTable {
  readonly #memory: SharedMemory
  readonly #stripes: readonly SharedStripe[]
  readonly #max: number
  readonly #scratch = Buffer.alloc(MAX_KEY_BYTES)

  /**
   * @param at the first of the words for the table, {@link tableWords} of them
   * @param max maximum number of keys; beyond it the one inserted first is dropped. With a maximum the table has one stripe,
   * because the oldest record is only known within a stripe
   */
  constructor(memory: SharedMemory, at: number, max = Number.POSITIVE_INFINITY) {
    this.#memory = memory
    this.#max = max
    this.#stripes = Array.from(
      { length: stripes(max) },
      (_, index) => new SharedStripe(memory, at + index * STRIPE_WORDS),
    )
  }

  /** Records held, expired ones included. */
  get size(): number {
    return this.#stripes.reduce((sum, stripe) => sum + stripe.count, 0)
  }

  /** @param known a version whose text the caller has: a record that is still in it is returned without its text */
  read(key: string, now: Milliseconds, known?: number): SharedEntry | undefined {
    const hashed = this.#hash(key)
    return this.#locked(this.#stripeOf(hashed), stripe => {
      const record = stripe.find(hashed, known)
      return record !== 0 && stripe.expires(record) > now ? stripe.read(record, known) : undefined
    })
  }

  /**
   * Returns false and changes nothing when the record is not in the expected version. @throws {Overloaded} when the memory
   * is full
   */
  write(key: string, text: string, { now, expires, expected }: Write): boolean {
    const hashed = this.#hash(key)
    if (RECORD_BYTES + hashed.length + Buffer.byteLength(text) > MAX_SIZE)
      throw new Overloaded('Too many records have the same key.')
    return this.#locked(this.#stripeOf(hashed), stripe => {
      const record = stripe.find(hashed)
      const live = record !== 0 && stripe.expires(record) > now ? record : 0
      if ((live === 0 ? undefined : stripe.version(live)) !== expected) return false
      if (live !== 0) stripe.replace(live, hashed, text, expires)
      else this.#insert(stripe, record, hashed, { text, expires, now })
      return true
    })
  }

  /** Deletes the record. Returns false and changes nothing when a live record is not in the expected version. */
  remove(key: string, now: Milliseconds, expected: number | undefined): boolean {
    const hashed = this.#hash(key)
    return this.#locked(this.#stripeOf(hashed), stripe => {
      const record = stripe.find(hashed)
      if (record === 0) return expected === undefined
      if (stripe.expires(record) > now && stripe.version(record) !== expected) return false
      stripe.delete(record)
      return true
    })
  }

  /** Records in portions, oldest first within a stripe; other threads may change the table meanwhile. */
  *slices(): Generator<readonly SharedRecord[]> {
    for (const stripe of this.#stripes) {
      let last: SharedRecord | undefined
      do {
        const slice = this.#locked(stripe, () => stripe.after(last, SLICE))
        if (slice.length > 0) yield slice
        last = slice.at(-1)
      } while (last)
    }
  }

  /** Checks about `count` records and deletes those that have expired. */
  sweep(count: number, now: Milliseconds): void {
    const each = Math.ceil(count / this.#stripes.length)
    for (const stripe of this.#stripes) {
      for (let left = Math.min(each, stripe.count); left > 0; left -= SLICE) {
        this.#locked(stripe, () => stripe.sweep(Math.min(left, SLICE), now))
      }
    }
  }

  #insert(
    stripe: SharedStripe,
    expired: number,
    key: HashedKey,
    { text, expires, now }: { readonly text: string; readonly expires: Milliseconds; readonly now: Milliseconds },
  ): void {
    // An expired key that is written again counts as inserted now.
    if (expired !== 0) stripe.delete(expired)
    stripe.insert(key, text, expires)
    stripe.sweep(2, now)
    if (stripe.count > this.#max) stripe.deleteOldest()
  }

  #locked<T>(stripe: SharedStripe, work: (stripe: SharedStripe) => T): T {
    this.#memory.lock(stripe.lockAt)
    try {
      return work(stripe)
    } finally {
      this.#memory.unlock(stripe.lockAt)
    }
  }

  #stripeOf({ hash }: HashedKey): SharedStripe {
    // The low bits choose the bucket.
    return this.#stripes[(hash >>> 16) % this.#stripes.length] as SharedStripe
  }

  /** FNV-1a with a final mixing step. Keys contain random or hashed parts, so no client can choose keys that collide. */
  #hash(key: string): HashedKey {
    const bytes = this.#scratch
    const length = bytes.write(key, 'utf8')
    if (length > MAX_KEY_BYTES - 4) throw new RangeError('the key is too long')
    let hash = 0x811c9dc5
    for (let at = 0; at < length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    return { bytes, length, hash: hash ^ (hash >>> 13) }
  }
}

const stripes = (max: number): number => (Number.isFinite(max) ? 1 : STRIPES)

/** Number of words of a table with this maximum. */
export const tableWords = (max = Number.POSITIVE_INFINITY): number => stripes(max) * STRIPE_WORDS
