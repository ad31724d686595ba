import { Overloaded } from './errors.ts'
import { FairQueue, type Turn } from './fair-queue.ts'

export interface LimiterOptions {
  /** The maximum number of tasks that run at once. */
  readonly concurrency: number
  /** The maximum number of waiting tasks; the next one is refused. */
  readonly queue: number
  /** Names the tasks in the error message, for instance "password checks". */
  readonly what: string
}

interface Waiting {
  readonly begin: () => void
  readonly refuse: () => void
}

/**
 * Runs a limited number of tasks at once. A limited number of others wait: callers take turns, and the tasks of one caller run in
 * order of arrival. A task keeps its permit until it has ended, even if its client has left.
 */
export class Limiter {
  readonly #options: LimiterOptions
  readonly #waiting: FairQueue<Waiting>
  #running = 0

  constructor(options: LimiterOptions) {
    this.#options = options
    this.#waiting = new FairQueue(options.queue)
  }

  get concurrency(): number {
    return this.#options.concurrency
  }

  /** The number of running and of waiting tasks. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.size }
  }

  /** @throws {Overloaded} when the queue is full, or `work` is displaced from it; `work` has not started then */
  async run<T>(work: () => Promise<T>, turn?: Turn): Promise<T> {
    await this.#acquire(turn)
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  #acquire(turn: Turn | undefined): Promise<void> {
    if (this.#running < this.#options.concurrency) {
      this.#running++
      return Promise.resolve()
    }
    return new Promise((begin, reject) => {
      const refuse = (): void => reject(new Overloaded(`Too many ${this.#options.what} at once.`))
      this.#waiting.add({ begin, refuse }, turn)?.refuse()
    })
  }

  /** Passes the permit directly to the next waiting task, so that no new task can take it first. */
  #release(): void {
    const next = this.#waiting.next()
    if (next) next.begin()
    else this.#running--
  }
}
