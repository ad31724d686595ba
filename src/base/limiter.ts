import { Overloaded } from './errors.ts'

export interface LimiterOptions {
  /** The maximum number of tasks that run at once. */
  readonly concurrency: number
  /** The maximum number of waiting tasks; the next one is refused. */
  readonly queue: number
  /** Names the tasks in the error message, for instance "password checks". */
  readonly what: string
}

/**
 * Runs a limited number of tasks at once. A limited number of others wait, in order of arrival.
 * A task keeps its permit until it has ended, even if its client has left.
 */
export class Limiter {
  readonly #options: LimiterOptions
  readonly #waiting: Array<() => void> = []
  #running = 0

  constructor(options: LimiterOptions) {
    this.#options = options
  }

  get concurrency(): number {
    return this.#options.concurrency
  }

  /** The number of running and of waiting tasks. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.length }
  }

  /** @throws {Overloaded} when the queue is full; `work` has not started then */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#acquire()
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  #acquire(): Promise<void> {
    if (this.#running < this.#options.concurrency) {
      this.#running++
      return Promise.resolve()
    }
    if (this.#waiting.length >= this.#options.queue) {
      return Promise.reject(new Overloaded(`Too many ${this.#options.what} at once.`))
    }
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  /** Passes the permit directly to the next waiting task, so that no new task can take it first. */
  #release(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running--
  }
}
