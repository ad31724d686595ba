import { join, resolve } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { realSystem } from '../../base/system.ts'
import { readStore } from '../../core/open-store.ts'
import { ownBackups } from './acceptance.ts'
import { openBackupTarget, reasonOf } from './backup-target.ts'
import type { ProofResult } from './backup-runs.ts'
import { Pace } from './pace.ts'
import { withPlaceErrors } from './place-errors.ts'
import { proveBackup } from './prove.ts'
import { prune } from './prune.ts'
import type { ProofTask } from './scheduled-backups.ts'

// A thread that proves one backup, slowly and with its own connections, so that requests do not notice it.
const { settings, place, created, service, layout, mayPrune } = workerData as ProofTask

const stopping = new AbortController()
parentPort?.on('message', () => stopping.abort(new Error('the service stops')))

async function prove(): Promise<ProofResult> {
  const target = await openBackupTarget(settings, place)
  try {
    return await readStore(settings, async store => {
      const scratch = join(resolve(settings['service.data.folder']), 'backup-proof')
      const pace = new Pace(stopping.signal)
      const { problems, ...proof } = await proveBackup({
        target,
        created,
        now: realSystem.now(),
        layout,
        store,
        scratch,
        pace,
      })
      if (problems.length > 0) return { ...proof, problem: problems.join(' ') }
      // The reason for keeping older backups was reported when the backup was made.
      if (!mayPrune) return { ...proof, problem: null }
      const failure = await prune(target, {
        service,
        own: await ownBackups(store),
        keep: settings['service.backup.keep'],
        now: realSystem.now(),
      }).then(
        () => null,
        (error: unknown) => `The backup was proven, but older ones could not be removed: ${reasonOf(error, place)}`,
      )
      return { ...proof, problem: failure }
    })
  } finally {
    await target.close()
  }
}

try {
  parentPort?.postMessage(await withPlaceErrors(place, prove()))
} catch (error) {
  parentPort?.postMessage({ failure: reasonOf(error, place) })
} finally {
  parentPort?.close()
}
