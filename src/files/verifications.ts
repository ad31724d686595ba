import type { Bytes, Milliseconds } from '../base/units.ts'
import type { Queries } from '../stores/database.ts'
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

/** The blob of another file that was intact when it was last verified, if there is one. */
export async function lastIntact(queries: Queries, blob: string): Promise<string | undefined> {
  const row = await queries.get<{ blob: string }>(sql`SELECT blob FROM files
    WHERE problem IS NULL AND blob <> ${blob} ORDER BY verified DESC LIMIT 1`)
  return row?.blob
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
