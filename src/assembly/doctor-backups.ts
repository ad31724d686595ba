import { reportBackups } from '../backup/backup-runs.ts'
import { nextTime } from '../base/cron.ts'
import { ServiceError, StartupError } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import { schemaVersion } from '../stores/migrations.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'
import { openDatabase, schema } from './stores.ts'

/** How long a backup may take before the last one counts as too old. */
const TIMEOUT: Milliseconds = 6 * 3_600_000

/** Whether the scheduled backups are made. */
export async function checkBackups(settings: Settings): Promise<CheckResult[]> {
  const expression = settings['service.backup.schedule']
  if (expression === undefined) return [ok('backups: the service makes none (service.backup.schedule)')]
  const report = await readReport(settings)
  if (!report) return [ok('backups: the service makes the first one after its start')]
  const { ended, made } = report
  const failure = ended && ended.problem !== null ? [problem(`backups: the last one failed. ${ended.problem}`)] : []
  if (!made) return [...failure, warning('backups: there is none yet')]
  const due = nextTime(expression, made.started)
  const text = `backups: the last one is of ${new Date(made.started).toISOString()}, with ${made.files} files`
  const isOld = due !== undefined && due + TIMEOUT < realSystem.now()
  return [...failure, isOld ? problem(`${text}; a newer one is overdue`) : ok(text)]
}

/** `undefined` where no database can be asked, which other checks report. */
async function readReport(settings: Settings) {
  try {
    const database = await openDatabase(settings, realSystem, { readOnly: true })
    try {
      const isCurrent = (await schemaVersion(database)) === schema.at(-1)?.id
      return isCurrent ? await reportBackups(database) : undefined
    } finally {
      await database.close()
    }
  } catch (error) {
    if (error instanceof StartupError || error instanceof ServiceError) return undefined
    throw error
  }
}
