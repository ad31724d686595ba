import { setImmediate } from 'node:timers/promises'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { CachedValue, Capacity, EphemeralStore } from './ephemeral-store.ts'

export interface MemoryEphemeralStoreOptions {
  /** Limits for data that strangers can create in any number. The first matching prefix applies. */
  readonly capacity?: readonly Capacity[]
  /** How often expired entries are deleted; 10 s by default. */
  readonly sweepInterval?: Milliseconds
}

interface Entry {
  value: unknown
  expires: Milliseconds
}

/** The entries whose keys begin with one prefix, in the order in which they were added. */
interface Kind extends Capacity {
  readonly entries: Map<string, Entry>
  /** Kept between evictions, because a new iterator would step over all deleted entries again. */
  oldest: Iterator<string> | undefined
}

/** Entries read at once, in well under a millisecond. */
const SLICE = 5000

/**
 * Keeps data in this process. Every operation is synchronous, which makes it atomic. An expired entry is invisible at once; a timer frees
 * its memory.
 */
export class MemoryEphemeralStore implements EphemeralStore {
  readonly #system: System
  readonly #sweepInterval: Milliseconds
  readonly #kinds: readonly Kind[]
  #timer: NodeJS.Timeout | undefined

  constructor(system: System, { capacity = [], sweepInterval = 10_000 }: MemoryEphemeralStoreOptions = {}) {
    this.#system = system
    this.#sweepInterval = sweepInterval
    const others = { prefix: '', max: Number.POSITIVE_INFINITY }
    this.#kinds = [...capacity, others].map(limit => ({ ...limit, entries: new Map(), oldest: undefined }))
  }

  /** Number of entries in memory, including expired ones that have not been deleted yet. */
  get size(): number {
    return this.#kinds.reduce((sum, { entries }) => sum + entries.size, 0)
  }

  async get<T>(key: string): Promise<T | undefined> {
    return this.#find(key)?.value as T | undefined
  }

  async add(key: string, value: unknown, ttl: Milliseconds): Promise<boolean> {
    if (this.#find(key)) return false
    this.#insert(key, { value, expires: this.#now() + ttl })
    return true
  }

  async update<T>(key: string, change: (old: T | undefined) => CachedValue<T> | undefined): Promise<T | undefined> {
    const entry = this.#find(key)
    const changed = change(entry?.value as T | undefined)
    if (!changed) {
      this.#kindOf(key).entries.delete(key)
      return undefined
    }
    const { value, ttl } = changed
    const expires = ttl === undefined ? (entry?.expires ?? 0) : this.#now() + ttl
    if (entry) Object.assign(entry, { value, expires })
    else this.#insert(key, { value, expires })
    return value
  }

  async take<T>(key: string): Promise<T | undefined> {
    const entry = this.#find(key)
    this.#kindOf(key).entries.delete(key)
    return entry?.value as T | undefined
  }

  async *scan<T>(prefix: string): AsyncIterable<readonly [key: string, value: T]> {
    let seen = 0
    for (const { entries } of this.#kinds) {
      for (const [key, { value, expires }] of entries) {
        // The caller may pause between two entries, so the time is read for each matching one.
        if (key.startsWith(prefix) && expires > this.#now()) yield [key, value as T]
        if (++seen % SLICE === 0) await setImmediate()
      }
    }
  }

  async count(prefix: string): Promise<number> {
    let live = 0
    for await (const _ of this.scan(prefix)) live++
    return live
  }

  /** Deletes everything. */
  async close(): Promise<void> {
    for (const { entries } of this.#kinds) entries.clear()
    this.#sweep()
  }

  /** Whole milliseconds, because a small integer needs no separate memory. */
  #now(): Milliseconds {
    return Math.floor(this.#system.monotonic())
  }

  #kindOf(key: string): Kind {
    const kind = this.#kinds.find(({ prefix }) => key.startsWith(prefix))
    if (!kind) throw new TypeError('every key begins with an empty text')
    return kind
  }

  /** The live entry of the key. */
  #find(key: string): Entry | undefined {
    const entry = this.#kindOf(key).entries.get(key)
    return entry && entry.expires > this.#now() ? entry : undefined
  }

  /** Adds an entry as the youngest of its kind. An empty store has no timer. */
  #insert(key: string, entry: Entry): void {
    const kind = this.#kindOf(key)
    const { entries, max } = kind
    entries.delete(key)
    entries.set(key, entry)
    if (entries.size > max) {
      kind.oldest ??= entries.keys()
      entries.delete(kind.oldest.next().value as string)
    }
    this.#timer ??= setInterval(() => this.#sweep(), this.#sweepInterval).unref()
  }

  #sweep(): void {
    const now = this.#now()
    for (const kind of this.#kinds) {
      for (const [key, { expires }] of kind.entries) if (expires <= now) kind.entries.delete(key)
      // An idle iterator keeps every table alive that the Map has outgrown since.
      kind.oldest = undefined
    }
    if (this.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
