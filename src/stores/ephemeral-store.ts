import type { Milliseconds } from '../base/units.ts'

/** A value and how long it is to be kept from now on; without `ttl` as long as was left to the value before. */
export interface Kept<T> {
  readonly value: T
  readonly ttl?: Milliseconds
}

/** Of the keys that begin with `prefix` at most `most` are kept; the one that is oldest, or ends first, makes room. */
export interface Capacity {
  readonly prefix: string
  readonly most: number
}

/**
 * Facts that may be forgotten: sessions, lockout counters, login flows, used assertion ids. Keys are short texts that
 * begin with their kind (`session:…`). Values are plain data, never changed in place by those who get them.
 * Every verb is atomic, on all nodes that share the store.
 */
export interface EphemeralStore {
  get<T>(key: string): Promise<T | undefined>
  /** False, and no change, when the key is present: of many callers exactly one gets true. */
  add<T>(key: string, value: T, ttl: Milliseconds): Promise<boolean>
  /**
   * Replaces the value by what `change` makes of it; `undefined` deletes the key. Resolves to the value kept.
   * `change` is pure and may run again.
   */
  update<T>(key: string, change: (old: T | undefined) => Kept<T> | undefined): Promise<T | undefined>
  /** Updates those of the keys that are present, each as `update` does, in few steps altogether. */
  updateAll<T>(keys: readonly string[], change: (key: string, old: T) => Kept<T>): Promise<void>
  /** Gets and deletes in one step. */
  take<T>(key: string): Promise<T | undefined>
  /** Every live key that begins with `prefix`, with its value, in no particular order; not a snapshot. */
  scan<T>(prefix: string): AsyncIterable<readonly [key: string, value: T]>
  /** How many live keys begin with `prefix`; not a snapshot. */
  count(prefix: string): Promise<number>
  close(): Promise<void>
}
