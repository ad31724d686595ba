import { Mutex } from './mutex.ts'

/** A mutex for each key: work on one key goes through in turn, on different keys at once. It does not nest either. */
export class KeyedMutex {
  readonly #inUse = new Map<string, { readonly mutex: Mutex; users: number }>()

  /** Settles as `work` does. A key that nobody waits for takes no memory. */
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
