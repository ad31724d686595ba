import { backUp, verifyBackup } from './backup.ts'
import { readManifest, requireBackupFolder } from './backup-folder.ts'
import { StartupError } from '../../base/errors.ts'
import { tellLost } from './lost-files.ts'
import { realSystem } from '../../base/system.ts'
import { isoTime } from '../../base/times.ts'
import { factorKeyFile, ownFactorKeyFile } from '../../core/factor-key-file.ts'
import {
  type CheckedGeneration,
  describeFile,
  listGenerations,
  notOfFuture,
  ofFuture,
  pickGeneration,
  verifyGeneration,
} from './generations.ts'
import { doubtAbout, findManifestKey, isSuspect, manifestKey } from './manifest-key.ts'
import { withPlaceErrors } from './place-errors.ts'
import { accept as acceptNewest, type Accepted, ownBackups } from './acceptance.ts'
import { forgetGone } from './backup-runs.ts'
import { placeName } from './backup-target.ts'
import { whyKeepAll } from './prune.ts'
import { lastGood, tellLastGood } from './last-good.ts'
import { readMemory } from './memory.ts'
import { futureInShort, remarksOn, tellGone, tellNotRemembered, tellUnreadable } from './remarks.ts'
import { withBackupSettings } from './settings.ts'
import { openBlobs, openDatabase } from '../../core/open-store.ts'
import { lockFolder } from '../../stores/sqlite/folder-lock.ts'
import { requireUsableStore } from '../../backup/store-copy.ts'
import { isScheduled, requireSeveral, withTarget } from './backup-place.ts'
import {
  type Command,
  parseArguments,
  print,
  type Program,
  settingsOptions,
  settingsUsage,
  UsageError,
} from '../../core/command.ts'
import { count, printCopied, showProgress } from '../../core/copied.ts'

export const backupCommand = (program: Program): Command => ({
  name: 'backup',
  usage:
    `FOLDER [--without-keys] [--replace] ${settingsUsage}\n       backup list PLACE ${settingsUsage}` +
    `\n       backup verify PLACE [--at TIME] ${settingsUsage}\n       backup accept PLACE ${settingsUsage}`,
  summary:
    'Copies the store as it is at this instant, also while the service runs; or lists, checks or accepts existing backups.',
  async run([folder, ...args]) {
    if (folder === 'verify') return await verify(program, args)
    if (folder === 'list') return await list(program, args)
    if (folder === 'accept') return await accept(program, args)
    if (folder === undefined || folder.startsWith('-')) throw new UsageError('Name the folder for the backup.')
    const options = { ...settingsOptions, 'without-keys': { type: 'boolean' }, replace: { type: 'boolean' } } as const
    const { config, set, replace = false, 'without-keys': lacksKeys } = parseArguments(args, options, false).values
    const settings = program.settingsFrom({ config, set })
    const keyFile = lacksKeys ? undefined : ownFactorKeyFile(settings)
    const { layout, version } = program
    const database = await openDatabase(settings, realSystem)
    try {
      await requireUsableStore(database, layout.steps)
      const blobs = await openBlobs(settings)
      await requireBackupFolder(folder)
      const lock = await lockFolder(folder, 'backup folder')
      try {
        const store = { database, blobs, layout, system: realSystem, program: version, progress: showProgress() }
        const copied = await backUp({ ...store, keyFile, replaces: replace }, folder)
        if (keyFile === undefined) {
          const place = factorKeyFile(settings) ?? 'service.auth.token.key-file or SERVICE_AUTH_TOKEN_KEY'
          print(`Not in the backup: the keys that seal the secrets of authenticator apps (${place}).`)
        }
        const status = printCopied(`The backup is in ${folder}`, copied)
        if (copied.lost === 0) return status
        print(tellLost(copied.lost, folder))
        return 1
      } finally {
        await lock.release()
        await blobs.close()
      }
    } finally {
      await database.close()
    }
  },
})

/** The place and the options of a command about existing backups. @throws {UsageError} */
function readPlace({ settingsFrom }: Program, args: readonly string[]) {
  const parsed = parseArguments(args, { ...settingsOptions, at: { type: 'string' } } as const)
  const [place, ...more] = parsed.positionals
  if (place === undefined || more.length > 0) throw new UsageError('Name one place of backups.')
  const { config, set, at } = parsed.values
  return { place, at, settings: withBackupSettings(settingsFrom({ config, set })) }
}

