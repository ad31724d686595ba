import { LRUCache } from 'lru-cache'
import { setImmediate } from 'node:timers/promises'
import type { Awaitable } from '../../base/awaitable.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Capacity, EphemeralStore, Kept } from '../ephemeral-store.ts'
import { SharedMemory } from './shared-memory.ts'
import { SharedTable, tableWords } from './shared-table.ts'

export interface SharedEphemeralStoreOptions {
  /** Limits for data that strangers can create in any number; the same for all threads. The first matching prefix counts. */
  readonly capacity?: readonly Capacity[]
  /** How often a part of the records is checked for expired ones; 100 ms by default. */
  readonly sweepInterval?: Milliseconds
  /** The memory of the store, if another thread created it. */
  readonly shared?: SharedArrayBuffer | undefined
}

/** So many values that are read repeatedly stay with each thread. */
const KEPT = 1000
/** Longer texts are not kept: strangers can cause some, and each thread would hold a thousand. */
const MAX_LENGTH = 2000
/** So many keys are remembered to see which are read repeatedly; each in the place that its version chooses. */
const SEEN = 1024
/** Records that one run of the timer checks: about a millisecond. */
const SWEEP = 5000

/**
 * Data shared by all threads of this process: what one thread writes, every other thread reads from then on. Values are
 * stored as JSON. A change is computed outside the lock and written only if the value has not changed meanwhile.
 */
export class SharedEphemeralStore implements EphemeralStore {
  readonly #system: Pick<System, 'monotonic'>
  readonly #sweepInterval: Milliseconds
  readonly #memory: SharedMemory
  readonly #others: SharedTable
  /** What this thread reads again and again. */
  readonly #parsed = new LRUCache<string, { readonly version: number; readonly value: unknown }>({ max: KEPT })
  /** Keys that were read once. */
  readonly #seen: string[] = Array.from({ length: SEEN }, () => '')
  readonly #limited: ReadonlyArray<{ readonly prefix: string; readonly table: SharedTable }>
  #timer: NodeJS.Timeout | undefined

  /** @param system its monotonic clock is the same for all threads */
  constructor(system: Pick<System, 'monotonic'>, options: SharedEphemeralStoreOptions = {}) {
    this.#system = system
    this.#sweepInterval = options.sweepInterval ?? 100
    const capacity = options.capacity ?? []
    const words = tableWords() + capacity.reduce((sum, { max }) => sum + tableWords(max), 0)
    this.#memory = new SharedMemory(options.shared)
    // The first allocation, made by the thread that creates the memory.
    let at = options.shared ? SharedMemory.first : this.#memory.allocate(words)
    this.#others = new SharedTable(this.#memory, at)
    at += tableWords()
    this.#limited = capacity.map(({ prefix, max }) => {
      const table = new SharedTable(this.#memory, at, max)
      at += tableWords(max)
      return { prefix, table }
    })
  }

  /** The memory, for the same store in other threads. */
  get shared(): SharedArrayBuffer {
    return this.#memory.shared
  }

  /** How often a thread had to sleep because another one held a lock. */
  get sleeps(): number {
    return this.#memory.sleeps
  }

  /** Number of records in memory, including expired ones that have not been deleted yet. */
  get size(): number {
    return this.#tables().reduce((sum, table) => sum + table.size, 0)
  }

  /** A reader may get the same object as the one before, if that was in this thread. */
  get<T>(key: string): Awaitable<T | undefined> {
    const known = this.#parsed.get(key)
    const entry = this.#table(key).read(key, this.#now(), known?.version)
    if (entry && entry.version === known?.version) return known.value as T
    if (known) this.#parsed.delete(key)
    if (!entry) return undefined
    const value = JSON.parse(entry.text) as T
    if (entry.text.length <= MAX_LENGTH) this.#keepRepeated(key, entry.version, value)
    return value
  }

  /**
   * Keeps a value that is read for the second time. Keeping each one would cost more than it saves where many are read in turn: a kept
   * object outlives its request and has to be collected from old memory.
   */
  #keepRepeated(key: string, version: number, value: unknown): void {
    const place = (version * 31 + key.charCodeAt(key.length - 1)) % SEEN
    if (this.#seen[place] === key) this.#parsed.set(key, { version, value })
    else this.#seen[place] = key
  }

  async add(key: string, value: unknown, ttl: Milliseconds): Promise<boolean> {
    const now = this.#now()
    const added = this.#table(key).write(key, JSON.stringify(value), { now, expires: now + ttl, expected: undefined })
    if (added) this.#sweepLater()
    return added
  }

  update<T>(key: string, change: (old: T | undefined) => Kept<T> | undefined): Awaitable<T | undefined> {
    const table = this.#table(key)
    for (;;) {
      const now = this.#now()
      const old = table.read(key, now)
      const expected = old?.version
      const kept = change(old && (JSON.parse(old.text) as T))
      if (!kept) {
        if (table.remove(key, now, expected)) return undefined
        continue
      }
      const expires = kept.ttl === undefined ? (old?.expires ?? now) : now + kept.ttl
      if (!table.write(key, JSON.stringify(kept.value), { now, expires, expected })) continue
      this.#sweepLater()
      return kept.value
    }
  }

  async updateAll<T>(keys: readonly string[], change: (key: string, old: T) => Kept<T>): Promise<void> {
    for (const key of keys) await this.update<T>(key, old => (old === undefined ? undefined : change(key, old)))
  }

  async take<T>(key: string): Promise<T | undefined> {
    const table = this.#table(key)
    for (;;) {
      const now = this.#now()
      const entry = table.read(key, now)
      if (!entry) return undefined
      if (table.remove(key, now, entry.version)) return JSON.parse(entry.text) as T
    }
  }

  async *scan<T>(prefix: string): AsyncIterable<readonly [key: string, value: T]> {
    for (const table of this.#tables()) {
      for (const slice of table.slices()) {
        for (const { key, text, expires } of slice) {
          // The caller may pause between two records, so the time is read for each matching one.
          if (key.startsWith(prefix) && expires > this.#now()) yield [key, JSON.parse(text) as T]
        }
        await setImmediate()
      }
    }
  }

  async count(prefix: string): Promise<number> {
    let live = 0
    for (const table of this.#tables()) {
      for (const slice of table.slices()) {
        const now = this.#now()
        for (const { key, expires } of slice) if (expires > now && key.startsWith(prefix)) live++
        await setImmediate()
      }
    }
    return live
  }

  /** The memory is freed when the last thread has ended. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #now(): Milliseconds {
    return this.#system.monotonic()
  }

  #table(key: string): SharedTable {
    for (const { prefix, table } of this.#limited) if (key.startsWith(prefix)) return table
    return this.#others
  }

  #tables(): SharedTable[] {
    return [this.#others, ...this.#limited.map(({ table }) => table)]
  }

  /** Each thread that has written since the store was empty checks for expired records. */
  #sweepLater(): void {
    this.#timer ??= setInterval(() => {
      for (const table of this.#tables()) table.sweep(SWEEP, this.#now())
      if (this.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }, this.#sweepInterval).unref()
  }
}
