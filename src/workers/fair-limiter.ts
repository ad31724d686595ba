import { Overloaded } from '../base/errors.ts'

export interface FairLimiterOptions {
  /** How many pieces of work run at once. */
  readonly concurrency: number
  /** How many of these one caller may have; less than all of them, so that there is always one for the others. */
  readonly concurrencyOfOne: number
  /** How many more may wait, of all callers together. */
  readonly maxWaiting: number
  /** How many of one caller may wait. */
  readonly maxWaitingOfOne: number
  /** Names the work in the refusal, for instance "searches". */
  readonly what: string
}

interface Waiting {
  readonly start: () => void
}

/**
 * Runs so many pieces of work at once, and lets the callers take turns: who sends a hundred waits for a hundred, and who
 * sends one waits for one of each other caller at most.
 */
export class FairLimiter {
  readonly #options: FairLimiterOptions
  /** Callers with waiting work, the one whose turn it is first. */
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
   * @param caller whose share the work takes: a user, or the address of a guest
   * @param signal gives up waiting; work that has begun sees to it itself
   * @throws {Overloaded} when the caller, or all together, have too much waiting; the reason of the signal
   */
  async run<T>(caller: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.#mayStart(caller)) this.#start(caller)
    else await this.#wait(caller, signal)
    try {
      return await work()
    } finally {
      this.#release(caller)
    }
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

  #release(caller: string): void {
    const running = (this.#running.get(caller) ?? 1) - 1
    if (running === 0) this.#running.delete(caller)
    else this.#running.set(caller, running)
    this.#allRunning--
    this.#startNext()
  }

  /** The next caller in turn who may have more running; they then go to the end. */
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
