import { notRemembered, othersToAccept } from './acceptance.ts'
import { INCOMPLETE, isComplete } from '../../backup/store-copy.ts'
import { type BackupReport, type BackupRun, backupSteps, type LastMade, reportBackups } from './backup-runs.ts'
import { nextTime } from '../../base/cron.ts'
import { NoStore, ServiceError, StartupError, StoreDamaged } from '../../base/errors.ts'
import { realSystem } from '../../base/system.ts'
import { isoTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { schemaVersion } from '../../stores/migrations.ts'
import { isScheduled, requireUsablePlace, withTarget } from './backup-place.ts'
import { isBucket, placeName, reasonOf } from './backup-target.ts'
import { type BackupTarget, type Generation, listGenerations, notOfFuture, ofFuture, pathsOf } from './generations.ts'
import { findLastGood } from './last-good.ts'
import { timeOfStore } from './loss.ts'
import { originOf } from './manifest-key.ts'
import { type Memory, readMemory } from './memory.ts'
import { expectedBy, isGone, tellGone } from './remarks.ts'
import { type CheckResult, ok, problem, warning } from '../../core/check-result.ts'
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
    return [ok('backups-off', 'backups: the service makes none (service.backup.schedule)')]
  const report = await readReport(settings, place)
  if (report && 'lost' in report) return await checkLostStore(settings, report.lost)
  if (report && 'closed' in report)
    return [warning('backups-unchecked', 'backups: not checked. {reason}', { reason: report.closed })]
  if (!report) return [firstAfterStart()]
  const { ended, made } = report
  const failure =
    ended && ended.problem !== null
      ? [problem('backup-failed', 'backups: the last one failed. {reason}', { reason: ended.problem })]
      : []
  const memory = await readMemory(settings, place)
  const { own } = memory
  const key = own.key === undefined ? [] : [ok('backup-key', 'backups: signed with the key {key}', { key: own.key })]
  if (!made) return [...failure, await describeNone(settings, report), ...key]
  const found = await checkPlace(settings, place, { made, memory, problem: ended?.problem ?? undefined })
  const due = nextTime(expression, made.started)
  const isOld = due !== undefined && due + TIMEOUT < realSystem.now()
  const proof = settings['service.backup.prove'] ? describeProof(report) : []
  return [...failure, ...found, describeLast(made, isOld), ...proof, ...key]
}

const firstAfterStart = (): CheckResult =>
  ok('backups-after-start', 'backups: the service makes the first one after its start')

function describeLast({ started, files }: BackupRun, isOld: boolean): CheckResult {
  const values = { made: isoTime(started), files: files ?? 0 }
  return isOld
    ? problem(
        'backup-overdue',
        'backups: the last one is of {made, time}, with {files, plural, one {# file} other {# files}}; a newer one is overdue',
        values,
      )
    : ok(
        'backup-made',
        'backups: the last one is of {made, time}, with {files, plural, one {# file} other {# files}}',
        values,
      )
}

interface LastBackup {
  readonly made: BackupRun
  readonly memory: Memory
  /** What went wrong at the last attempt, which is told already. */
  readonly problem: string | undefined
}

/** Whether this user can use the place of the backups, and what is wrong with those in it. */
async function checkPlace(settings: BackupSettings, place: string, last: LastBackup): Promise<CheckResult[]> {
  try {
    if (!isBucket(place)) await requireUsablePlace(place)
    // Opening an empty folder would make it a place of backups.
    if (!(await isScheduled(place))) return [describeGone(place, last.made)]
    return await withTarget(settings, place, target => checkTarget(target, last))
  } catch (error) {
    if (!(error instanceof StartupError || error instanceof ServiceError)) throw error
    return last.problem === undefined ? [unusable(reasonOf(error, place))] : []
  }
}

const describeGone = (place: string, last: LastMade): CheckResult =>
  problem('backup-gone', 'backups: The backup of {made, time} is no longer in {place}. Is its disk mounted?', {
    made: isoTime(expectedBy(last)),
    place,
  })

