import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Database, Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'

/** A hold that is not renewed for so long belongs to a process that has died. */
const RESERVATION_TTL: Milliseconds = 300_000

/** Keeps all bytes of files where they are, those that are let go of meanwhile too. */
export interface BlobHold {
  /** @throws {Error} when the hold has lapsed at some time: bytes may be gone then. */
  require(): Promise<void>
  release(): Promise<void>
}

/**
 * Makes the collection of garbage wait, in every process that works on the store. What a look at the books after this
 * shows as the file of an entry can be read until `release`, or until this process has been dead for five minutes.
 */
export async function holdBlobs(database: Database, system: System): Promise<BlobHold> {
  const id = Buffer.from(system.randomBytes(16)).toString('hex')
  const end = (): Milliseconds => system.now() + RESERVATION_TTL
  await database.transaction(tx => tx.run(sql`DELETE FROM blob_holds WHERE expires < ${system.now()}`))
  await database.transaction(tx => tx.run(sql`INSERT INTO blob_holds (id, expires) VALUES (${id}, ${end()})`))
  const renew = (): Promise<number> =>
    database.transaction(tx =>
      tx.run(sql`UPDATE blob_holds SET expires = ${end()} WHERE id = ${id} AND expires >= ${system.now()}`),
    )
  // One that fails is made good by the next; `require` knows whether they all did.
  const timer = setInterval(() => void renew().catch(() => {}), RESERVATION_TTL / 5).unref()
  return {
    async require() {
      if ((await renew()) === 0) throw new Error('the hold on the files has lapsed, because this process stood still')
    },
    async release() {
      clearInterval(timer)
      await database.run(sql`DELETE FROM blob_holds WHERE id = ${id}`)
    },
  }
}

export async function areBlobsHeld(queries: Queries, now: Milliseconds): Promise<boolean> {
  return (await queries.get(sql`SELECT 1 AS held FROM blob_holds WHERE expires >= ${now}`)) !== undefined
}
