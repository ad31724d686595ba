import { StoreUnavailable } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import type { Database, Queries } from '../stores/database.ts'
import { databaseTime, sql, type Sql } from '../stores/sql.ts'
import { isFile } from './file-records.ts'
import { lastingBlobs } from './lasting-uploads.ts'
import type { Ledger } from './quota-ledger.ts'
import type { Milliseconds } from '../base/units.ts'

const BATCH = 200

/** Deletes bytes that are no longer referenced: discarded blobs, and the remains of failed uploads. */
export class Garbage {
  readonly #database: Database
  readonly #blobs: Pick<BlobStore, 'delete' | 'unfinished'>
  readonly #ledger: Ledger
  readonly #system: Pick<System, 'now'>
  #collecting: Promise<void> | undefined
  #isAskedFor = false

  constructor(
    database: Database,
    blobs: Pick<BlobStore, 'delete' | 'unfinished'>,
    ledger: Ledger,
    system: Pick<System, 'now'>,
  ) {
    this.#database = database
    this.#blobs = blobs
    this.#ledger = ledger
    this.#system = system
  }

  /**
   * Deletes one discarded blob, or leaves it for a later {@link collect} while a copy of the store is being made. A hold
   * taken after this check belongs to a copy that no longer lists the blob as a file.
   */
  async delete(blob: string): Promise<void> {
    if (await areBlobsHeld(this.#database, this.#system)) return
    await this.#blobs.delete(blob)
    await this.#database.transaction(tx => tx.run(sql`DELETE FROM discarded_blobs WHERE blob = ${blob}`), {
      durability: 'relaxed',
    })
  }

  /** Deletes all discarded blobs. A caller that arrives while it runs waits for that run, which then checks once more. */
  collect(): Promise<void> {
    this.#isAskedFor = true
    this.#collecting ??= this.#collectWhileAskedFor()
    return this.#collecting
  }

  async #collectWhileAskedFor(): Promise<void> {
    try {
      while (this.#isAskedFor) {
        this.#isAskedFor = false
        await this.#deleteDiscarded()
      }
    } finally {
      this.#collecting = undefined
    }
  }

  /**
   * Removes uploads whose process has died. After a jump of the clock, such an upload may still be running: its bytes are deleted only when
   * it can no longer be committed.
   */
  async recover(isExclusive: boolean): Promise<void> {
    let isAnyUndone = false
    for (const reservation of await this.#ledger.abandoned(isExclusive)) {
      isAnyUndone = (await this.#ledger.cancel(reservation)) || isAnyUndone
    }
    if (isAnyUndone) await this.collect()
    if (!isExclusive) return
    // After a power failure there may be bytes of an upload whose record was not written to the disk, and a file may have both of its names.
    for (const blob of await this.#blobs.unfinished())
      if (!(await isFile(this.#database, blob)) && !(await isLasting(this.#database, blob)))
        await this.#blobs.delete(blob)
  }

  /** @throws the first error, after all blobs that can be deleted are deleted */
  async #deleteDiscarded(): Promise<void> {
    let last = ''
    let failure: { readonly error: unknown } | undefined
    while (!(await areBlobsHeld(this.#database, this.#system))) {
      const batch = await this.#database.all<{ blob: string }>(
        sql`SELECT blob FROM discarded_blobs WHERE blob > ${last} ORDER BY blob LIMIT ${BATCH}`,
      )
      if (batch.length === 0) break
      for (const { blob } of batch) {
        try {
          await this.delete(blob)
        } catch (error) {
          // The other deletions would fail as well, each after waiting for the store.
          if (error instanceof StoreUnavailable) throw error
          failure ??= { error }
        }
        last = blob
      }
    }
    if (failure) throw failure.error
  }
}

/** Whether the blob is that of an upload which goes on. */
async function isLasting(queries: Queries, blob: string): Promise<boolean> {
  const found = await queries.get(sql`SELECT 1 AS found FROM (${lastingBlobs()}) AS lasting WHERE blob = ${blob}`)
  return found !== undefined
}

/** A hold that has not been renewed for this long belongs to a process that has died. */
const HOLD_TTL: Milliseconds = 300_000

/** Keeps all stored bytes, including those of files that are deleted meanwhile. */
interface BlobHold {
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
    tx.run(sql`INSERT INTO blob_holds (id, expires) VALUES (${id}, ${now()} + ${HOLD_TTL})`),
  )
  const renew = (): Promise<number> =>
    database.transaction(tx =>
      tx.run(sql`UPDATE blob_holds SET expires = ${now()} + ${HOLD_TTL} WHERE id = ${id} AND expires >= ${now()}`),
    )
  // The next renewal makes up for a failed one; `require` checks that the hold never expired.
  const timer = setInterval(() => void renew().catch(() => {}), HOLD_TTL / 5).unref()
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
