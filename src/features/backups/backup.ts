import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StartupError } from '../../base/errors.ts'
import { counter, type Progress, silent } from '../../base/progress.ts'
import type { System } from '../../base/system.ts'
import { holdBlobs } from '../../files/garbage.ts'
import type { BlobStore } from '../../stores/blob-store.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { withDiskErrorsAt } from '../../stores/disk.ts'
import { addKeys, isMissing, readPrivate } from '../../stores/key-file.ts'
import { schemaVersion } from '../../stores/migrations.ts'
import {
  backupBlobs,
  findManifest,
  keysIn,
  type Manifest,
  markIncomplete,
  newRowsFolder,
  openBackupBlobs,
  pathOfFile,
  publish,
  readManifest,
} from './backup-folder.ts'
import { absentBlobs } from '../../backup/absent-blobs.ts'
import { type CopiedBlobs, copyBlobs, counted, type FileRow, verifyBlobs } from '../../backup/copy-blobs.ts'
import type { CheckedGeneration } from './generations.ts'
import { requireFittingRows } from './fitting-rows.ts'
import { type Extent, lossSince, timeOfStore } from './loss.ts'
import { isIntact, readRows, type RowFile, writeRows } from '../../backup/row-files.ts'
import { rowsOf } from '../../backup/rows.ts'
import type { Source } from '../../backup/store-copy.ts'
import { type Layout, type Table, tablesAt } from '../../backup/tables.ts'

interface BackupOf {
  readonly database: Database
  readonly blobs: BlobStore
  readonly layout: Layout
  readonly system: System
  /** The version of this program. */
  readonly program: string
  /** The file with the keys that seal the secrets of authenticator apps, if they are to be in the backup. */
  readonly keyFile?: string | undefined
  /** Whether the new backup may replace a backup of another store, or a backup that contained much more. */
  readonly replaces?: boolean
  readonly progress?: Progress
}

export interface MadeBackup extends CopiedBlobs {
  /** How many files the store has lost that the backup has from an earlier one in its folder. */
  readonly lost: number
}

/**
 * Copies a snapshot of the store, while others work on it, into a folder that no other process uses. Bytes that an earlier backup in the
 * folder already contains are not copied again. The earlier backup remains usable until the new one is complete.
 */
export async function backUp(
  { database, blobs, layout, system, program, keyFile, replaces = false, progress = silent }: BackupOf,
  path: string,
): Promise<MadeBackup> {
  const [damage] = await database.findDamage()
  if (damage !== undefined) {
    throw new StartupError(
      `The database is damaged: ${damage}. No backup was made; earlier ones are kept. Run \`stowage fsck\`.`,
    )
  }
  const earlier = replaces ? undefined : await findManifest(path)
  if (!earlier) await markIncomplete(path)
  // Held before the snapshot is made, so that files deleted after it keep their bytes until these have been copied.
  const hold = await holdBlobs(database, system)
  try {
    const folder = await newRowsFolder(path, count => system.randomBytes(count))
    const rows = join(path, folder)
    const created = new Date(system.now()).toISOString()
    const schema = await schemaVersion(database)
    const [store, written] = await database.snapshot(async snapshot => [
      await timeOfStore(snapshot),
      await withDiskErrorsAt(path, writeTables(snapshot, rows, tablesAt(layout, schema))),
    ])
    if (earlier)
      await requireNoLoss(path, earlier, {
        created,
        store,
        folder,
        tables: written,
        files: { count: rowsIn(written, 'files') ?? 0 },
      })
    // Read after the rows, so that the file has every key that seals a secret in them.
    const keys = keyFile !== undefined && !(await isMissing(keyFile))
    if (keys) await addKeys(await readPrivate(keyFile), keysIn(path, folder))
    const kept = await openBackupBlobs(path)
    const onFile = counter(progress, 'Copying files', rowsIn(written, 'files'))
    const copied = await withDiskErrorsAt(
      path,
      copyBlobs(counted(readRows(rows, { name: 'files' }), onFile), blobs, kept),
    )
    progress.end()
    await hold.require()
    const damaged = copied.damaged.map(({ blob }) => blob)
    const absent = await absentBlobs(readRows(rows, { name: 'files' }), blobs)
    const lost = absent.difference(new Set(damaged)).size
    const files = { count: copied.files, bytes: copied.bytes }
    const manifest: Manifest = {
      format: 'stowage-backup',
      version: 1,
      created,
      program,
      store,
      schema,
      folder,
      tables: written,
      files,
      keys,
      damaged,
    }
    await withDiskErrorsAt(path, publish(path, manifest))
    await removeUnused(kept, rows)
    return { ...copied, lost }
  } finally {
    await hold.release()
  }
}

