import { Overloaded } from './errors.ts'
import { FairQueue, type QueueShare } from './fair-queue.ts'

export interface SemaphoreOptions {
  /** The maximum number of tasks that run at once. */
  readonly concurrency: number
  /** The same of one caller; less than `concurrency` where tasks may take long, so that others can always start. */
  readonly concurrencyOfOne?: number
  /** The maximum number of waiting tasks; the next one is refused. */
  readonly queue: number
  /** The same of one caller. */
  readonly queueOfOne?: number
  /** Names the tasks in the error message, for instance "password checks". */
  readonly what: string
}

export interface Share extends QueueShare {
  /** Ends the wait. A task that runs must watch it itself. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs a limited number of tasks at once. A limited number of others wait: callers take turns, and the tasks of one caller run in order of
 * arrival. A task keeps its place until it has ended, even if its client has left.
 */
export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #waiting: FairQueue<{ readonly begin: () => void; readonly refuse: () => void }>
  readonly #running = new Map<string, number>()
  #allRunning = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
    this.#waiting = new FairQueue(options.queue)
  }

  get concurrency(): number {
    return this.#options.concurrency
  }

  /** The number of running and of waiting tasks. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#allRunning, waiting: this.#waiting.size }
  }

  /** @throws {Overloaded} when too many wait; `work` has not started then @throws the reason of the signal */
  async run<T>(work: () => Promise<T>, share: Share = { of: '' }): Promise<T> {
    share.signal?.throwIfAborted()
    if (this.#mayBegin(share.of)) this.#count(share.of, 1)
    else await this.#wait(share)
    try {
      return await work()
    } finally {
      this.#count(share.of, -1)
      this.#waiting.next(caller => this.#mayBegin(caller))?.begin()
    }
  }

  #mayBegin(caller: string): boolean {
    const { concurrency, concurrencyOfOne = concurrency } = this.#options
    return this.#allRunning < concurrency && (this.#running.get(caller) ?? 0) < concurrencyOfOne
  }

  #count(caller: string, change: number): void {
    this.#allRunning += change
    const running = (this.#running.get(caller) ?? 0) + change
    if (running === 0) this.#running.delete(caller)
    else this.#running.set(caller, running)
  }

  /** Resolves when the task has a place, which no new one can take first. */
  async #wait(share: Share): Promise<void> {
    const { queueOfOne = Number.POSITIVE_INFINITY, what } = this.#options
    if (this.#waiting.countOf(share) >= queueOfOne) throw new Overloaded(`You have too many ${what} waiting.`)
    await new Promise<void>((resolve, reject) => {
      const waiting = {
        begin: () => {
          this.#count(share.of, 1)
          resolve()
        },
        refuse: () => reject(new Overloaded(`Too many ${what} at once.`)),
      }
      this.#waiting.add(waiting, share)?.refuse()
      const leave = (): void => void (this.#waiting.remove(waiting, share) && reject(share.signal?.reason as Error))
      share.signal?.addEventListener('abort', leave, { once: true })
    })
  }
}
