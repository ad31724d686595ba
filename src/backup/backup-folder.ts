import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StartupError } from '../base/errors.ts'
import { FolderBlobStore } from '../stores/folder-blob-store.ts'
import type { RowFile } from './row-files.ts'

/** What a backup says of itself: the file `manifest.json`, written last. */
export interface Manifest {
  readonly format: 'stowage-backup'
  readonly version: 1
  /** Time of the look at the store, in ISO 8601. */
  readonly created: string
  /** The version of the program that made it. */
  readonly program: string
  /** The step of the schema that the rows are of. */
  readonly schema: number
  /** The folder with one file of rows for each table. */
  readonly folder: string
  readonly tables: readonly RowFile[]
  readonly files: { readonly count: number; readonly bytes: number }
  /** Keys of blobs that were gone or damaged in the store itself. */
  readonly damaged: readonly string[]
}

const MANIFEST = 'manifest.json'
/** What the folder may hold; anything else is not ours to write beside. */
const ours = /^(manifest\.json(\.new)?|files|rows-[0-9a-f]+|lock(-journal)?|stowage\.pid)$/

/** @throws {StartupError} when the folder holds anything but a backup, whole or begun. */
export async function requireBackupFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  const strange = (await readdir(path)).find(name => !ours.test(name))
  if (strange === undefined) return
  throw new StartupError(`The folder ${path} holds something else than a backup (${strange}).`)
}

/** @throws {StartupError} when there is no backup that this version can read. */
export async function readManifest(path: string): Promise<Manifest> {
  let manifest: Manifest
  try {
    manifest = JSON.parse(await readFile(join(path, MANIFEST), 'utf8')) as Manifest
  } catch (cause) {
    throw new StartupError(`There is no complete backup in ${path}.`, { cause })
  }
  if (manifest.format === 'stowage-backup' && manifest.version === 1) return manifest
  throw new StartupError(`The backup in ${path} is of a format that this version does not know.`)
}

/** A new folder for rows in a backup; resolves to its name. */
export async function newRowsFolder(path: string, random: (count: number) => Uint8Array): Promise<string> {
  const name = `rows-${Buffer.from(random(8)).toString('hex')}`
  await mkdir(join(path, name), { mode: 0o700 })
  return name
}

/** From now on the folder is this backup; what belonged to an earlier one goes. */
export async function publish(path: string, manifest: Manifest): Promise<void> {
  const temporary = join(path, `${MANIFEST}.new`)
  await rm(temporary, { force: true })
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(manifest, undefined, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await syncFolder(join(path, manifest.folder))
  await rename(temporary, join(path, MANIFEST))
  await syncFolder(path)
  await removeRowsExcept(path, manifest.folder)
}

/** Rows of an earlier backup, or of one that did not come to its end. */
async function removeRowsExcept(path: string, folder: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (name.startsWith('rows-') && name !== folder) await rm(join(path, name), { recursive: true })
  }
}

/** Makes the names in the folder as durable as what they stand for. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The bytes of the files of a backup, to be written. */
export const openBackupBlobs = (path: string): Promise<FolderBlobStore> => FolderBlobStore.open(join(path, 'files'))

/** The same, to be read only. */
export const backupBlobs = (path: string): FolderBlobStore => FolderBlobStore.at(join(path, 'files'))
