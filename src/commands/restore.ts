import { factorKeyFile } from '../assembly/factors.ts'
import type { Settings } from '../config/settings.ts'
import { addKeys, readPrivate } from '../stores/key-file.ts'
import { print, type Command, UsageError } from './command.ts'
import { realSystem } from '../base/system.ts'
import { openBackup } from '../backup/backup.ts'
import { keysIn } from '../backup/backup-folder.ts'
import { fillStore } from '../backup/store-copy.ts'
import { openStores, schema } from '../assembly/stores.ts'
import { printCopied, showProgress } from './copied.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

/** Without the keys in the file at `from`, users could not sign in with their authenticator apps. */
export async function restoreKeys(from: string, settings: Settings): Promise<void> {
  const to = factorKeyFile(settings)
  if (to !== undefined) await addKeys(await readPrivate(from), to)
  else print(`Add the keys in ${from} to those of sessions: they seal the secrets of authenticator apps.`)
}

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
      const copied = await fillStore(source, stores, schema, {
        progress: showProgress(),
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
