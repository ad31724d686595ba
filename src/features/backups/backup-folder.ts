import { createHash } from 'node:crypto'
import { access, constants, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { StartupError } from '../../base/errors.ts'
import { FolderBlobStore } from '../../stores/folder-blob-store.ts'
import { askIfEmpty, withPlaceErrors } from './place-errors.ts'
import { makeFolder, syncFolder } from '../../stores/sync-folder.ts'
import type { Extent } from './loss.ts'
import type { RowFile } from '../../backup/row-files.ts'

/** The contents of `manifest.json`, which describes a backup and is written last. */
export interface Manifest extends Extent {
  readonly format: 'stowage-backup'
  readonly version: 1
  /** The version of the program that made the backup. */
  readonly program: string
  /** The step of the schema at the time of the backup. */
  readonly schema: number
  /** The folder with one file of rows per table. */
  readonly folder: string
  readonly tables: readonly RowFile[]
  readonly files: { readonly count: number; readonly bytes: number }
  /** Whether the keys that seal the secrets of authenticator apps are beside the rows. */
  readonly keys?: boolean
  /** Keys of blobs that were missing or damaged in the store itself. */
  readonly damaged: readonly string[]
  /** The digest of all other members, in lower-case hexadecimal; absent in backups of older versions. */
  readonly sha256?: string
}

const MANIFEST = 'manifest.json'
/** The manifest before it is complete. Without a manifest beside it, the first backup was interrupted. */
const INCOMPLETE = `${MANIFEST}.new`
/**
 * What a backup folder may contain. A folder with anything else belongs to something else, so nothing is
 * written there.
 */
const ours = /^(manifest\.json(\.new)?|files|rows-[0-9a-f]+|lock(-journal)?|stowage\.pid)$/

/** The names in the place of scheduled backups. */
const SCHEDULED: readonly string[] = ['generations', 'blobs']

/** @throws {StartupError} when this user may not write to the folder, or it contains anything but a complete or incomplete backup */
export async function requireBackupFolder(path: string): Promise<void> {
  await withPlaceErrors(path, makeFolder(path))
  const strange = (await withPlaceErrors(path, readdir(resolve(path)))).find(name => !ours.test(name))
  if (strange === undefined) return await withPlaceErrors(path, access(resolve(path), constants.W_OK))
  if (SCHEDULED.includes(strange)) {
    throw new StartupError(
      `The folder ${path} has the scheduled backups of a service. Name another folder for a backup by hand.`,
    )
  }
  throw new StartupError(`The folder ${path} contains something other than a backup (${strange}).`)
}

class NoBackup extends StartupError {}
class DamagedManifest extends StartupError {}

/** @throws {StartupError} when the folder contains no backup that this version can read */
export async function readManifest(path: string): Promise<Manifest> {
  const text = await withPlaceErrors(path, readFile(resolve(path, MANIFEST), 'utf8')).catch(async (cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    throw new NoBackup(`${await askIfEmpty(resolve(path))}There is no complete backup in ${path}.`, { cause })
  })
  const manifest = parsed(text)
  const { format, version, sha256 } = manifest ?? {}
  if (!manifest || format === undefined || (sha256 !== undefined && sha256 !== digestOf(manifest)))
    throw damagedManifest(path)
  if (format !== 'stowage-backup' || version !== 1)
    throw new StartupError(`The backup in ${path} has a format that this version does not support.`)
  if (!isManifest(manifest)) throw damagedManifest(path)
  return manifest
}

function parsed(text: string): Partial<Manifest> | undefined {
  try {
    return (JSON.parse(text) ?? undefined) as Partial<Manifest> | undefined
  } catch {
    return undefined
  }
}

/** The text of the manifest, without its own digest, is the same after it was read. */
const digestOf = (manifest: Partial<Manifest>): string =>
  createHash('sha256')
    .update(JSON.stringify({ ...manifest, sha256: undefined }))
    .digest('hex')

const isManifest = (manifest: Partial<Manifest>): manifest is Manifest => {
  const { created, folder, tables, files, damaged } = manifest
  return (
    Number.isFinite(Date.parse(String(created))) &&
    /^rows-[0-9a-f]+$/.test(String(folder)) &&
    [tables, damaged].every(Array.isArray) &&
    Number.isInteger(files?.count)
  )
}

const damagedManifest = (path: string): StartupError =>
  new DamagedManifest(
    `The backup in ${path} is damaged: ${MANIFEST}. Put a copy of this file back, or use another backup.`,
  )

/**
 * The manifest of an earlier backup in the folder, if there is a complete one.
 * @throws {StartupError} when it cannot be read, or is missing although the folder has the files of a backup
 */
export async function findManifest(path: string): Promise<Manifest | undefined> {
  try {
    return await readManifest(path)
  } catch (error) {
    if (error instanceof DamagedManifest)
      throw new StartupError(
        `The backup in ${path} is damaged: ${MANIFEST}. It is kept. Name another folder, or replace it with --replace.`,
      )
    if (!(error instanceof NoBackup)) throw error
    const names = await readdir(path)
    if (names.includes(INCOMPLETE) || !names.some(name => /^(files|rows-.*)$/.test(name))) return undefined
    throw new StartupError(
      `The folder ${path} has the files of a backup, but no ${MANIFEST}. ` +
        'They are kept. Name another folder, or replace them with --replace.',
    )
  }
}

/** Marks a folder without a manifest as one that a first backup is being written to, which may be interrupted and repeated. */
export async function markIncomplete(path: string): Promise<void> {
  await writeFile(join(path, INCOMPLETE), '', { mode: 0o600, flush: true })
  await syncFolder(path)
}

/** Makes a new folder for rows in a backup and returns its name. */
export async function newRowsFolder(path: string, random: (count: number) => Uint8Array): Promise<string> {
  const name = `rows-${Buffer.from(random(8)).toString('hex')}`
  await mkdir(join(path, name), { mode: 0o700 })
  return name
}

/** The keys that seal the secrets of authenticator apps, beside the rows. */
export const keysIn = (path: string, folder: string): string => join(path, folder, 'second-factors.key')

/** Makes the folder a backup with this manifest, and removes the rows of earlier ones. */
export async function publish(path: string, manifest: Manifest): Promise<void> {
  const temporary = join(path, INCOMPLETE)
  const text = `${JSON.stringify({ ...manifest, sha256: digestOf(manifest) }, undefined, 2)}\n`
  await writeFile(temporary, text, { mode: 0o600, flush: true })
  await syncFolder(join(path, manifest.folder))
  await rename(temporary, join(path, MANIFEST))
  await syncFolder(path)
  await removeRowsExcept(path, manifest.folder)
}

/** Removes the rows of earlier and of incomplete backups. */
async function removeRowsExcept(path: string, folder: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (name.startsWith('rows-') && name !== folder) await rm(join(path, name), { recursive: true })
  }
}

/** The files of a backup, for writing. */
export const openBackupBlobs = (path: string): Promise<FolderBlobStore> => FolderBlobStore.open(join(path, 'files'))

/** The bytes of a file in a backup, for people. */
export const pathOfFile = (path: string, blob: string): string => resolve(path, 'files', blob.slice(0, 2), blob)

/** The files of a backup, for reading only. */
export const backupBlobs = (path: string): FolderBlobStore => FolderBlobStore.at(join(path, 'files'))
