import { LRUCache } from 'lru-cache'
import type { Bytes } from '../base/units.ts'
import { changesSince } from './change-log.ts'
import type { Database } from './database.ts'

/** A value to cache, and what it was derived from. */
export interface Cacheable<T> {
  readonly value: T
  /** The value is dropped when one of these changes; see `change-log.ts` for their form. */
  readonly subjects: readonly string[]
  /** Approximate memory of the value. */
  readonly bytes: Bytes
}

interface Kept {
  readonly value: unknown
  readonly subjects: readonly string[]
  readonly bytes: Bytes
}

/** Memory of one cache entry besides its value. */
const OVERHEAD: Bytes = 500

/**
 * Caches values derived from rows, each until one of its rows changes, in any thread or process. One instance caches all
 * kinds of values, so that they share one memory limit. If the engine cannot report that nothing has changed (PostgreSQL, a
 * database in memory), nothing is cached.
 */
export class DependencyCache {
  readonly #database: Database
  readonly #values: LRUCache<string, Kept>
  readonly #dependents = new Map<string, Set<string>>()
  /** The revision of the database up to which the change log has been read. */
  #revision: number | undefined
  /** The number of the latest processed change. */
  #position: number | undefined
  #reading: Promise<void> | undefined

  constructor(database: Database, maxBytes: Bytes) {
    this.#database = database
    this.#values = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length + OVERHEAD,
      dispose: ({ subjects }, key) => this.#unlink(subjects, key),
    })
  }

  /** Number of cached values, and their approximate memory. */
  get load(): { readonly values: number; readonly bytes: Bytes } {
    return { values: this.#values.size, bytes: this.#values.calculatedSize }
  }

  /**
   * Returns the cached value of the key, or calls `load` and caches its result. `undefined` is not cached. Changes committed
   * before the call are respected. @param key begins with the kind of value, so that kinds do not collide
   */
  async get<T>(key: string, load: () => Promise<Cacheable<T> | undefined>): Promise<T | undefined> {
    const { revision } = this.#database
    if (revision === undefined) return (await load())?.value
    if (revision !== this.#revision) await this.#catchUp()
    const kept = this.#values.get(key)
    if (kept) return kept.value as T
    const position = this.#position
    const loaded = await load()
    // A row may have changed while the value was loaded, and the log may have been read since: then the value is only used
    // for this call.
    if (loaded && position === this.#position) this.#keep(key, loaded)
    return loaded?.value
  }

  /** Reads the change log; concurrent callers share one read. */
  async #catchUp(): Promise<void> {
    while (this.#database.revision !== this.#revision) {
      this.#reading ??= this.#readLog().finally(() => (this.#reading = undefined))
      await this.#reading
    }
  }

  async #readLog(): Promise<void> {
    // Read first, so that a later commit changes the revision again.
    const { revision } = this.#database
    const { latest, subjects } = await changesSince(this.#database, this.#position)
    if (subjects === undefined) this.#values.clear()
    else for (const subject of subjects) this.#drop(subject)
    this.#position = latest
    this.#revision = revision
  }

  #keep(key: string, { value, subjects, bytes }: Kept): void {
    this.#values.set(key, { value, subjects, bytes })
    // The value was too large to cache.
    if (!this.#values.has(key)) return
    for (const subject of subjects) {
      const keys = this.#dependents.get(subject)
      if (keys) keys.add(key)
      else this.#dependents.set(subject, new Set([key]))
    }
  }

  #drop(subject: string): void {
    for (const key of this.#dependents.get(subject) ?? []) this.#values.delete(key)
  }

  #unlink(subjects: readonly string[], key: string): void {
    for (const subject of subjects) {
      const keys = this.#dependents.get(subject)
      keys?.delete(key)
      if (keys?.size === 0) this.#dependents.delete(subject)
    }
  }
}
