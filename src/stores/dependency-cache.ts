import { LRUCache } from 'lru-cache'
import type { Bytes } from '../base/units.ts'
import { changesSince } from './change-log.ts'
import type { Database } from './database.ts'

/** A value to keep, and what it was made of. */
export interface Cacheable<T> {
  readonly value: T
  /** The value is dropped when one of these changes; see `change-log.ts` for their form. */
  readonly subjects: readonly string[]
  /** About how much memory the value takes. */
  readonly bytes: Bytes
}

interface Kept {
  readonly value: unknown
  readonly subjects: readonly string[]
  readonly bytes: Bytes
}

/** What the bookkeeping of one value takes besides the value. */
const OVERHEAD: Bytes = 500

/**
 * Values derived from rows, each kept until one of the rows that it was made of changes, whichever thread or process changes it. One
 * instance serves all kinds of values, so that they share one limit of memory. Where the engine cannot report that nothing has
 * changed (PostgreSQL, a database in memory), nothing is kept.
 */
export class DependencyCache {
  readonly #database: Database
  readonly #values: LRUCache<string, Kept>
  readonly #dependents = new Map<string, Set<string>>()
  /** The revision of the database up to which the change log has been read. */
  #revision: number | undefined
  /** The number of the latest change that has been taken into account. */
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

  /** How many values are kept, and about how much memory they take. */
  get load(): { readonly values: number; readonly bytes: Bytes } {
    return { values: this.#values.size, bytes: this.#values.calculatedSize }
  }

  /**
   * The value under the key: the one that is kept, or what `load` resolves to. `undefined` is not kept. Changes that were committed
   * before the call count. @param key begins with the kind of value, so that kinds do not meet
   */
  async get<T>(key: string, load: () => Promise<Cacheable<T> | undefined>): Promise<T | undefined> {
    const { revision } = this.#database
    if (revision === undefined) return (await load())?.value
    if (revision !== this.#revision) await this.#catchUp()
    const kept = this.#values.get(key)
    if (kept) return kept.value as T
    const position = this.#position
    const loaded = await load()
    // Something may have changed while it was loaded, and the log may have been read already: then it is good for this call only.
    if (loaded && position === this.#position) this.#keep(key, loaded)
    return loaded?.value
  }

  /** Reads the change log; many callers at once share one reading. */
  async #catchUp(): Promise<void> {
    while (this.#database.revision !== this.#revision) {
      this.#reading ??= this.#readLog().finally(() => (this.#reading = undefined))
      await this.#reading
    }
  }

  async #readLog(): Promise<void> {
    // Asked first: what is committed after this moment makes the revision differ again.
    const { revision } = this.#database
    const { latest, subjects } = await changesSince(this.#database, this.#position)
    if (subjects === undefined) this.#values.clear()
    else for (const subject of subjects) this.#drop(subject)
    this.#position = latest
    this.#revision = revision
  }

  #keep(key: string, { value, subjects, bytes }: Kept): void {
    this.#values.set(key, { value, subjects, bytes })
    // Too large a value is not kept.
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
