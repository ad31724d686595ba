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
}

const MANIFEST = 'manifest.json'
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

/** @throws {StartupError} when the folder contains no backup that this version can read */
export async function readManifest(path: string): Promise<Manifest> {
  let manifest: Manifest
  try {
    manifest = JSON.parse(await withPlaceErrors(path, readFile(resolve(path, MANIFEST), 'utf8'))) as Manifest
  } catch (cause) {
    if (!(cause instanceof SyntaxError) && !(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'))
      throw cause
    throw new NoBackup(`${await askIfEmpty(resolve(path))}There is no complete backup in ${path}.`, { cause })
  }
  if (manifest.format === 'stowage-backup' && manifest.version === 1) return manifest
  throw new StartupError(`The backup in ${path} has a format that this version does not support.`)
}

/** The manifest of an earlier backup in the folder, if there is a complete one. @throws {StartupError} when it cannot be read */
export const findManifest = (path: string): Promise<Manifest | undefined> =>
  readManifest(path).catch((error: unknown) => {
    if (error instanceof NoBackup) return undefined
    throw error
  })

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
  const temporary = join(path, `${MANIFEST}.new`)
  await rm(temporary, { force: true })
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`
  await writeFile(temporary, text, { flag: 'wx', mode: 0o600, flush: true })
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
