import type { Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import { discardBlob } from './file-records.ts'
import { type Amount, type Payers, rowsOf } from './quota-usage.ts'

/** An ended reservation: the reserved amount and its payers. */
export interface EndedReservation {
  readonly payers: Payers
  readonly reserved: Amount
}

/** Deletes the row of a reservation. The caller books what it had reserved back to those who paid for it. */
export async function takeReservation(tx: Queries, blob: string): Promise<EndedReservation | undefined> {
  const row = await tx.get<Payers & Amount>(sql`DELETE FROM uploads WHERE blob = ${blob}
    RETURNING context, user_id AS "user", reserved AS bytes, reserved_files AS files`)
  if (!row) return undefined
  const { context, user, bytes, files } = row
  return { payers: { context, user }, reserved: { bytes, files } }
}

/** Ends a reservation, and discards the blobs that it was for. False when it has already ended. */
export async function releaseReservation(tx: Queries, blob: string): Promise<boolean> {
  const ended = await takeReservation(tx, blob)
  if (!ended) return false
  const { payers, reserved } = ended
  await tx.run(sql`UPDATE quota_usage SET reserved = reserved - ${reserved.bytes},
    reserved_files = reserved_files - ${reserved.files} WHERE ${rowsOf(payers)}`)
  await discardBlob(tx, blob)
  await discardAdded(tx, blob)
  return true
}

/**
 * Adds one more blob to the upload that has reserved. The blob reserves no storage by itself; it is discarded when the reservation is
 * released. False when the reservation has ended.
 */
export async function addToReservation(tx: Queries, blob: string, added: string): Promise<boolean> {
  const count = await tx.run(sql`INSERT INTO uploads (blob, context, reserved, expires, part_of)
    SELECT ${added}, context, 0, expires, ${blob} FROM uploads WHERE blob = ${blob}`)
  return count > 0
}

/** Takes an added blob out of its upload; nothing records it any more. */
export async function forgetAdded(tx: Queries, added: string): Promise<void> {
  await tx.run(sql`DELETE FROM uploads WHERE blob = ${added} AND part_of IS NOT NULL`)
}

/** Discards the blobs that were added to an upload. */
export async function discardAdded(tx: Queries, blob: string): Promise<void> {
  await tx.run(sql`INSERT INTO discarded_blobs (blob) SELECT blob FROM uploads WHERE part_of = ${blob}`)
  await tx.run(sql`DELETE FROM uploads WHERE part_of = ${blob}`)
}

/** Lets a reservation last until this time of the database. */
export async function extendReservation(tx: Queries, blob: string, expires: Sql): Promise<void> {
  await tx.run(sql`UPDATE uploads SET expires = ${expires} WHERE blob = ${blob}`)
}

/** From now on the upload that has reserved writes another blob, which was added to it. */
export async function moveReservation(tx: Queries, from: string, to: string): Promise<void> {
  await forgetAdded(tx, to)
  await tx.run(sql`UPDATE uploads SET blob = ${to} WHERE blob = ${from}`)
  await tx.run(sql`UPDATE uploads SET part_of = ${to} WHERE part_of = ${from}`)
}

/** The next start releases these reservations. For a released step of the schema, whose text never changes. */
export const expireReservations = (where: Sql): Sql => sql`UPDATE uploads SET expires = 0 WHERE ${where}`
