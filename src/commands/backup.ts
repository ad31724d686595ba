import { backUp, verifyBackup } from '../backup/backup.ts'
import { readManifest, requireBackupFolder } from '../backup/backup-folder.ts'
import { StartupError } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import { factorKeyFile, ownFactorKeyFile } from '../assembly/factors.ts'
import { findGeneration, listGenerations, verifyGeneration } from '../backup/generations.ts'
import { openBlobs, openDatabase, schema } from '../assembly/stores.ts'
import { lockFolder } from '../stores/sqlite/folder-lock.ts'
import { requireCurrent } from '../stores/migrations.ts'
import { version } from '../assembly/version.ts'
import { isScheduled, withTarget } from '../assembly/backup-place.ts'
import { type Command, parseArguments, print, UsageError } from './command.ts'
import { count, printCopied, showProgress } from './copied.ts'
import { readSettings, settingsFrom, settingsUsage } from './settings-options.ts'

export const backup: Command = {
  name: 'backup',
  usage:
    `FOLDER [--without-keys] ${settingsUsage}\n       backup list PLACE ${settingsUsage}` +
    `\n       backup verify PLACE [--at TIME] ${settingsUsage}`,
  summary:
    'Copies the store as it is at this instant, also while the service runs; or lists or checks existing backups.',
  async run([folder, ...args]) {
    if (folder === 'verify') return await verify(args)
    if (folder === 'list') return await list(args)
    if (folder === undefined || folder.startsWith('-')) throw new UsageError('Name the folder for the backup.')
    const { loaded, has } = readSettings(args, ['without-keys'])
    const { settings } = loaded
    const keyFile = has('without-keys') ? undefined : ownFactorKeyFile(settings)
    const database = await openDatabase(settings, realSystem)
    try {
      await requireCurrent(database, schema)
      const blobs = await openBlobs(settings)
      await requireBackupFolder(folder)
      const lock = await lockFolder(folder)
      try {
        const store = { database, blobs, system: realSystem, program: version, progress: showProgress() }
        const copied = await backUp({ ...store, keyFile }, folder)
        if (keyFile === undefined) {
          const place = factorKeyFile(settings) ?? 'service.auth.token.key-file or SERVICE_AUTH_TOKEN_KEY'
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

/** The place and the options of a command about existing backups. @throws {UsageError} */
function readPlace(args: readonly string[]) {
  const options = {
    config: { type: 'string' },
    set: { type: 'string', multiple: true },
    at: { type: 'string' },
  } as const
  const parsed = parseArguments(args, options)
  const [place, ...more] = parsed.positionals
  if (place === undefined || more.length > 0) throw new UsageError('Name one place of backups.')
  const { config, set, at } = parsed.values
  return { place, at, settings: settingsFrom({ config, set }).loaded.settings }
}

async function list(args: readonly string[]): Promise<number> {
  const { place, settings } = readPlace(args)
  // Opening a folder makes it such a place.
  if (!(await isScheduled(place))) return await listOne(place)
  return await withTarget(settings, place, async target => {
    const { generations, unreadable } = await listGenerations(target)
    for (const { generation } of generations) {
      const { created, files, recipients, program, service } = generation
      const kind = recipients.length > 0 ? 'encrypted' : 'not encrypted'
      print(
        `${created}  ${count(files.count, 'file')}, ${count(files.bytes, 'byte')}, ${kind}, by ${program} at ${service}`,
      )
    }
    if (unreadable > 0) print(`${count(unreadable, 'manifest')} that this version cannot read.`)
    return generations.length === 0 ? printNone(place) : 0
  })
}

/** A backup that was made by hand, which is all that its folder holds. */
async function listOne(place: string): Promise<number> {
  try {
    const { created, files, program } = await readManifest(place)
    print(`${created}  ${count(files.count, 'file')}, ${count(files.bytes, 'byte')}, not encrypted, by ${program}`)
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    print(error.message)
  }
  return 0
}

function printNone(place: string): number {
  print(`There is no complete backup in ${place}.`)
  return 0
}

async function verify(args: readonly string[]): Promise<number> {
  const { place, at, settings } = readPlace(args)
  if (await isScheduled(place)) {
    return await withTarget(settings, place, async target => {
      const generation = await findGeneration(target, at)
      const { files, damaged } = await verifyGeneration(target, generation, showProgress())
      for (const blob of damaged) print(`damaged in the backup: the bytes of blob ${blob}`)
      return printChecked(generation, files, damaged.length)
    })
  }
  const { manifest, checked } = await verifyBackup(place, schema, showProgress())
  for (const { context, entry, blob } of checked.damaged) {
    print(`damaged in the backup: the bytes of ${context}/${entry} (blob ${blob})`)
  }
  return printChecked(manifest, checked.files, checked.damaged.length)
}

interface Checked {
  readonly created: string
  readonly files: { readonly bytes: number }
  readonly damaged: readonly string[]
}

function printChecked({ created, files: { bytes }, damaged }: Checked, files: number, bad: number): number {
  for (const blob of damaged) print(`damaged in the store already when the backup was made: blob ${blob}`)
  print(`The backup of ${created}: ${count(files, 'file')} with ${count(bytes, 'byte')} checked, ${bad} damaged.`)
  return bad === 0 ? 0 : 1
}
