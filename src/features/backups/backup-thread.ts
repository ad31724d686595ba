import { resolve } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { ownBackups } from './acceptance.ts'
import { encryptionTo } from './cipher.ts'
import { rememberDamage } from './backup-runs.ts'
import { type BackupTarget, listGenerations, notOfFuture, storedFiles, timeOf } from './generations.ts'
import { makeGeneration, type Outcome } from './make-generation.ts'
import { manifestKey, originOf } from './manifest-key.ts'
import { withPlaceErrors } from './place-errors.ts'
import { tellGone, tellNotRemembered } from './remarks.ts'
import { prune, whyKeepAll } from './prune.ts'
import { realSystem } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { BackupAnswer, BackupTask } from './scheduled-backups.ts'
import { openBackupTarget, placeName, reasonOf } from './backup-target.ts'
import { count } from '../../core/copied.ts'
import { openBlobs, openDatabase } from '../../core/open-store.ts'

// A thread that makes one backup, with its own connections, so that requests do not wait for it.
const { settings, place, created, last, service, program, tables, keyFile } = workerData as BackupTask

const stopping = new AbortController()
parentPort?.on('message', () => stopping.abort(new Error('the service stops')))

async function makeBackup(): Promise<BackupAnswer> {
  const recipients = settings['service.backup.encrypt-to.<n>']
  const encrypt = await encryptionTo(recipients)
  const target = await openBackupTarget(settings, place)
  try {
    const database = await openDatabase(settings, realSystem)
    try {
      const blobs = await openBlobs(settings)
      try {
        const spool = resolve(settings['service.data.folder'], 'backup-rows')
        const signing = await manifestKey(database, realSystem)
        const own = await ownBackups(database)
        // Otherwise the backups begin anew unnoticed.
        const before = await listGenerations(target)
        const gone = tellGone(target, before, { last, own })
        const unknown = tellNotRemembered(target, notOfFuture(before.generations, created), own)
        const store = {
          database,
          blobs,
          signing,
          own,
          tables,
          system: realSystem,
          program,
          service,
          created,
          keyFile,
          spool,
        }
        const outcomes = new Map<string, Outcome>()
        let lost = 0
        const { files, damaged } = await makeGeneration(
          {
            ...store,
            recipients,
            encrypt,
            signal: stopping.signal,
            onDamaged: (blob, outcome) => outcomes.set(blob, outcome),
            onLost: files => void (lost = files),
          },
          target,
        )
        const unmended = new Set([...outcomes].filter(([, outcome]) => outcome !== 'mended').map(([blob]) => blob))
        const times = unmended.size === 0 ? [] : await timesOfBackupsWith(unmended, target, signing.name)
        await rememberDamage(database, placeName(settings, place), { times, now: realSystem.now() })
        const keep = settings['service.backup.keep']
        // With proofs, older backups are removed only after the new backup has been proven.
        const removed =
          settings['service.backup.prove'] || gone !== undefined
            ? whyKeepAll(target, created)
            : prune(target, { service, own, keep, now: created })
        const old = await removed.then(
          kept => (kept === undefined ? [] : [`All older backups are kept, because ${kept}.`]),
          (error: Error) => [`Old ones could not be removed: ${error.message}`],
        )
        return {
          files: files.count,
          bytes: files.bytes,
          damaged: [...damaged],
          lost,
          old: [
            ...[gone, unknown].filter(text => text !== undefined),
            ...describeDamage([...outcomes.values()]),
            ...old,
          ],
          gone: gone === undefined || !last ? null : (last.gone ?? last.started),
        }
      } finally {
        await blobs.close()
      }
    } finally {
      await database.close()
    }
  } finally {
    await target.close()
  }
}

/** The earlier backups of this service that need one of these blobs. */
async function timesOfBackupsWith(blobs: ReadonlySet<string>, target: BackupTarget, own: string) {
  const times: Milliseconds[] = []
  for (const listed of (await listGenerations(target)).generations) {
    if (timeOf(listed) >= created || originOf(listed.generation, own) !== 'own') continue
    const stored = await storedFiles(target, listed.generation)
    if ([...stored.values()].some(blob => blobs.has(blob))) times.push(timeOf(listed))
  }
  return times
}

const ends: Readonly<Record<Outcome, (isOne: boolean) => string>> = {
  mended: isOne => ` and ${isOne ? 'was' : 'were'} written again.`,
  replaced: isOne => `: this backup has ${isOne ? 'it' : 'them'} whole, but the earlier ones stay damaged.`,
  lost: isOne => `, and the store has lost ${isOne ? 'it' : 'them'}, too.`,
}

/** What was found damaged in earlier backups, each a sentence. */
function describeDamage(outcomes: readonly Outcome[]): string[] {
  const sentences = (Object.keys(ends) as Outcome[]).flatMap(outcome => {
    const files = outcomes.filter(one => one === outcome).length
    const isOne = files === 1
    const what = `${count(files, 'file')} of earlier backups ${isOne ? 'was' : 'were'} damaged in ${place}`
    return files === 0 ? [] : [`${what}${ends[outcome](isOne)}`]
  })
  return sentences.length === 0 ? [] : [...sentences, 'Check this disk or bucket.']
}

try {
  parentPort?.postMessage(await withPlaceErrors(place, makeBackup()))
} catch (error) {
  parentPort?.postMessage({ failure: reasonOf(error, place) })
} finally {
  parentPort?.close()
}
