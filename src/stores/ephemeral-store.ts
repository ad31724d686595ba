import type { Milliseconds } from '../base/units.ts'
import type { Queries } from './database.ts'

/** A value and its lifetime from now on; without `ttl` the value keeps the remaining lifetime. */
export interface CachedValue<T> {
  readonly value: T
  readonly ttl?: Milliseconds
}

/**
 * At most `max` keys that begin with `prefix` are kept. Beyond this number the oldest key, or the key that expires first, is dropped.
 */
export interface Capacity {
  readonly prefix: string
  readonly max: number
}

/**
 * Stores data that may be lost: sessions, lockout counters, login flows, used assertion ids. Keys are short texts that begin
 * with their kind (`session:…`). Values are plain data. Several readers may get the same object, so only `change` may mutate it. As an
 * exception, `Sessions` mutates them, but only in ways that are the same for every reader.
 * Every operation is atomic, on all nodes that share the store.
 */
export interface EphemeralStore {
  get<T>(key: string): Promise<T | undefined>
  /** As `get`, inside a transaction of the database; only for a store that is in the database. */
  getWithin?<T>(queries: Queries, key: string): Promise<T | undefined>
  /** Returns false and changes nothing when the key is present: of many callers exactly one gets true. */
  add<T>(key: string, value: T, ttl: Milliseconds): Promise<boolean>
  /**
   * Replaces the value by the result of `change`; `undefined` deletes the key. Resolves to the stored value. `change` may run again, and
   * may change the value that it gets; in memory, readers that hold the value see the change.
   */
  update<T>(key: string, change: (old: T | undefined) => CachedValue<T> | undefined): Promise<T | undefined>
  /** Gets and deletes in one step. */
  take<T>(key: string): Promise<T | undefined>
  /** Every live key that begins with `prefix`, with its value, in no particular order; not a snapshot. */
  scan<T>(prefix: string): AsyncIterable<readonly [key: string, value: T]>
  /** How many live keys begin with `prefix`; not a snapshot. */
  count(prefix: string): Promise<number>
  close(): Promise<void>
}
