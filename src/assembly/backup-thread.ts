import { resolve } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { encryptionTo } from '../backup/cipher.ts'
import { makeGeneration, prune } from '../backup/make-generation.ts'
import { StoreUnavailable } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import type { BackupAnswer, BackupTask } from './backups.ts'
import { openBackupTarget } from './backup-target.ts'
import { ownFactorKeyFile } from './factors.ts'
import { openBlobs, openDatabase } from './stores.ts'

// A thread that makes one backup, with its own connections, so that requests do not wait for it.
const { settings, place, created, service, program } = workerData as BackupTask

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
        const keyFile = ownFactorKeyFile(settings)
        const spool = resolve(settings['service.data.folder'], 'backup-rows')
        const store = { database, blobs, system: realSystem, program, service, created, keyFile, spool }
        const { files, damaged } = await makeGeneration(
          { ...store, recipients, encrypt, signal: stopping.signal },
          target,
        )
        const keep = settings['service.backup.keep']
        const old = await prune(target, { service, keep, now: created }).then(
          () => undefined,
          (error: Error) => `The backup was made, but old ones could not be removed: ${error.message}`,
        )
        return { files: files.count, bytes: files.bytes, damaged: [...damaged], old }
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

/** A bucket says only in the cause what it refused; the files of the store may be in one, too. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof StoreUnavailable) || !(error.cause instanceof Error)) return error.message
  return `${place}, or the place of the files, cannot be used: ${error.cause.message}`
}

try {
  parentPort?.postMessage(await makeBackup())
} catch (error) {
  parentPort?.postMessage({ failure: reasonOf(error) })
} finally {
  parentPort?.close()
}
