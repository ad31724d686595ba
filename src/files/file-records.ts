import type { Bytes } from '../base/units.ts'
import { deleteRows, type Queries } from '../stores/database.ts'
import { listed, name, type Sql, sql } from '../stores/sql.ts'
import { type Amount, type Payers, rowsOf } from './quota-usage.ts'

/** The place of a file: ids of a context and of an entry in it. */
export interface FilePlace {
  readonly context: string
  readonly id: string
}

export interface FileRecord {
  /** Key of the blob that holds the bytes. */
  readonly blob: string
  readonly size: Bytes
  /** Lower-case hexadecimal. */
  readonly sha256: string
}

export async function findFile(queries: Queries, { context, id }: FilePlace): Promise<FileRecord | undefined> {
  return await queries.get<FileRecord>(
    sql`SELECT blob, size, sha256 FROM files WHERE context = ${context} AND entry = ${id}`,
  )
}

/** Whether the blob holds the file of an entry. */
export async function isFile(queries: Queries, blob: string): Promise<boolean> {
  return (await queries.get(sql`SELECT 1 AS found FROM files WHERE blob = ${blob}`)) !== undefined
}

/** Whether any entry has a file. */
export async function hasFiles(queries: Queries): Promise<boolean> {
  return (await queries.get(sql`SELECT 1 AS found FROM files LIMIT 1`)) !== undefined
}

/** Records the file of an entry; an earlier one is replaced. */
export async function putFile(tx: Queries, place: FilePlace & Payers, file: FileRecord): Promise<void> {
  const { context, id, user } = place
  await endCredits(tx, blobAt(place))
  await tx.run(sql`INSERT INTO files (context, entry, user_id, blob, size, sha256)
    VALUES (${context}, ${id}, ${user}, ${file.blob}, ${file.size}, ${file.sha256})
    ON CONFLICT (context, entry) DO UPDATE SET blob = excluded.blob, size = excluded.size, sha256 = excluded.sha256,
      verified = 0, problem = NULL`)
}

/** @returns what was removed, and the user for whom it counted */
export async function removeFile(tx: Queries, place: FilePlace): Promise<(FileRecord & Payers) | undefined> {
  const { context, id } = place
  await endCredits(tx, blobAt(place))
  return await tx.get<FileRecord & Payers>(sql`DELETE FROM files WHERE context = ${context} AND entry = ${id}
    RETURNING context, user_id AS "user", blob, size, sha256`)
}

/** Moves the file of an entry, if it has one, to another entry. The caller updates the quota usage of both contexts. */
export async function moveFile(tx: Queries, from: FilePlace, to: FilePlace): Promise<void> {
  await endCredits(tx, blobAt(from))
  await tx.run(sql`UPDATE files SET context = ${to.context}, entry = ${to.id}
    WHERE context = ${from.context} AND entry = ${from.id}`)
}

/** Marks the blob as no longer needed by any file; garbage collection deletes it. */
export async function discardBlob(tx: Queries, blob: string): Promise<void> {
  await tx.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${blob})`)
}

/** The files of a context as a condition on `files`. @param entries only those of these entries */
export const filesOf = (context: string, entries?: readonly string[]): Sql =>
  entries ? sql`context = ${context} AND entry IN (${listed(entries)})` : sql`context = ${context}`

/** Number and size of the files of a context. @param entries only those of these entries */
export async function amountOfFiles(queries: Queries, context: string, entries?: readonly string[]): Promise<Amount> {
  const row = await queries.get<Amount>(
    sql`SELECT COALESCE(SUM(size), 0) AS bytes, COUNT(*) AS files FROM files WHERE ${filesOf(context, entries)}`,
  )
  return row ?? { bytes: 0, files: 0 }
}

/** Removes the records of files of a context and discards their blobs. @param entries only those of these entries */
export async function removeFilesOf(tx: Queries, context: string, entries?: readonly string[]): Promise<void> {
  const files = filesOf(context, entries)
  await endCredits(tx, sql`SELECT blob FROM files WHERE ${files}`)
  await tx.run(sql`INSERT INTO discarded_blobs (blob) SELECT blob FROM files WHERE ${files}`)
  await deleteRows(tx, name('files'), files)
}

/**
 * A file counts for the user who created its entry, unless a guest created it. Sets this user for files whose rows have none.
 * @param where a condition on the columns of `files`
 */
export async function assignUsers(tx: Queries, where: Sql): Promise<void> {
  await tx.run(sql`UPDATE files SET user_id = ${creatorOf} WHERE ${where}`)
}

/** Entries in the trash are in a table of their own. */
const creatorOf = sql`(SELECT creator FROM (
  SELECT creator FROM entries e WHERE e.context = files.context AND e.id = files.entry
  UNION ALL SELECT creator FROM trashed_entries t WHERE t.context = files.context AND t.id = files.entry
) AS c WHERE creator IN (SELECT id FROM principals WHERE kind = 'user' AND id <> '_guest'))`

const blobAt = ({ context, id }: FilePlace): Sql =>
  sql`SELECT blob FROM files WHERE context = ${context} AND entry = ${id}`

/**
 * Another change deletes these blobs, so uploads that were to replace them no longer get credit for their bytes and reserve them. The
 * usage falls by the same number of bytes, so this always fits (D20.1).
 */
async function endCredits(tx: Queries, blobs: Sql): Promise<void> {
  const uploads = await tx.all<Payers & { readonly blob: string; readonly credit: Bytes }>(
    sql`SELECT blob, context, user_id AS "user", credit FROM uploads WHERE replaces IN (${blobs})`,
  )
  for (const { blob, credit, ...payers } of uploads) {
    await tx.run(
      sql`UPDATE uploads SET reserved = reserved + ${credit}, credit = 0, replaces = NULL WHERE blob = ${blob}`,
    )
    await tx.run(sql`UPDATE quota_usage SET reserved = reserved + ${credit} WHERE ${rowsOf(payers)}`)
  }
}
