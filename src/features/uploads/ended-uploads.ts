import type { LastingUploads, UploadTarget } from '../../files/lasting-uploads.ts'
import { releaseReservation } from '../../files/reservations.ts'
import type { Queries } from '../../stores/database.ts'
import { type Sql, sql } from '../../stores/sql.ts'

/**
 * Ends uploads with what they have reserved. @param where a condition on the columns of `resumable_uploads`
 * @returns how many there were
 */
export async function endUploads(tx: Queries, where: Sql): Promise<number> {
  const ended = await tx.all<{ readonly blob: string; readonly isDone: number }>(
    sql`DELETE FROM resumable_uploads WHERE ${where} RETURNING blob, is_done AS "isDone"`,
  )
  // The blob of a completed upload belongs to a file.
  for (const { blob, isDone } of ended) if (isDone === 0) await releaseReservation(tx, blob)
  return ended.length
}

/** A condition for the uploads to an entry, or to all entries of a context. */
export const uploadsTo = ({ context, id }: UploadTarget): Sql =>
  id === undefined ? sql`context = ${context}` : sql`context = ${context} AND entry = ${id}`

/** An upload ends together with its entry or its user, so its entry is always the one for which it was begun. */
export const lastingUploads: LastingUploads = {
  blobs: sql`SELECT blob FROM resumable_uploads WHERE is_done = 0`,
  currentBlobs: now => sql`SELECT blob FROM resumable_uploads WHERE is_done = 0 AND expires >= ${now}`,
  endTo: async (tx, target) => void (await endUploads(tx, uploadsTo(target))),
  endOf: async (tx, user) => void (await endUploads(tx, sql`uploader = ${user}`)),
}
