/** Texts under texts, in the order of their keys (by code point). Keys and values hold neither NUL nor half surrogate pairs. */
export interface ScratchMap {
  get(key: string): string | undefined
  /** Adds or replaces. */
  set(key: string, value: string): void
  /** All whose keys begin like this, in order. What is set meanwhile behind the present key is seen. */
  under(prefix: string): Generator<readonly [key: string, value: string]>
}

/** Space on the disk for work on more than fits in memory: fast, not durable, and gone with `close`. It has one owner. */
export interface Scratch {
  /** A folder of its own, readable by this user only, for other temporary files. It goes with `close` too. */
  readonly folder: string
  /** A new empty map. */
  map(): ScratchMap
  close(): Promise<void>
}
