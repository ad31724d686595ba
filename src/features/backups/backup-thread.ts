import { resolve } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { ownBackups } from './acceptance.ts'
import { encryptionTo } from './cipher.ts'
import { listGenerations } from './generations.ts'
import { makeGeneration } from './make-generation.ts'
import { manifestKey } from './manifest-key.ts'
import { withPlaceErrors } from './place-errors.ts'
import { tellGone } from './remarks.ts'
import { prune, whyKeepAll } from './prune.ts'
import { realSystem } from '../../base/system.ts'
import type { BackupAnswer, BackupTask } from './scheduled-backups.ts'
import { openBackupTarget, reasonOf } from './backup-target.ts'
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
    // Otherwise the backups begin anew unnoticed.
    const text = tellGone(target, await listGenerations(target), last)
    const gone = text === undefined ? [] : [text]
    const database = await openDatabase(settings, realSystem)
    try {
      const blobs = await openBlobs(settings)
      try {
        const spool = resolve(settings['service.data.folder'], 'backup-rows')
        const signing = await manifestKey(database, realSystem)
        const own = await ownBackups(database)
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
        let [repaired, replaced] = [0, 0]
        const { files, damaged } = await makeGeneration(
          {
            ...store,
            recipients,
            encrypt,
            signal: stopping.signal,
            onRewritten: isRepaired => void (isRepaired ? repaired++ : replaced++),
          },
          target,
        )
        const decay = [
          ...(repaired === 0
            ? []
            : [`${damagedEarlier(repaired)} and ${repaired === 1 ? 'was' : 'were'} written again.`]),
          ...(replaced === 0
            ? []
            : [
                `${damagedEarlier(replaced)}: this backup has ${replaced === 1 ? 'it' : 'them'} whole, but the earlier ones stay damaged.`,
              ]),
          ...(repaired + replaced === 0 ? [] : ['Check this disk or bucket.']),
        ]
        const keep = settings['service.backup.keep']
        // With proofs, older backups are removed only after the new backup has been proven.
        const removed = settings['service.backup.prove']
          ? whyKeepAll(target)
          : prune(target, { service, own, keep, now: created })
        const old = await removed.then(
          kept => (kept === undefined ? [] : [`All older backups are kept, because ${kept}.`]),
          (error: Error) => [`Old ones could not be removed: ${error.message}`],
        )
        return { files: files.count, bytes: files.bytes, damaged: [...damaged], old: [...gone, ...decay, ...old] }
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

const damagedEarlier = (files: number): string =>
  `${count(files, 'file')} of earlier backups ${files === 1 ? 'was' : 'were'} damaged in ${place}`

try {
  parentPort?.postMessage(await withPlaceErrors(place, makeBackup()))
} catch (error) {
  parentPort?.postMessage({ failure: reasonOf(error, place) })
} finally {
  parentPort?.close()
}
