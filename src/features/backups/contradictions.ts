import { resolve } from 'node:path'
import { both, type Check } from '../../config/check.ts'
import type { backupSettings } from './settings.ts'

/** Contradictions between the settings of backups. */
export const backupContradictions: ReadonlyArray<Check<typeof backupSettings.rows>> = [
  both('service.backup.schedule', 'service.backup.target', 'scheduled backups need both a time and a place'),
  both(
    'service.backup.s3.access-key',
    'service.backup.s3.secret-key',
    'an access key needs its secret, and the other way round',
  ),
  {
    keys: ['service.backup.target', 'service.data.folder'],
    wrong: settings => isInside(settings['service.backup.target'], settings['service.data.folder']),
    message: 'backups in the data folder would be lost together with it',
  },
  {
    keys: ['service.backup.target', 'service.data.store'],
    wrong: settings => {
      const { 'service.backup.target': target, 'service.data.store': store } = settings
      if (target === undefined || store === 'folder') return false
      // Another server can have a bucket of the same name.
      return settings['service.backup.s3.endpoint'] === undefined && overlap(target, store)
    },
    message: 'backups and uploaded files in one place would be lost together, by the removal of old backups as well',
  },
]

function isInside(place: string | undefined, folder: string): boolean {
  if (place === undefined || place.startsWith('s3://')) return false
  return `${resolve(place)}/`.startsWith(`${resolve(folder)}/`)
}

const overlap = (one: string, other: string): boolean =>
  `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`)
