import { backUp } from '../backup/backup.ts'
import { requireBackupFolder } from '../backup/backup-folder.ts'
import { StartupError } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import { openBlobs, openDatabase } from '../assembly/stores.ts'
import type { Database } from '../stores/database.ts'
import { lockFolder } from '../stores/sqlite/folder-lock.ts'
import { schemaVersion } from '../stores/migrations.ts'
import { schema } from '../assembly/schema.ts'
import { version } from '../assembly/version.ts'
import { type Command, UsageError } from './command.ts'
import { printCopied } from './copied.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

export const backup: Command = {
  name: 'backup',
  usage: `FOLDER ${settingsUsage}`,
  summary: 'Copies the store as it is at this instant, also while the service runs.',
  async run([folder, ...args]) {
    if (folder === undefined || folder.startsWith('-')) throw new UsageError('Say where the backup is to be.')
    const { settings } = readSettings(args).loaded
    const database = await openDatabase(settings, realSystem)
    try {
      await requireCurrent(database)
      const blobs = await openBlobs(settings)
      await requireBackupFolder(folder)
      const lock = await lockFolder(folder)
      try {
        const copied = await backUp({ database, blobs, system: realSystem, program: version }, folder)
        return printCopied(`The backup is in ${folder}`, copied)
      } finally {
        await lock.release()
        await blobs.close()
      }
    } finally {
      await database.close()
    }
  },
}

/** @throws {StartupError} when a store has not taken all steps of the schema yet: nobody but the service changes it. */
export async function requireCurrent(database: Database): Promise<void> {
  if ((await schemaVersion(database)) === schema.at(-1)?.id) return
  throw new StartupError('Another version of Stowage has been at work on this store: start this one on it once.')
}