async function list(program: Program, args: readonly string[]): Promise<number> {
  const { place, settings } = readPlace(program, args)
  // Checked before the folder is opened, because opening a folder as a place of scheduled backups turns it into one.
  if (!(await isScheduled(place))) return await listOne(place)
  return await withTarget(settings, place, async target => {
    const listed = await listGenerations(target)
    const { generations, unreadable } = listed
    const memory = await readMemory(settings, place)
    const now = realSystem.now()
    const remarks = remarksOn(target, generations, memory, now)
    for (const { generation } of generations) {
      const { created, files, recipients, program, service } = generation
      const kind = recipients.length > 0 ? 'encrypted' : 'not encrypted'
      const facts = `${created}  ${count(files.count, 'file')}, ${count(files.bytes, 'byte')}, ${kind}, by ${program} at ${service}`
      const { wrong = [], notes = [] } = remarks.get(generation) ?? {}
      print([facts, ...wrong, ...notes].join('; '))
    }
    for (const key of unreadable) print(tellUnreadable(target, key))
    if (generations.length === 0) throw noBackup(place)
    const gone = tellGone(target, listed, memory)
    if (gone !== undefined) print(gone)
    const unknown = tellNotRemembered(target, notOfFuture(generations, now), memory.own)
    if (unknown !== undefined) print(unknown)
    print(tellLastGood(target, lastGood(generations, remarks), { generations, now }))
    return 0
  })
}

async function accept(program: Program, args: readonly string[]): Promise<number> {
  const { place, settings } = readPlace(program, args)
  if (!(await isScheduled(place))) throw new StartupError(`There are no backups of a schedule in ${place}.`)
  const database = await openDatabase(settings, realSystem)
  try {
    await requireUsableStore(database, program.layout.steps)
    const signing = await manifestKey(database, realSystem)
    const own = await ownBackups(database)
    return await withTarget(settings, place, async target => {
      const accepted = await acceptNewest(target, { system: realSystem, signing, own })
      const gone = await forgetGone(database, placeName(settings, place), realSystem.now())
      const reason = await whyKeepAll(target, realSystem.now())
      const still = reason === undefined ? undefined : `Older backups still stay, because ${reason}.`
      const sentences = [
        accepted && tellAccepted(accepted),
        gone === undefined ? undefined : `It is accepted that the backup of ${isoTime(gone)} is no longer in ${place}.`,
      ].filter(sentence => sentence !== undefined)
      if (sentences.length === 0) sentences.push(`There is nothing to accept in ${place}.`)
      else if (accepted && still === undefined) sentences.push('The next one removes older backups again.')
      print([...sentences, ...(still === undefined ? [] : [still])].join(' '))
      return 0
    })
  } finally {
    await database.close()
  }
}

function tellAccepted({ loss, others, larger }: Accepted): string {
  const newest = loss === undefined ? 'The newest backup' : `The newest backup, which ${loss},`
  const more =
    others === 0
      ? ''
      : `, and so ${others === 1 ? 'is' : 'are'} ${count(others, 'backup')} of other stores, or of this one before a restore`
  const last = larger.length === 0 ? [] : ['Restore from there what you miss, before the next backup.']
  return [`${newest} is accepted${more}.`, ...larger, ...last].join(' ')
}

/** Prints the one backup in a folder of a backup made by hand. */
async function listOne(place: string): Promise<number> {
  const { created, files, program } = await readManifest(place)
  print(`${created}  ${count(files.count, 'file')}, ${count(files.bytes, 'byte')}, not encrypted, by ${program}`)
  return 0
}

const noBackup = (place: string): StartupError => new StartupError(`There is no complete backup in ${place}.`)

async function verify(program: Program, args: readonly string[]): Promise<number> {
  const { place, at, settings } = readPlace(program, args)
  if (await isScheduled(place)) {
    const own = await findManifestKey(settings)
    return await withTarget(settings, place, async target => {
      const all = await listGenerations(target)
      const { generations, unreadable } = all
      const now = realSystem.now()
      const listed = pickGeneration(target, all, { at, now })
      const { generation } = listed
      // One of the unreadable backups may be newer than this one.
      if (at === undefined) for (const key of unreadable) print(tellUnreadable(target, key))
      if (at === undefined)
        for (const one of ofFuture(generations, now))
          print(`The backup of ${one.generation.created}: ${futureInShort(target, one)}.`)
      const doubt = doubtAbout(target, listed, own)
      if (doubt !== undefined) print(doubt)
      const checked = await verifyGeneration(target, generation, showProgress())
      const isChanged = isSuspect(generation, generations)
      const status = printChecked(generation, checked)
      return isChanged || (at === undefined && unreadable.length > 0) ? 1 : status
    })
  }
  requireSeveral(place, at)
  const { manifest, checked } = await withPlaceErrors(place, verifyBackup(place, program.layout, showProgress()))
  return printChecked(manifest, checked)
}

function printChecked(
  { created, files: { bytes } }: { readonly created: string; readonly files: { readonly bytes: number } },
  { files, damaged, damagedBefore }: CheckedGeneration,
): number {
  for (const file of damaged) print(`damaged in the backup: ${describeFile(file)}`)
  for (const file of damagedBefore)
    print(`damaged in the store already when the backup was made: ${describeFile(file)}`)
  const sum = `${count(files, 'file')} with ${count(bytes, 'byte')} checked, ${damaged.length} damaged`
  print(`The backup of ${created}: ${sum}.`)
  return damaged.length === 0 ? 0 : 1
}
