import { findOwnBackups, othersToAccept, type OwnBackups } from './acceptance.ts'
import { INCOMPLETE, isComplete } from '../../backup/store-copy.ts'
import { type BackupReport, type BackupRun, backupSteps, reportBackups } from './backup-runs.ts'
import { nextTime } from '../../base/cron.ts'
import { NoStore, ServiceError, StartupError, StoreDamaged } from '../../base/errors.ts'
import { realSystem } from '../../base/system.ts'
import { isoTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { schemaVersion } from '../../stores/migrations.ts'
import { findNewestBackup, isScheduled, requireUsablePlace, withTarget } from './backup-place.ts'
import { isBucket, placeName, reasonOf } from './backup-target.ts'
import { type BackupTarget, listGenerations } from './generations.ts'
import { timeOfStore } from './loss.ts'
import { doubtAbout, originOf } from './manifest-key.ts'
import { goneFrom, tellGone, tellUnreadable } from './remarks.ts'
import { type CheckResult, ok, problem, warning } from '../../core/check-result.ts'
import { count } from '../../core/copied.ts'
import { dataPlace } from '../../core/data-folder.ts'
import { readStore } from '../../core/open-store.ts'
import type { BackupSettings } from './settings.ts'

/** How long a backup may take before the last one counts as too old. */
const TIMEOUT: Milliseconds = 6 * 3_600_000

/** How old a proof may be: one is made daily, and rests most of the time. */
const PROOF_TIMEOUT: Milliseconds = 2 * 86_400_000

/** Whether the scheduled backups are made and proven. */
export async function checkBackups(settings: BackupSettings): Promise<CheckResult[]> {
  const expression = settings['service.backup.schedule']
  const place = settings['service.backup.target']
  if (expression === undefined || place === undefined)
    return [ok('backups: the service makes none (service.backup.schedule)')]
  const report = await readReport(settings, place)
  if (report && 'lost' in report) return await checkLostStore(settings, report.lost)
  if (report && 'closed' in report) return [warning(`backups: not checked. ${report.closed}`)]
  if (!report) return [ok('backups: the service makes the first one after its start')]
  const { ended, made } = report
  const failure = ended && ended.problem !== null ? [problem(`backups: the last one failed. ${ended.problem}`)] : []
  const own = await findOwnBackups(settings)
  const key = own.key === undefined ? [] : [ok(`backups: signed with the key ${own.key}`)]
  if (!made) return [...failure, await describeNone(settings, report), ...key]
  const found = await checkPlace(settings, place, { made, own, hasFailed: failure.length > 0 })
  const due = nextTime(expression, made.started)
  const text = `backups: the last one is of ${new Date(made.started).toISOString()}, with ${made.files} files`
  const isOld = due !== undefined && due + TIMEOUT < realSystem.now()
  const proof = settings['service.backup.prove'] ? [describeProof(report)] : []
  return [...failure, ...found, isOld ? problem(`${text}; a newer one is overdue`) : ok(text), ...proof, ...key]
}

interface LastBackup {
  readonly made: BackupRun
  readonly own: OwnBackups
  /** Whether the last attempt has failed: its reason is told already. */
  readonly hasFailed: boolean
}

/** Whether this user can use the place of the backups, and what is wrong with those in it. */
async function checkPlace(settings: BackupSettings, place: string, last: LastBackup): Promise<CheckResult[]> {
  try {
    if (!isBucket(place)) await requireUsablePlace(place)
    // Opening an empty folder would make it a place of backups.
    if (!(await isScheduled(place))) return [problem(`backups: ${goneFrom(place, last.made.started)}`)]
    return await withTarget(settings, place, target => checkTarget(target, last))
  } catch (error) {
    if (!(error instanceof StartupError || error instanceof ServiceError)) throw error
    return last.hasFailed ? [] : [problem(`backups: ${reasonOf(error, place)}`)]
  }
}

async function checkTarget(target: BackupTarget, { made, own }: LastBackup): Promise<CheckResult[]> {
  const listed = await listGenerations(target)
  const { generations, unreadable } = listed
  const damaged = unreadable.map(key => problem(`backups: ${tellUnreadable(target, key)}`))
  const changed = generations
    .filter(({ generation }) => originOf(generation, own.key) === 'wrong')
    .map(one => problem(`backups: ${doubtAbout(target, one, own.key)}`))
  const gone = tellGone(target, listed, made.started)
  const others = othersToAccept(generations, own).length
  const kept = `backups: ${count(others, 'backup')} of another store, or of this one before a restore, stay. If this store has lost nothing, run \`stowage backup accept ${target.place}\`; if it has, restore the backup that \`stowage backup list ${target.place}\` calls the last good one. If another service makes backups there, name another target for one of the two`
  return [
    ...damaged,
    ...changed,
    ...(gone === undefined ? [] : [problem(`backups: ${gone}`)]),
    ...(others === 0 ? [] : [warning(kept)]),
  ]
}

/** Whether the newest backup has been restored, and what that has shown. */
function describeProof({ made, checked, proven }: BackupReport): CheckResult {
  if (checked && checked.proof_problem !== null)
    return problem(`backups: the last proof found something wrong. ${checked.proof_problem}`)
  if (!proven || proven.proven === null) {
    const isOverdue = made !== undefined && (made.finished ?? made.started) + PROOF_TIMEOUT < realSystem.now()
    return (isOverdue ? problem : ok)('backups: none has been proven yet (service.backup.prove)')
  }
  const { started, proven: time, restored_in: took, newest_change: newest, proof_note: note } = proven
  const facts = [
    `backups: that of ${isoTime(started)} was proven at ${isoTime(time)}`,
    took === null ? undefined : `a restore takes ${Math.ceil(took / 1000)} s`,
    newest === null ? undefined : `the last change in it is of ${isoTime(newest)}`,
    note === null ? undefined : note.replace(/\.$/, ''),
  ]
  const text = facts.filter(fact => fact !== undefined).join('; ')
  return time + PROOF_TIMEOUT < realSystem.now() ? problem(`${text}; a newer proof is overdue`) : ok(text)
}

/** What the place of backups has, of which this store has made none. @param report with the time when the store was made */
async function describeNone(
  settings: BackupSettings,
  { ended, store }: BackupReport & { readonly store: string | undefined },
): Promise<CheckResult> {
  try {
    const newest = await findNewestBackup(settings)
    if (newest === undefined) return warning('backups: there is none yet')
    const text = `backups: this store has made none yet. ${settings['service.backup.target']} has one of ${newest.created}`
    if (newest.store === undefined || newest.store === store) return warning(text)
    return problem(
      `${text}, of another store, which was made on ${newest.store}. If that store was lost, stop the service, and mount its disk or restore it. Otherwise name another target`,
    )
  } catch (error) {
    if (!(error instanceof StartupError || error instanceof ServiceError)) throw error
    // The last attempt has failed for the same reason.
    if (ended && ended.problem !== null) return warning('backups: there is none yet')
    return problem(`backups: ${error.message}`)
  }
}

interface LostStore {
  /** Why there is no store that can be opened. */
  readonly reason: string
  /** What to do where there is a backup. */
  readonly cure: string
}

async function checkLostStore(settings: BackupSettings, { reason, cure }: LostStore): Promise<CheckResult[]> {
  try {
    const newest = (await findNewestBackup(settings))?.created
    if (newest === undefined) return [ok('backups: the service makes the first one after its start')]
    return [
      problem(`backups: ${reason}. There is a backup of ${newest} in ${settings['service.backup.target']}: ${cure}`),
    ]
  } catch (error) {
    if (error instanceof StartupError || error instanceof ServiceError) return [problem(`backups: ${error.message}`)]
    throw error
  }
}

const noStore = (settings: BackupSettings): LostStore => ({
  reason: `There is no store in ${dataPlace(settings, settings['service.data.folder'])}`,
  cure: 'mount the disk of the store, or restore the backup',
})

const damagedStore: LostStore = {
  reason: 'The database is damaged',
  cure: 'follow docs/how-to/troubleshooting.md#the-database-is-damaged',
}

/** Why the store is lost, or cannot be opened by this command; `undefined` before an upgrade. */
async function readReport(settings: BackupSettings, place: string) {
  try {
    return await readStore(settings, async database => {
      const schema = await schemaVersion(database)
      // A restore that had hardly begun leaves an empty database.
      if (schema === 0) return { lost: noStore(settings) }
      if (!(await isComplete(database))) return { closed: INCOMPLETE }
      if (schema < (backupSteps.at(-1)?.id ?? 0)) return undefined
      return { ...(await reportBackups(database, placeName(settings, place))), store: await timeOfStore(database) }
    })
  } catch (error) {
    if (error instanceof NoStore) return { lost: noStore(settings) }
    if (error instanceof StoreDamaged) return { lost: damagedStore }
    if (error instanceof StartupError || error instanceof ServiceError) return { closed: error.message }
    throw error
  }
}
