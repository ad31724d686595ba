import { nextTime } from '../../base/cron.ts'
import type { Log } from '../../base/log.ts'
import type { System } from '../../base/system.ts'
import { isoTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { type BackupResult, type BackupRun, type BackupRuns, type ProofResult, RUN_TTL } from './backup-runs.ts'

interface Dependencies {
  readonly runs: BackupRuns
  /** Makes a backup. If `signal` aborts, rejects with the reason of `signal`. */
  readonly make: (started: Milliseconds, signal: AbortSignal) => Promise<BackupResult>
  /** Proves a backup; absent when backups are not proven. If `signal` aborts, rejects with the reason of `signal`. */
  readonly prove?: ((backup: BackupRun, signal: AbortSignal) => Promise<ProofResult>) | undefined
  /** Called after an attempt with a problem. */
  readonly onProblem: (problem: string) => void
  readonly system: Pick<System, 'now'>
  readonly log: Log
}

const MAX_PAUSE: Milliseconds = 60_000

/**
 * Makes backups at the times of a cron expression. A backup is made at once if its time passed while the service was stopped, if there is
 * no backup yet, or if at the last attempt before the start the backup failed, or its place lacked the backup before. With several nodes, the
 * first node that finds a backup due makes it. Each new backup is proven, and the newest backup again once a day.
 */
export class BackupSchedule {
  readonly #expression: string
  readonly #deps: Dependencies
  readonly #closing = new AbortController()
  #isStart = true
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(expression: string, deps: Dependencies) {
    this.#expression = expression
    this.#deps = deps
  }

  /** Makes and proves a backup if one is due, and looks again when the next one is. */
  run(): Promise<void> {
    clearTimeout(this.#timer)
    this.#running ??= this.#work()
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

  /** A backup that is being made or proven is given up: the next start makes it. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the service stops'))
    clearTimeout(this.#timer)
    await this.#running
  }

  async #work(): Promise<void> {
    const isStart = this.#isStart
    this.#isStart = false
    await this.#makeIfDue(isStart)
    await this.#proveIfDue(isStart)
  }

  async #makeIfDue(isStart: boolean): Promise<void> {
    const { runs, system, log } = this.#deps
    if (this.#closing.signal.aborted) return
    const started = await runs.claim(
      last => last === undefined || (isStart && hasFailed(last)) || this.#isDue(last.started),
    )
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

  async #proveIfDue(isStart: boolean): Promise<void> {
    const { runs, prove, log } = this.#deps
    const { signal } = this.#closing
    const backup = prove && !signal.aborted ? await runs.claimProof(isStart) : undefined
    if (!prove || !backup) return
    const { started } = backup
    const renewal = setInterval(() => void runs.renewProof(started).catch(() => {}), RUN_TTL / 5).unref()
    try {
      const result = await prove(backup, signal).catch((err: unknown) => {
        if (signal.aborted) return undefined
        log.error({ err }, 'a proof of a backup failed')
        const problem = `The newest backup could not be proven: ${err instanceof Error ? err.message : String(err)}`
        return { problem, isWhole: null, note: null, restored: null, newest: null }
      })
      if (!result) return await runs.forgetProof(started)
      await runs.finishProof(started, result)
      const { problem, note, restored } = result
      if (problem === null) log.info({ backup: isoTime(started), restored, note }, 'a backup was proven')
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
      return { files: null, bytes: null, problem: err instanceof Error ? err.message : String(err), gone: null }
    }
  }
}

/** An operator may have mounted the disk of the backups before the start. */
const hasFailed = ({ bytes, gone }: BackupRun): boolean => bytes === null || gone !== null
