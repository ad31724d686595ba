import { realSystem } from '../base/system.ts'
import { openBackup } from '../backup/backup.ts'
import { keysIn } from '../backup/backup-folder.ts'
import { fillStore } from '../backup/store-copy.ts'
import { restoreKeys } from './restore-keys.ts'
import { openStores, schema } from '../assembly/stores.ts'
import { type Command, printError, UsageError } from './command.ts'
import { counter, printCopied, progress, withProgress } from './copied.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

export const restore: Command = {
  name: 'restore',
  usage: `FOLDER ${settingsUsage}`,
  summary: 'Fills an empty store from a backup; the same again goes on where it was cut off.',
  async run([folder, ...args]) {
    if (folder === undefined || folder.startsWith('-')) throw new UsageError('Say where the backup is.')
    const { settings } = readSettings(args).loaded
    const { manifest, source } = await openBackup(folder, schema)
    const stores = await openStores(settings, realSystem, { bare: true, isExclusive: true })
    try {
      const say = progress(realSystem, printError)
      const copied = await fillStore(withProgress(source, say), stores, schema, {
        onFile: counter('files verified', say),
        finish: async () => {
          if (manifest.keys) await restoreKeys(keysIn(folder, manifest.folder), settings)
        },
      })
      return printCopied(`The store is as it was on ${manifest.created}`, copied)
    } finally {
      await stores.close()
    }
  },
}