const describeNotRemembered = (place: string, { created, files }: Generation): CheckResult =>
  problem(
    'backup-not-remembered',
    'backups: A later backup of this store, of {made, time} with {files, plural, one {# file} other {# files}}, is in {place}, and this data folder does not remember it: the folder may be an old copy. Is its disk mounted? If the store has lost nothing, run `stowage backup accept {place}`',
    { made: created, files: files.count, place },
  )

const unusable = (reason: string): CheckResult => problem('backups-unusable', 'backups: {reason}', { reason })

async function checkTarget(target: BackupTarget, { made, memory, problem: told }: LastBackup): Promise<CheckResult[]> {
  const { own, problems } = memory
  const listed = await listGenerations(target)
  const { generations, unreadable } = listed
  const damaged = unreadable.map(key =>
    problem('backup-unreadable', 'backups: The manifest {path} is damaged, or of another version.', {
      path: target.pathOf('generations', key),
    }),
  )
  const changed = generations
    .filter(({ generation }) => originOf(generation, own.key) === 'wrong')
    .map(({ key, generation }) =>
      problem(
        'backup-changed',
        'backups: The manifest of the backup of {made, time} ({path}) was changed after it was signed.',
        { made: generation.created, path: target.pathOf('generations', key) },
      ),
    )
  const gone = tellGone(target, listed, { last: made, own })
  const isTold = gone !== undefined && told?.includes(gone) === true
  const isBack = made.gone !== null && !isGone(listed, made, own)
  const decayed = generations.filter(({ generation }) => problems.get(generation.created)?.isDamaged).length
  const now = realSystem.now()
  const past = notOfFuture(generations, now)
  const unknown = notRemembered(past, own)
  const others = othersToAccept(past, own).filter(listed => !unknown.includes(listed)).length
  const future = ofFuture(generations, now).map(({ key }) => key)
  return [
    ...damaged,
    ...changed,
    ...(gone === undefined || isTold ? [] : [describeGone(target.place, made)]),
    ...(future.length === 0
      ? []
      : [
          problem(
            'backups-of-future',
            'backups: {count, plural, one {# backup is} other {# backups are}} of the future: the clock of this machine says that it is {now, time}. Set the clock if it is wrong. If it was wrong before, give these backups up, and move out of their place: {paths}',
            { count: future.length, now: isoTime(now), paths: pathsOf(target, future) },
          ),
        ]),
    ...unknown.slice(0, 1).map(({ generation }) => describeNotRemembered(target.place, generation)),
    ...(isBack
      ? [
          warning(
            'backup-back',
            'backups: {place} has the backup of {made, time} again. Restart the service, which then makes one there',
            { place: target.place, made: isoTime(expectedBy(made)) },
          ),
        ]
      : []),
    ...(decayed === 0
      ? []
      : [
          warning(
            'backups-damaged',
            'backups: files in {count, plural, one {# earlier backup} other {# earlier backups}} are damaged. `stowage backup list {place}` names each such backup, and the command that names its files. Bring back such a file from a later backup',
            { count: decayed, place: target.place },
          ),
        ]),
    ...(others === 0
      ? []
      : [
          warning(
            'backups-of-others',
            'backups: {count, plural, one {# backup of another store, or of this one before a restore, stays} other {# backups of another store, or of this one before a restore, stay}}. If this store has lost nothing, run `stowage backup accept {place}`; if it has, restore the backup that `stowage backup list {place}` calls the last good one. If another service makes backups there, name another target for one of the two',
            { count: others, place: target.place },
          ),
        ]),
  ]
}

