import { backUp, verifyBackup } from '../backup/backup.ts'
import { requireBackupFolder } from '../backup/backup-folder.ts'
import { realSystem } from '../base/system.ts'
import { factorKeyFile } from '../assembly/factors.ts'
import { openBlobs, openDatabase, schema } from '../assembly/stores.ts'
import { lockFolder } from '../stores/sqlite/folder-lock.ts'
import { requireCurrent } from '../stores/migrations.ts'
import { version } from '../assembly/version.ts'
import { type Command, print, UsageError } from './command.ts'
import { count, printCopied, showProgress } from './copied.ts'
import { readSettings, settingsUsage } from './settings-options.ts'

export const backup: Command = {
  name: 'backup',
  usage: `FOLDER [--without-keys] ${settingsUsage}\n       backup verify FOLDER`,
  summary: 'Copies the store as it is at this instant, also while the service runs; or checks an existing backup.',
  async run([folder, ...args]) {
    if (folder === 'verify') return await verify(args)
    if (folder === undefined || folder.startsWith('-')) throw new UsageError('Name the folder for the backup.')
    const { loaded, has } = readSettings(args, ['without-keys'])
    const { settings } = loaded
    const keyFile = factorKeyFile(settings)
    const isOwnKey = settings['service.auth.second-factor.key-file'] === undefined && !has('without-keys')
    const database = await openDatabase(settings, realSystem)
    try {
      await requireCurrent(database, schema)
      const blobs = await openBlobs(settings)
      await requireBackupFolder(folder)
      const lock = await lockFolder(folder)
      try {
        const store = { database, blobs, system: realSystem, program: version, progress: showProgress() }
        const copied = await backUp({ ...store, keyFile: isOwnKey ? keyFile : undefined }, folder)
        if (keyFile === undefined || !isOwnKey) {
          const place = keyFile ?? 'service.auth.token.key-file or SERVICE_AUTH_TOKEN_KEY'
          print(`Not in the backup: the keys that seal the secrets of authenticator apps (${place}).`)
        }
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

async function verify([folder, ...rest]: readonly string[]): Promise<number> {
  if (folder === undefined || folder.startsWith('-') || rest.length > 0) throw new UsageError('Name one backup folder.')
  const { manifest, checked } = await verifyBackup(folder, schema, showProgress())
  for (const { context, entry, blob } of checked.damaged) {
    print(`damaged in the backup: the bytes of ${context}/${entry} (blob ${blob})`)
  }
  for (const blob of manifest.damaged) print(`damaged in the store already when the backup was made: blob ${blob}`)
  const { files, bytes, damaged } = checked
  print(
    `The backup of ${manifest.created}: ${count(files, 'file')} with ${count(bytes, 'byte')} checked, ${damaged.length} damaged.`,
  )
  return damaged.length === 0 ? 0 : 1
}
