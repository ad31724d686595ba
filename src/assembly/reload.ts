import { StartupError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Prepared } from '../base/prepared.ts'
import { Mutex } from '../base/semaphore.ts'
import { requireConsistent } from '../config/load.ts'
import type { Reload } from '../core/reload.ts'
import type { ComparedSettings, LiveSettings } from '../core/live-settings.ts'
import type { RuntimeEnvironment } from '../core/machine.ts'

interface Dependencies {
  readonly live: LiveSettings
  readonly log: Log
  readonly reread: RuntimeEnvironment['reread']
  readonly reloads: ReadonlyArray<Reload<ComparedSettings>>
}

/**
 * Reads the settings again and puts in force what can change while the service runs: all of it, or nothing if any of it is
 * invalid.
 */
export class Reloader {
  readonly #deps: Dependencies
  readonly #mutex = new Mutex()

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Never rejects: the outcome is in the log. */
  reload(): Promise<void> {
    return this.#mutex.run(() => this.#reload())
  }

  async #reload(): Promise<void> {
    const { live, log, reread } = this.#deps
    if (!reread) return
    try {
      const loaded = reread()
      const change = live.compare(loaded)
      // Settings that wait for a restart keep their present values, which may not go together with the new values of the others.
      const warnings = requireConsistent(change.next, loaded.origins)
      const prepared = await this.#prepare(change)
      live.replace(change)
      for (const { apply } of prepared) apply()
      if (change.pending.length > 0) log.warn({ settings: change.pending }, 'these settings need a restart to change')
      for (const text of new Set([...loaded.warnings, ...warnings].map(({ text }) => text))) log.warn(text)
      const applied = [...change.applied, ...prepared.flatMap(({ what }) => what ?? [])]
      if (applied.length > 0) log.info({ settings: applied }, 'settings read again and applied')
      else log.info('settings read again: nothing to apply')
    } catch (error) {
      const known = error instanceof StartupError
      const reason = known ? { reason: error.message.replaceAll(/\s*\n\s*/g, '; ') } : { err: error }
      log.error(reason, 'the settings cannot be applied: all settings stay as they were')
    }
  }

  /** @throws {StartupError} Nothing is left of what was prepared then. */
  async #prepare(change: ComparedSettings): Promise<readonly Prepared[]> {
    const prepared: Prepared[] = []
    try {
      for (const reload of this.#deps.reloads) {
        const one = await reload(change)
        if (one) prepared.push(one)
      }
      return prepared
    } catch (error) {
      for (const { discard } of prepared) await discard?.()
      throw error
    }
  }
}
