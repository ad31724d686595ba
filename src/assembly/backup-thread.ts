import { resolve } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { encryptionTo } from '../backup/cipher.ts'
import { makeGeneration, prune } from '../backup/make-generation.ts'
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

try {
  parentPort?.postMessage(await makeBackup())
} catch (error) {
  parentPort?.postMessage({ failure: error instanceof Error ? error.message : String(error) })
} finally {
  parentPort?.close()
}