/** Keeps the only backup of a store that was lost since. @throws {StartupError} */
async function requireNoLoss(path: string, earlier: Extent, now: Extent & { readonly folder: string }): Promise<void> {
  const loss = lossSince(earlier, now)
  if (loss === undefined) return
  await rm(join(path, now.folder), { recursive: true })
  throw new StartupError(
    `What would be in the backup ${loss}. The backup in ${path} is kept. Name another folder, or replace it with --replace.`,
  )
}

/** Opens a backup as the source of a restore. @throws {StartupError} when the backup is incomplete */
export async function openBackup(
  path: string,
  layout: Layout,
): Promise<{ readonly manifest: Manifest; readonly source: Source }> {
  const manifest = await readManifest(path)
  // The step itself may be missing: later steps have replaced those of the search index.
  if (!layout.steps.some(({ id }) => id >= manifest.schema)) {
    throw new StartupError(`The backup is of version ${manifest.program}, whose store this version does not support.`)
  }
  const rows = join(path, manifest.folder)
  for (const { name } of tablesAt(layout, manifest.schema)) {
    const file = manifest.tables.find(table => table.name === name)
    if (!file || !(await isIntact(rows, file)))
      throw new StartupError(`The backup in ${path} is damaged: table ${name}.`)
  }
  const source = {
    schema: manifest.schema,
    blobs: backupBlobs(path),
    rows: (table: { name: string }) => readRows(rows, table),
    count: async (table: { name: string }) => rowsIn(manifest.tables, table.name),
  }
  const tables = manifest.tables.map(({ name }) => name)
  await requireFittingRows(source, layout, { name: `The backup in ${path}`, tables })
  return { manifest, source }
}

/**
 * Checks a backup as a restore would: compares rows and bytes with their digests.
 * @throws {StartupError} when the backup is incomplete or its rows are damaged
 */
export async function verifyBackup(
  path: string,
  layout: Layout,
  progress: Progress = silent,
): Promise<{ readonly manifest: Manifest; readonly checked: CheckedGeneration }> {
  const { manifest, source } = await openBackup(path, layout)
  const known = new Set(manifest.damaged)
  const onFile = counter(progress, 'Checking files', rowsIn(manifest.tables, 'files'))
  const rows = counted(source.rows({ name: 'files', key: [] }), onFile)
  const { damaged, files } = await verifyBlobs(rows, source.blobs)
  progress.end()
  const describe = ({ context, entry, blob }: FileRow, file?: string) => ({
    blob,
    path: file,
    entry: `${context}/${entry}`,
  })
  const [before, now] = [damaged.filter(({ blob }) => known.has(blob)), damaged.filter(({ blob }) => !known.has(blob))]
  return {
    manifest,
    checked: {
      files,
      damaged: now.map(row => describe(row, pathOfFile(path, row.blob))),
      damagedBefore: before.map(row => describe(row)),
    },
  }
}

const rowsIn = (tables: readonly RowFile[], table: string): number | undefined =>
  tables.find(({ name }) => name === table)?.rows

/** Writes the rows of these tables into files of the folder. */
export async function writeTables(snapshot: Queries, folder: string, tables: readonly Table[]): Promise<RowFile[]> {
  const written: RowFile[] = []
  for (const table of tables) written.push(await writeRows(folder, table, rowsOf(snapshot, table)))
  return written
}

/** Removes bytes that only the earlier backup needed. */
async function removeUnused(kept: BlobStore, rows: string): Promise<void> {
  const used = new Set<string>()
  for await (const { blob } of readRows(rows, { name: 'files' })) used.add(String(blob))
  for await (const { key } of kept.list()) if (!used.has(key)) await kept.delete(key)
}
