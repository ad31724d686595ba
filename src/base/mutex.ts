/**
 * Runs one task at a time, in the order of the calls. Calls must not be nested: a task that calls `run` waits
 * for itself.
 */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  /** Settles like `work`. A failure does not affect the next task. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.then(ignore, ignore)
    return result
  }
}

const ignore = (): void => {}

/**
 * A mutex for each key: work on the same key runs in turn, work on different keys runs at the same time.
 * Calls must not be nested.
 */
export class KeyedMutex {
  readonly #inUse = new Map<string, { readonly mutex: Mutex; users: number }>()

  /** Settles like `work`. A key without waiting or running work takes no memory. */
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
