import { Overloaded } from './errors.ts'

export interface LimiterOptions {
  /** How many pieces of work run at once. */
  readonly concurrency: number
  /** How many more may wait; the next one is refused. */
  readonly queue: number
  /** Names the work in the refusal, for instance "password checks". */
  readonly what: string
}

/**
 * Runs at most so many pieces of work at once and lets a bounded number wait in order of arrival.
 * The permit is held until the work has really ended, even when its client has left.
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

  /** Work in progress and work that waits. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.length }
  }

  /** @throws {Overloaded} when the queue is full; the work has not begun then. */
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

  /** Hands the permit straight to the next in line, so that a newcomer cannot slip in between. */
  #release(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running--
  }
}
