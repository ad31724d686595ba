import type { Log } from './log.ts'
import type { Milliseconds } from './units.ts'

export const JOBS_INTERVAL: Milliseconds = 60_000

/** Work that is due again and again, by the name that the log gives it when it fails. Long work ends early when its signal is aborted. */
export type ScheduledJob = readonly [name: string, work: (closing: AbortSignal) => unknown]

/**
 * Runs jobs every minute, one after the other. One that fails is logged and delays no other; a round that takes longer
 * than a minute is not joined by the next.
 */
export class ScheduledJobs {
  readonly #log: Pick<Log, 'error'>
  readonly #jobs: readonly ScheduledJob[]
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  #round: Promise<void> | undefined

  constructor(log: Pick<Log, 'error'>, jobs: readonly ScheduledJob[]) {
    this.#log = log
    this.#jobs = jobs
    this.#timer = setInterval(() => void this.run(), JOBS_INTERVAL).unref()
  }

  /** Runs all of them now, or resolves with the round that is under way. */
  run(): Promise<void> {
    this.#round ??= this.#doAll().finally(() => (this.#round = undefined))
    return this.#round
  }

  /** No job begins after this; resolves when the present one has ended. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#timer)
    await this.#round
  }

  async #doAll(): Promise<void> {
    const { signal } = this.#closing
    for (const [name, work] of this.#jobs) {
      if (signal.aborted) return
      try {
        await work(signal)
      } catch (err) {
        this.#log.error({ err, job: name }, 'a periodic task failed')
      }
    }
  }
}
