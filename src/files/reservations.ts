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
  await tx.run(sql`INSERT INTO discarded_blobs (blob) SELECT blob FROM uploads WHERE part_of = ${blob}`)
  await tx.run(sql`DELETE FROM uploads WHERE part_of = ${blob}`)
  return true
}

/** Lets a reservation last until this time of the database. */
export async function extendReservation(tx: Queries, blob: string, expires: Sql): Promise<void> {
  await tx.run(sql`UPDATE uploads SET expires = ${expires} WHERE blob = ${blob}`)
}

/** From now on the upload that has reserved writes another blob. */
export async function moveReservation(tx: Queries, from: string, to: string): Promise<void> {
  await tx.run(sql`UPDATE uploads SET blob = ${to} WHERE blob = ${from}`)
}

/** The next start releases these reservations. For a released step of the schema, whose text never changes. */
export const expireReservations = (where: Sql): Sql => sql`UPDATE uploads SET expires = 0 WHERE ${where}`
