import { readdir, readFile } from 'node:fs/promises'
import { isBucket, openBackupTarget } from './backup-target.ts'
import { schema } from './stores.ts'
import { openBackup } from '../backup/backup.ts'
import { keysIn } from '../backup/backup-folder.ts'
import { decryptionWith } from '../backup/cipher.ts'
import { type BackupTarget, findGeneration, openGeneration } from '../backup/generations.ts'
import type { Source } from '../backup/store-copy.ts'
import { StartupError } from '../base/errors.ts'
import type { Settings } from '../config/settings.ts'
import { isMissing, readPrivate } from '../stores/key-file.ts'

/** Whether the service has made the backups in this place itself; otherwise it is the folder of one backup. */
export async function isScheduled(place: string): Promise<boolean> {
  if (isBucket(place)) return true
  const names = await readdir(place).catch((): string[] => [])
  return names.includes('generations') && !names.includes('manifest.json')
}

export async function withTarget<T>(
  settings: Settings,
  place: string,
  work: (target: BackupTarget) => Promise<T>,
): Promise<T> {
  const target = await openBackupTarget(settings, place)
  try {
    return await work(target)
  } finally {
    await target.close()
  }
}

interface ChosenBackup {
  /** Its time; by default the newest. */
  readonly at: string | undefined
  /** A file with secret keys of age. */
  readonly identity: string | undefined
}

export interface OpenedBackup {
  /** The time of the snapshot, in ISO 8601. */
  readonly created: string
  readonly source: Source
  /** The keys that seal the secrets of authenticator apps. */
  readonly keys: () => Promise<string | undefined>
}

/** Opens a backup of either kind. @throws {StartupError} when it is incomplete, damaged or encrypted to another key */
export async function withBackup<T>(
  settings: Settings,
  place: string,
  { at, identity }: ChosenBackup,
  work: (backup: OpenedBackup) => Promise<T>,
): Promise<T> {
  if (!(await isScheduled(place))) {
    if (at !== undefined) throw new StartupError(`${place} is the folder of one backup: leave --at out.`)
    const { manifest, source } = await openBackup(place, schema)
    const keys = async () => (manifest.keys ? await readPrivate(keysIn(place, manifest.folder)) : undefined)
    return await work({ created: manifest.created, source, keys })
  }
  return await withTarget(settings, place, async target => {
    const generation = await findGeneration(target, at)
    const isEncrypted = generation.recipients.length > 0
    if (isEncrypted && identity === undefined) {
      const names = generation.recipients.join(', ')
      throw new StartupError(`The backup is encrypted to ${names}: name the file of the secret key with --identity.`)
    }
    const decrypt = isEncrypted && identity !== undefined ? await readIdentity(identity) : undefined
    const source = await openGeneration(target, generation, { schema, decrypt })
    return await work({ created: generation.created, source, keys: source.keys })
  })
}

async function readIdentity(file: string) {
  if (await isMissing(file)) throw new StartupError(`There is no file ${file}.`)
  return await decryptionWith(await readFile(file, 'utf8'), file)
}
