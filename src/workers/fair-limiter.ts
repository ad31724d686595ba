import { Overloaded } from '../base/errors.ts'

export interface FairLimiterOptions {
  /** The maximum number of tasks that run at once. */
  readonly concurrency: number
  /**
   * The maximum number of running tasks of one caller; less than `concurrency`, so that others can always
   * start.
   */
  readonly concurrencyOfOne: number
  /** The maximum number of waiting tasks of all callers. */
  readonly maxWaiting: number
  /** The maximum number of waiting tasks of one caller. */
  readonly maxWaitingOfOne: number
  /** Names the tasks in the error message, for instance "searches". */
  readonly what: string
}

interface Waiting {
  readonly start: () => void
}

/**
 * Runs a limited number of tasks at once, and lets the callers take turns: a caller with a hundred tasks
 * waits for their own, and a caller with one task waits for at most one of each other caller.
 *
 * For tasks whose cost the caller chooses: one caller never runs all tasks at once, has a limited number waiting, and leaves the queue
 * through a signal. `Limiter` (`base/limiter.ts`) is for short tasks of a known cost: it has no limit for one caller and no signal, but
 * preferred callers, and in a full queue it refuses a task of the caller with the most instead of the newcomer.
 */
export class FairLimiter {
  readonly #options: FairLimiterOptions
  /** Callers with waiting tasks, the next one first. */
  readonly #queues = new Map<string, Waiting[]>()
  readonly #running = new Map<string, number>()
  #allRunning = 0
  #allWaiting = 0

  constructor(options: FairLimiterOptions) {
    this.#options = options
  }

  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#allRunning, waiting: this.#allWaiting }
  }

  /**
   * @param caller whose share the task takes: a user, or the address of a guest
   * @param signal ends the wait; a running task must watch it itself
   * @throws {Overloaded} when too many tasks of the caller, or of all callers, wait; the reason of the signal
   */
  async run<T>(caller: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.acquire(caller, signal)
    try {
      return await work()
    } finally {
      this.release(caller)
    }
  }

  /** For work of another thread, which must {@link release} the permit once; otherwise use {@link run}. Throws what `run` throws. */
  async acquire(caller: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.#mayStart(caller)) this.#start(caller)
    else await this.#wait(caller, signal)
  }

  /** Starts the next task that may run. @param caller whose permit it is */
  release(caller: string): void {
    const running = (this.#running.get(caller) ?? 1) - 1
    if (running === 0) this.#running.delete(caller)
    else this.#running.set(caller, running)
    this.#allRunning--
    this.#startNext()
  }

  #mayStart(caller: string): boolean {
    const { concurrency, concurrencyOfOne } = this.#options
    return this.#allRunning < concurrency && (this.#running.get(caller) ?? 0) < concurrencyOfOne
  }

  #start(caller: string): void {
    this.#allRunning++
    this.#running.set(caller, (this.#running.get(caller) ?? 0) + 1)
  }

  async #wait(caller: string, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaiting, maxWaitingOfOne, what } = this.#options
    const queue = this.#queues.get(caller) ?? []
    if (queue.length >= maxWaitingOfOne) throw new Overloaded(`You have too many ${what} waiting.`)
    if (this.#allWaiting >= maxWaiting) throw new Overloaded(`Too many ${what} at once.`)
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#remove(caller, waiting)
        reject(signal?.reason as Error)
      }
      const waiting: Waiting = {
        start: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      queue.push(waiting)
      this.#queues.set(caller, queue)
      this.#allWaiting++
    })
  }

  #remove(caller: string, waiting: Waiting): void {
    const queue = this.#queues.get(caller)
    const at = queue?.indexOf(waiting) ?? -1
    if (!queue || at < 0) return
    queue.splice(at, 1)
    this.#allWaiting--
    if (queue.length === 0) this.#queues.delete(caller)
  }

  /** Starts a task of the next caller that may run more; this caller then goes to the end. */
  #startNext(): void {
    for (const [caller, queue] of this.#queues) {
      if (!this.#mayStart(caller)) continue
      const next = queue.shift()
      this.#queues.delete(caller)
      if (queue.length > 0) this.#queues.set(caller, queue)
      if (!next) continue
      this.#allWaiting--
      this.#start(caller)
      next.start()
      return
    }
  }
}
