/** A sorted map from text to text (by code point). Keys and values contain neither NUL nor unpaired surrogates. */
export interface ScratchMap {
  get(key: string): string | undefined
  /** Adds or replaces. */
  set(key: string, value: string): void
  /** All entries whose keys begin with the prefix, in order. Entries added meanwhile after the present key are included. */
  under(prefix: string): Generator<readonly [key: string, value: string]>
}

/**
 * Temporary disk space for data that do not fit into memory: fast, not durable, and deleted by `close`. It has one owner.
 */
export interface Scratch {
  /** A separate folder, readable by this user only, for other temporary files. `close` deletes it too. */
  readonly folder: string
  /** A new empty map. */
  map(): ScratchMap
  close(): Promise<void>
}
