import type { Bytes } from '../base/units.ts'
import type { Queries } from '../stores/database.ts'
import { deleteRows } from '../stores/deletion.ts'
import { name, type Sql, sql } from '../stores/sql.ts'

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

/** Records the file of an entry; an earlier one is replaced. */
export async function putFile(tx: Queries, place: FilePlace, file: FileRecord): Promise<void> {
  const { context, id } = place
  await endCredits(tx, blobAt(place))
  await tx.run(sql`INSERT INTO files (context, entry, blob, size, sha256)
    VALUES (${context}, ${id}, ${file.blob}, ${file.size}, ${file.sha256})
    ON CONFLICT (context, entry) DO UPDATE SET blob = excluded.blob, size = excluded.size, sha256 = excluded.sha256,
      verified = 0, problem = NULL`)
}

export async function removeFile(tx: Queries, place: FilePlace): Promise<void> {
  const { context, id } = place
  await endCredits(tx, blobAt(place))
  await tx.run(sql`DELETE FROM files WHERE context = ${context} AND entry = ${id}`)
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

/** Removes the records of all files of a context and discards their blobs. */
export async function removeFilesOf(tx: Queries, context: string): Promise<void> {
  await endCredits(tx, sql`SELECT blob FROM files WHERE context = ${context}`)
  await tx.run(sql`INSERT INTO discarded_blobs (blob) SELECT blob FROM files WHERE context = ${context}`)
  await deleteRows(tx, name('files'), sql`context = ${context}`)
}

const blobAt = ({ context, id }: FilePlace): Sql =>
  sql`SELECT blob FROM files WHERE context = ${context} AND entry = ${id}`

/**
 * Uploads that count on the storage of these blobs reserve it instead, because another change takes the blobs away. The
 * usage of the context falls by the same number of bytes, so this always fits (D20.1).
 */
async function endCredits(tx: Queries, blobs: Sql): Promise<void> {
  const uploads = await tx.all<{ blob: string; context: string; credit: Bytes }>(
    sql`SELECT blob, context, credit FROM uploads WHERE replaces IN (${blobs})`,
  )
  for (const { blob, context, credit } of uploads) {
    await tx.run(
      sql`UPDATE uploads SET reserved = reserved + ${credit}, credit = 0, replaces = NULL WHERE blob = ${blob}`,
    )
    await tx.run(sql`UPDATE spaces SET reserved = reserved + ${credit} WHERE context = ${context}`)
  }
}
