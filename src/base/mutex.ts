/** Lets pieces of work through one at a time, in the order of their calls. It does not nest: work that calls `run` waits for itself. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  /** Settles as `work` does. Work that fails does not hinder the next. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.then(ignore, ignore)
    return result
  }
}

const ignore = (): void => {}
