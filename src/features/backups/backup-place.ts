import { access, constants, readdir, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isBucket, openBackupTarget } from './backup-target.ts'
import { openBackup } from './backup.ts'
import { keysIn } from './backup-folder.ts'
import { decryptionWith } from './cipher.ts'
import {
  type BackupTarget,
  futureLast,
  type ListedGeneration,
  listGenerations,
  lossesIn,
  pickGenerationToRestore,
} from './generations.ts'
import { type BackedUpKeys, BackupDamaged, isRestorable, openGeneration } from './open-generation.ts'
import { doubtAbout, findManifestKey, isSuspect } from './manifest-key.ts'
import { askForDisk, withPlaceErrors } from './place-errors.ts'
import type { Source } from '../../backup/store-copy.ts'
import type { Layout } from '../../backup/tables.ts'
import { StartupError } from '../../base/errors.ts'
import { realSystem } from '../../base/system.ts'
import { containsSecretKey } from '../../base/text.ts'
import { isMissing, readPrivate } from '../../stores/key-file.ts'
import type { BackupSettings } from './settings.ts'

/** There is no such folder. */
export class NoPlace extends StartupError {}

function whyUnreadable(place: string, cause: unknown): StartupError {
  if (cause instanceof StartupError) return cause
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT') return new NoPlace(askForDisk(place), { cause })
  const reason = code === 'ENOTDIR' ? 'a part of the path is a file, not a folder' : message
  return new StartupError(`The folder ${place} cannot be read: ${reason}.`, { cause })
}

/**
 * Whether the service has made the backups in this place itself; otherwise it is the folder of one backup.
 * @throws {StartupError} when there is no such folder, or this user may not read it
 */
export async function isScheduled(place: string): Promise<boolean> {
  if (isBucket(place)) return true
  const names = await withPlaceErrors(place, readdir(resolve(place))).catch((error: unknown): never => {
    throw whyUnreadable(place, error)
  })
  return names.includes('generations') && !names.includes('manifest.json')
}

/** @throws {StartupError} unless the folder of the backups is there, and this user may read and write it */
export async function requireUsablePlace(place: string): Promise<void> {
  const folder = resolve(place)
  const usable = access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  await withPlaceErrors(place, usable).catch((error: unknown): never => {
    throw whyUnreadable(place, error)
  })
}

export async function withTarget<T>(
  settings: BackupSettings,
  place: string,
  work: (target: BackupTarget) => Promise<T>,
): Promise<T> {
  return await withPlaceErrors(place, useTarget(settings, place, work))
}

async function useTarget<T>(
  settings: BackupSettings,
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
  /** The layout of this version. */
  readonly layout: Layout
  /** Its time; by default the newest. */
  readonly at: string | undefined
  /** A file with secret keys of age. */
  readonly identity: string | undefined
  /** Whether it may be a backup whose manifest was changed after it was signed. */
  readonly acceptsChanged: boolean
}

export interface OpenedBackup {
  /** The time of the snapshot, in ISO 8601. */
  readonly created: string
  readonly source: Source
  readonly keys: BackedUpKeys
  /** The reason why the manifest could not be verified, for people. */
  readonly doubt: string | undefined
}

/** The folder of one backup has no times to choose from. @throws {StartupError} */
export function requireSeveral(place: string, at: string | undefined): void {
  if (at !== undefined) throw new StartupError(`${place} is the folder of one backup: leave --at out.`)
}

/** Opens a backup of either kind. @throws {StartupError} when it is incomplete, damaged or encrypted to another key */
export async function withBackup<T>(
  settings: BackupSettings,
  place: string,
  { at, identity, layout, acceptsChanged }: ChosenBackup,
  work: (backup: OpenedBackup) => Promise<T>,
): Promise<T> {
  if (!(await isScheduled(place))) {
    requireSeveral(place, at)
    if (acceptsChanged) throw new StartupError(`${place} is the folder of one backup: leave --accept-changed out.`)
    const { manifest, source } = await withPlaceErrors(place, openBackup(place, layout))
    const keyFile = keysIn(place, manifest.folder)
    const keys = async (): Promise<string | undefined> => {
      if (!manifest.keys) return undefined
      if (await isMissing(keyFile)) throw new StartupError(`The backup in ${place} is damaged: there is no ${keyFile}.`)
      return await readPrivate(keyFile)
    }
    return await work({ created: manifest.created, source, keys, doubt: undefined })
  }
  return await withTarget(settings, place, async target => {
    const all = await listGenerations(target)
    const listed = pickGenerationToRestore(target, all, { at, now: realSystem.now() })
    const { generation } = listed
    const doubt = doubtAbout(target, listed, await findManifestKey(settings))
    if (!acceptsChanged && isSuspect(generation, all.generations))
      throw new StartupError(
        `${doubt} Name an older backup with --at, or restore this one nevertheless with --accept-changed.`,
      )
    const isEncrypted = generation.recipients.length > 0
    if (isEncrypted && identity === undefined) {
      const names = generation.recipients.join(', ')
      throw new StartupError(`The backup is encrypted to ${names}: name the file of the secret key with --identity.`)
    }
    const decrypt = isEncrypted && identity !== undefined ? await readIdentity(identity) : undefined
    const source = await openGeneration(target, generation, { layout, decrypt }).catch(async (error: unknown) => {
      if (!(error instanceof BackupDamaged)) throw error
      throw new StartupError(`${error.message} ${await nameRestorable(target, all.generations)}`, { cause: error })
    })
    return await work({ created: generation.created, source, keys: source.keys, doubt })
  })
}

/** Names the newest backup that can be restored, for people. */
async function nameRestorable(target: BackupTarget, generations: readonly ListedGeneration[]): Promise<string> {
  const losses = lossesIn(generations)
  for (const { generation } of futureLast(generations, realSystem.now())) {
    if (losses.has(generation) || isSuspect(generation, generations)) continue
    if (await isRestorable(target, generation))
      return `Nothing was restored. The newest backup whose rows and index are whole is of ${generation.created}: restore it with --at ${generation.created}.`
  }
  return 'Nothing was restored, and no other backup there has whole rows and a whole index.'
}

async function readIdentity(file: string) {
  if (containsSecretKey(file)) throw new StartupError('--identity takes the path of a file with the secret key.')
  if (await isMissing(file)) throw new StartupError(`There is no file ${file}.`)
  return await decryptionWith(await readFile(file, 'utf8'), file)
}
