import type { Bytes, Milliseconds } from '../base/units.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import type { Queries } from '../stores/database.ts'
import { isUnreadable } from '../stores/disk.ts'
import { sql } from '../stores/sql.ts'

export type FileProblem = 'missing' | 'damaged'

/** A stored file, and what its last verification has found. */
export interface VerifiedFile {
  readonly context: string
  readonly entry: string
  readonly blob: string
  readonly size: Bytes
  readonly sha256: string
  readonly problem: FileProblem | null
}

/** The state of the verification of all files. */
export interface VerificationReport {
  /** Files whose bytes have not been verified since they were stored. */
  readonly unverified: number
  readonly missing: number
  readonly damaged: number
}

export async function countFiles(queries: Queries): Promise<number> {
  const row = await queries.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM files`)
  return row?.count ?? 0
}

/** Files whose bytes were last verified at this time or before, the longest unverified first. */
export async function unverifiedSince(queries: Queries, time: Milliseconds, limit: number): Promise<VerifiedFile[]> {
  return await queries.all<VerifiedFile>(sql`SELECT context, entry, blob, size, sha256, problem FROM files
    WHERE verified <= ${time} ORDER BY verified LIMIT ${limit}`)
}

/** Files that lie side by side on the disk can be unreadable together, and are often next to each other in age. */
const CONTROLS = 10

/**
 * Whether the disk can read another file than this one. A disk that can read none has failed as a whole, which says nothing about the files.
 * The files verified longest ago are tried, because others may still be in memory.
 */
export async function canReadAnother(queries: Queries, blobs: Pick<BlobStore, 'read'>, blob: string): Promise<boolean> {
  const others = await queries.all<{ blob: string }>(sql`SELECT blob FROM files
    WHERE problem IS NULL AND blob <> ${blob} ORDER BY verified = 0, verified, blob LIMIT ${CONTROLS}`)
  for (const other of others) {
    try {
      // The first bytes are enough.
      for await (const bytes of await blobs.read(other.blob)) if (bytes.length > 0) break
      return true
    } catch (error) {
      if (!isUnreadable(error)) return true
    }
  }
  return others.length === 0
}

/** @returns false when the file was replaced or deleted meanwhile */
export async function recordVerification(
  tx: Queries,
  blob: string,
  { verified, problem }: { readonly verified: Milliseconds; readonly problem: FileProblem | null },
): Promise<boolean> {
  return (await tx.run(sql`UPDATE files SET verified = ${verified}, problem = ${problem} WHERE blob = ${blob}`)) > 0
}

export async function countProblems(queries: Queries): Promise<VerificationReport> {
  const row = await queries.get<VerificationReport>(
    sql`SELECT (SELECT COUNT(*) FROM files WHERE verified = 0) AS unverified,
      (SELECT COUNT(*) FROM files WHERE problem = 'missing') AS missing,
      (SELECT COUNT(*) FROM files WHERE problem = 'damaged') AS damaged`,
  )
  return { unverified: row?.unverified ?? 0, missing: row?.missing ?? 0, damaged: row?.damaged ?? 0 }
}
