import { Mutex } from './mutex.ts'

/**
 * A mutex for each key: work on the same key runs in turn, work on different keys runs at the same time.
 * Calls must not be nested.
 */
export class KeyedMutex {
  readonly #inUse = new Map<string, { readonly mutex: Mutex; users: number }>()

  /** Settles like `work`. A key without waiting work takes no memory. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const held = this.#inUse.get(key) ?? { mutex: new Mutex(), users: 0 }
    this.#inUse.set(key, held)
    held.users++
    try {
      return await held.mutex.run(work)
    } finally {
      if (--held.users === 0) this.#inUse.delete(key)
    }
  }
}
