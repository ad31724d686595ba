import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Database, Queries } from '../stores/database.ts'
import { databaseTime, type Sql, sql } from '../stores/sql.ts'

/** A hold that has not been renewed for this long belongs to a process that has died. */
const RESERVATION_TTL: Milliseconds = 300_000

/** Keeps all stored bytes, including those of files that are deleted meanwhile. */
export interface BlobHold {
  /** @throws {Error} when the hold has expired at any time: bytes may be missing then. */
  require(): Promise<void>
  release(): Promise<void>
}

/**
 * Stops garbage collection in every process that uses the store. Every file that the tables list after this call can be read
 * until `release`, or until this process has been dead for five minutes.
 */
export async function holdBlobs(database: Database, system: System): Promise<BlobHold> {
  const id = Buffer.from(system.randomBytes(16)).toString('hex')
  // Nodes whose clocks differ agree on when a hold ends.
  const now = (): Sql => databaseTime(database, system)
  await database.transaction(tx => tx.run(sql`DELETE FROM blob_holds WHERE expires < ${now()}`))
  await database.transaction(tx =>
    tx.run(sql`INSERT INTO blob_holds (id, expires) VALUES (${id}, ${now()} + ${RESERVATION_TTL})`),
  )
  const renew = (): Promise<number> =>
    database.transaction(tx =>
      tx.run(
        sql`UPDATE blob_holds SET expires = ${now()} + ${RESERVATION_TTL} WHERE id = ${id} AND expires >= ${now()}`,
      ),
    )
  // The next renewal makes up for a failed one; `require` checks that the hold never expired.
  const timer = setInterval(() => void renew().catch(() => {}), RESERVATION_TTL / 5).unref()
  return {
    async require() {
      if ((await renew()) === 0)
        throw new Error('the hold on the files has expired, because this process was suspended')
    },
    async release() {
      clearInterval(timer)
      await database.run(sql`DELETE FROM blob_holds WHERE id = ${id}`)
    },
  }
}

export async function areBlobsHeld(queries: Queries, system: Pick<System, 'now'>): Promise<boolean> {
  const now = databaseTime(queries, system)
  return (await queries.get(sql`SELECT 1 AS held FROM blob_holds WHERE expires >= ${now}`)) !== undefined
}