/** Whether the newest backup has been restored, and what that has shown. */
function describeProof({ made, checked, proven }: BackupReport): CheckResult[] {
  if (checked && checked.proof_problem !== null)
    return [
      problem('backup-proof-failed', 'backups: the last proof found something wrong. {reason}', {
        reason: checked.proof_problem,
      }),
    ]
  if (!proven || proven.proven === null) {
    const isOverdue = made !== undefined && (made.finished ?? made.started) + PROOF_TIMEOUT < realSystem.now()
    return [(isOverdue ? problem : ok)('backups-unproven', 'backups: none has been proven yet (service.backup.prove)')]
  }
  const { started, proven: time, restored_in: took, newest_change: newest, proof_note: note } = proven
  const values = { made: isoTime(started), proven: isoTime(time) }
  return [
    time + PROOF_TIMEOUT < realSystem.now()
      ? problem(
          'backup-proof-overdue',
          'backups: that of {made, time} was proven at {proven, time}; a newer proof is overdue',
          values,
        )
      : ok('backup-proven', 'backups: that of {made, time} was proven at {proven, time}', values),
    ...(took === null
      ? []
      : [ok('backup-restore', 'backups: a restore takes {seconds} s', { seconds: Math.ceil(took / 1000) })]),
    ...(newest === null
      ? []
      : [
          ok('backup-newest-change', 'backups: the last change in the proven one is of {changed, time}', {
            changed: isoTime(newest),
          }),
        ]),
    ...(note === null ? [] : [ok('backup-proof-note', 'backups: {reason}', { reason: note })]),
  ]
}

/** What the place of backups has, of which this store has made none. @param report with the time when the store was made */
async function describeNone(
  settings: BackupSettings,
  { ended, store }: BackupReport & { readonly store: string | undefined },
): Promise<CheckResult> {
  try {
    const found = await findLastGood(settings)
    if (!found) return noneYet()
    const { best } = found
    const values = { place: settings['service.backup.target'] ?? '', made: best.created }
    if (best.store === undefined || best.store === store)
      return warning(
        'backups-none-of-store',
        'backups: this store has made none yet. {place} has one of {made, time}',
        values,
      )
    return problem(
      'backups-of-lost-store',
      'backups: this store has made none yet. {place} has one of {made, time}, of another store, which was made on {store, time}. If you have restored it, the next backup follows by itself. If it was lost, stop the service, and mount its disk or restore it. Otherwise name another target',
      { ...values, store: best.store },
    )
  } catch (error) {
    if (!(error instanceof StartupError || error instanceof ServiceError)) throw error
    // The last attempt has failed for the same reason.
    if (ended && ended.problem !== null) return noneYet()
    return unusable(error.message)
  }
}

const noneYet = (): CheckResult => warning('backups-none', 'backups: there is none yet')

/** @param isDamaged whether the store is there, and cannot be opened */
async function checkLostStore(settings: BackupSettings, { isDamaged }: LostStore): Promise<CheckResult[]> {
  try {
    const found = await findLastGood(settings)
    if (!found) return [firstAfterStart()]
    const values = { made: found.best.created, place: settings['service.backup.target'] ?? '' }
    return [
      isDamaged
        ? problem(
            'backup-of-damaged-store',
            'backups: The database is damaged. There is a backup of {made, time} in {place}: follow {page}',
            { ...values, page: StoreDamaged.page },
          )
        : problem(
            'backup-without-store',
            'backups: There is no store in {folder}. There is a backup of {made, time} in {place}: mount the disk of the store, or restore the backup',
            { ...values, folder: dataPlace(settings, settings['service.data.folder']) },
          ),
    ]
  } catch (error) {
    if (error instanceof StartupError || error instanceof ServiceError) return [unusable(error.message)]
    throw error
  }
}

interface LostStore {
  readonly isDamaged: boolean
}

/** Why the store is lost, or cannot be opened by this command; `undefined` before an upgrade. */
async function readReport(settings: BackupSettings, place: string) {
  try {
    return await readStore(settings, async database => {
      const schema = await schemaVersion(database)
      // A restore that had hardly begun leaves an empty database.
      if (schema === 0) return { lost: { isDamaged: false } }
      if (!(await isComplete(database))) return { closed: INCOMPLETE }
      if (schema < (backupSteps.at(-1)?.id ?? 0)) return undefined
      const report = await reportBackups(database, placeName(settings, place), realSystem.now())
      return { ...report, store: await timeOfStore(database) }
    })
  } catch (error) {
    if (error instanceof NoStore) return { lost: { isDamaged: false } }
    if (error instanceof StoreDamaged) return { lost: { isDamaged: true } }
    if (error instanceof StartupError || error instanceof ServiceError) return { closed: error.message }
    throw error
  }
}
