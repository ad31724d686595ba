import type { Log } from '../../base/log.ts'
import { findLastGood } from './last-good.ts'
import type { BackupSettings } from './settings.ts'

/** Says that a start has made a new store although there is a backup: the data folder may be lost, or its disk not mounted. */
export async function warnOfNewStore(settings: BackupSettings, log: Log, store: string): Promise<void> {
  const place = settings['service.backup.target']
  try {
    const found = await findLastGood(settings)
    if (!found) return
    log.warn(
      { store, place },
      `a new store was made in ${store}, but ${place} has backups. ` +
        `If the data are lost or their disk is not mounted, stop the service, and mount or restore them. ${found.text}`,
    )
  } catch (err) {
    log.warn({ err, store, place }, `a new store was made in ${store}, and whether ${place} has backups is unknown`)
  }
}
