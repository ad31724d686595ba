import { setImmediate } from 'node:timers/promises'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Capacity, EphemeralStore, Kept } from './ephemeral-store.ts'

export interface MemoryEphemeralStoreOptions {
  /** Limits for data that strangers can create in any number. The first matching prefix counts. */
  readonly capacity?: readonly Capacity[]
  /** How often a part of the entries is checked for expired ones; 100 ms by default. */
  readonly sweepInterval?: Milliseconds
}

/** How many entries are checked at once: well under a millisecond. */
const SLICE = 5000

/**
 * Keeps data in this process. Every operation is synchronous, which makes it atomic. An expired entry is invisible at once;
 * later insertions and a timer free its memory, a part at a time.
 */
export class MemoryEphemeralStore implements EphemeralStore {
  readonly #system: System
  readonly #sweepInterval: Milliseconds
  readonly #limited: ReadonlyArray<{ readonly prefix: string; readonly entries: ExpiringMap }>
  readonly #others = new ExpiringMap()
  #timer: NodeJS.Timeout | undefined

  constructor(system: System, options: MemoryEphemeralStoreOptions = {}) {
    this.#system = system
    this.#sweepInterval = options.sweepInterval ?? 100
    this.#limited = (options.capacity ?? []).map(({ prefix, max }) => ({ prefix, entries: new ExpiringMap(max) }))
  }

  /** Number of entries in memory, including expired ones that have not been deleted yet. */
  get size(): number {
    return this.#maps().reduce((sum, entries) => sum + entries.size, 0)
  }

  async get<T>(key: string): Promise<T | undefined> {
    return this.#map(key).get(key, this.#now()) as T | undefined
  }

  async add(key: string, value: unknown, ttl: Milliseconds): Promise<boolean> {
    const entries = this.#map(key)
    const now = this.#now()
    if (entries.has(key, now)) return false
    entries.set(key, value, { now, ttl })
    this.#sweepLater()
    return true
  }

  async update<T>(key: string, change: (old: T | undefined) => Kept<T> | undefined): Promise<T | undefined> {
    const entries = this.#map(key)
    const now = this.#now()
    const kept = change(entries.get(key, now) as T | undefined)
    if (!kept) {
      entries.delete(key)
      return undefined
    }
    entries.set(key, kept.value, { now, ttl: kept.ttl ?? entries.remaining(key, now) })
    this.#sweepLater()
    return kept.value
  }

  async take<T>(key: string): Promise<T | undefined> {
    const entries = this.#map(key)
    const value = entries.get(key, this.#now())
    entries.delete(key)
    return value as T | undefined
  }

  async *scan<T>(prefix: string): AsyncIterable<readonly [key: string, value: T]> {
    let seen = 0
    for (const entries of this.#maps()) {
      for (const [key, entry] of entries) {
        // The caller may pause between two entries, so the time is read for each matching one.
        if (key.startsWith(prefix) && entry.expires > this.#now()) yield [key, entry.value as T]
        if (++seen % SLICE === 0) await setImmediate()
      }
    }
  }

  async count(prefix: string): Promise<number> {
    let [live, seen] = [0, 0]
    for (const entries of this.#maps()) {
      for (const [key, { expires }] of entries) {
        if (expires > this.#now() && key.startsWith(prefix)) live++
        if (++seen % SLICE === 0) await setImmediate()
      }
    }
    return live
  }

  /** Deletes everything. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const entries of this.#maps()) entries.clear()
  }

  /** Whole milliseconds, because a small integer needs no separate memory. */
  #now(): Milliseconds {
    return Math.floor(this.#system.monotonic())
  }

  #map(key: string): ExpiringMap {
    return this.#limited.find(({ prefix }) => key.startsWith(prefix))?.entries ?? this.#others
  }

  #maps(): ExpiringMap[] {
    return [this.#others, ...this.#limited.map(({ entries }) => entries)]
  }

  /** An empty store has no timer. */
  #sweepLater(): void {
    this.#timer ??= setInterval(() => {
      const now = this.#now()
      for (const entries of this.#maps()) entries.sweep(SLICE, now)
      if (this.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }, this.#sweepInterval).unref()
  }
}

interface Entry {
  value: unknown
  expires: Milliseconds
}

/** The lifetime of an entry, from `now` on. */
interface Lifetime {
  readonly now: Milliseconds
  readonly ttl: Milliseconds
}

/**
 * A map whose values expire. No operation takes time in proportion to the number of entries: each insertion checks two old
 * entries and deletes them if they have expired, so that there are about as many expired entries as live ones at most.
 */
class ExpiringMap {
  readonly #max: number
  readonly #entries = new Map<string, Entry>()
  /** Iterates in circles; a Map's iterator stays valid while entries are added and removed. */
  #sweeper = this.#entries.entries()
  /** Kept between evictions, because a new iterator would step over all deleted entries again. */
  #oldest: Iterator<string> | undefined
  #sinceEviction = 0

  /** With more than `most` entries, the one inserted first is dropped. */
  constructor(max = Number.POSITIVE_INFINITY) {
    this.#max = max
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
    if (this.#entries.size > this.#max) this.#evict()
    // An idle iterator keeps every table alive that the Map has outgrown since.
    else if (++this.#sinceEviction > this.#max) this.#oldest = undefined
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
