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
