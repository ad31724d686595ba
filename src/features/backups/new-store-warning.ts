import type { Log } from '../../base/log.ts'
import { findNewestBackup } from './backup-place.ts'
import type { BackupSettings } from './settings.ts'

/** Says that a start has made a new store although there is a backup: the data folder may be lost, or its disk not mounted. */
export async function warnOfNewStore(settings: BackupSettings, log: Log, store: string): Promise<void> {
  const place = settings['service.backup.target']
  try {
    const newest = (await findNewestBackup(settings))?.created
    if (newest === undefined) return
    log.warn(
      { store, place, newest },
      `a new store was made in ${store}, but there is a backup of ${newest} in ${place}. ` +
        'If the data are lost or their disk is not mounted, stop the service, and mount or restore them',
    )
  } catch (err) {
    log.warn({ err, store, place }, `a new store was made in ${store}, and whether ${place} has backups is unknown`)
  }
}
