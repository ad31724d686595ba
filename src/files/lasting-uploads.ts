import type { Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'

/** An entry, or a context with all its entries. */
export interface UploadTarget {
  readonly context: string
  readonly id?: string
}

/**
 * Uploads that go on after the process that receives them has ended. A feature stores them in its own table; their reservations are in
 * `uploads`.
 */
export interface LastingUploads {
  /** A query for the blobs of all uploads that have not ended, including expired ones. */
  readonly blobs: Sql
  /** A query for the blobs of uploads that can go on at this time. */
  readonly currentBlobs: (now: Sql) => Sql
  /**
   * Ends the uploads to an entry or to all entries of a context. Runs in the transaction that deletes these, so that no upload outlives
   * them.
   */
  readonly endTo: (tx: Queries, target: UploadTarget) => Promise<void>
  /** Ends the uploads that a user has begun. Runs in the transaction that deletes the user. */
  readonly endOf: (tx: Queries, user: string) => Promise<void>
}

const kinds: LastingUploads[] = []

/** Adds the uploads of a feature. */
export const addLastingUploads = (uploads: LastingUploads): void => void kinds.push(uploads)

const none = sql`SELECT blob FROM uploads WHERE 1 = 0`

/** A query for the blobs of all lasting uploads that have not ended. */
export const lastingBlobs = (): Sql => kinds.reduce((all, { blobs }) => sql`${all} UNION ALL ${blobs}`, none)

/** A query for the blobs of uploads that can go on at this time. */
export const currentBlobs = (now: Sql): Sql =>
  kinds.reduce((all, { currentBlobs }) => sql`${all} UNION ALL ${currentBlobs(now)}`, none)

/** @see LastingUploads.endTo */
export async function endUploadsTo(tx: Queries, target: UploadTarget): Promise<void> {
  for (const { endTo } of kinds) await endTo(tx, target)
}

/** @see LastingUploads.endOf */
export async function endUploadsOf(tx: Queries, user: string): Promise<void> {
  for (const { endOf } of kinds) await endOf(tx, user)
}
