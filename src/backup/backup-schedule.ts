import { nextTime } from '../base/cron.ts'
import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { type BackupResult, type BackupRuns, RUN_TTL } from './backup-runs.ts'

interface Dependencies {
  readonly runs: BackupRuns
  /** Makes one. Rejects with the reason of `signal` once that has aborted. */
  readonly make: (started: Milliseconds, signal: AbortSignal) => Promise<BackupResult>
  /** Called after an attempt with a problem. */
  readonly onProblem: (problem: string) => void
  readonly system: Pick<System, 'now'>
  readonly log: Log
}

const MAX_PAUSE: Milliseconds = 60_000

/**
 * Makes backups at the times of a cron expression. One that is due because the service was stopped, or because there is none yet, is made at
 * once. Of several nodes, the first that looks makes it.
 */
export class BackupSchedule {
  readonly #expression: string
  readonly #deps: Dependencies
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(expression: string, deps: Dependencies) {
    this.#expression = expression
    this.#deps = deps
  }

  /** Makes a backup if one is due, and looks again when the next one is. */
  run(): Promise<void> {
    clearTimeout(this.#timer)
    this.#running ??= this.#makeIfDue()
      .catch((err: unknown) => this.#deps.log.error({ err }, 'looking for a due backup failed'))
      .finally(() => {
        this.#running = undefined
        if (this.#closing.signal.aborted) return
        const { system } = this.#deps
        const next = (nextTime(this.#expression, system.now()) ?? Number.POSITIVE_INFINITY) - system.now()
        this.#timer = setTimeout(() => void this.run(), Math.min(Math.max(next, 0), MAX_PAUSE)).unref()
      })
    return this.#running
  }

  /** A backup that is being made is given up: the next start makes it. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the service stops'))
    clearTimeout(this.#timer)
    await this.#running
  }

  async #makeIfDue(): Promise<void> {
    const { runs, system, log } = this.#deps
    const { signal } = this.#closing
    if (signal.aborted) return
    const started = await runs.claim(last => last === undefined || this.#isDue(last))
    if (started === undefined) return
    const renewal = setInterval(() => void runs.renew(started).catch(() => {}), RUN_TTL / 5).unref()
    try {
      const result = await this.#make(started)
      if (!result) return await runs.forget(started)
      await runs.finish(started, result)
      const { files, bytes, problem } = result
      if (problem === null) log.info({ files, bytes, took: system.now() - started }, 'a backup was made')
      else this.#deps.onProblem(problem)
    } finally {
      clearInterval(renewal)
    }
  }

  #isDue(last: Milliseconds): boolean {
    const next = nextTime(this.#expression, last)
    return next !== undefined && next <= this.#deps.system.now()
  }

  /** Returns `undefined` when the service stops meanwhile. */
  async #make(started: Milliseconds): Promise<BackupResult | undefined> {
    const { make, log } = this.#deps
    const { signal } = this.#closing
    try {
      return await make(started, signal)
    } catch (err) {
      if (signal.aborted) return undefined
      log.error({ err }, 'a backup failed')
      return { files: null, bytes: null, problem: err instanceof Error ? err.message : String(err) }
    }
  }
}
