import type { Bytes } from '../base/units.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'

/** Where a file belongs: ids of a context and of an entry in it. */
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

/** Whether the blob is what some entry's file is kept in. */
export async function isFile(queries: Queries, blob: string): Promise<boolean> {
  return (await queries.get(sql`SELECT 1 AS found FROM files WHERE blob = ${blob}`)) !== undefined
}

export async function putFile(tx: Queries, { context, id }: FilePlace, file: FileRecord): Promise<void> {
  await tx.run(sql`INSERT INTO files (context, entry, blob, size, sha256)
    VALUES (${context}, ${id}, ${file.blob}, ${file.size}, ${file.sha256})
    ON CONFLICT (context, entry) DO UPDATE SET blob = excluded.blob, size = excluded.size, sha256 = excluded.sha256`)
}

export async function removeFile(tx: Queries, { context, id }: FilePlace): Promise<void> {
  await tx.run(sql`DELETE FROM files WHERE context = ${context} AND entry = ${id}`)
}

/** The file of an entry, if it has one, now belongs to another; the books of contexts are not in here. */
export async function moveFile(tx: Queries, from: FilePlace, to: FilePlace): Promise<void> {
  await tx.run(sql`UPDATE files SET context = ${to.context}, entry = ${to.id}
    WHERE context = ${from.context} AND entry = ${from.id}`)
}

/** Notes that no file needs the blob any more; whoever collects the garbage deletes it. */
export async function discardBlob(tx: Queries, blob: string): Promise<void> {
  await tx.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${blob})`)
}

/** Removes the records of all files of a context and discards their blobs. */
export async function removeFilesOf(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`INSERT INTO discarded_blobs (blob) SELECT blob FROM files WHERE context = ${context}`)
  await tx.run(sql`DELETE FROM files WHERE context = ${context}`)
}
