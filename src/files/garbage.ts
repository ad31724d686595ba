import type { System } from '../base/system.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { areBlobsHeld } from './blob-hold.ts'
import type { Ledger } from './quota-ledger.ts'

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
   * Removes uploads whose process has died. After a jump of the clock one may still be alive: its bytes are deleted only
   * once it can no longer be committed.
   */
  async recover(isExclusive: boolean): Promise<void> {
    let isAnyUndone = false
    for (const reservation of await this.#ledger.abandoned(isExclusive)) {
      isAnyUndone = (await this.#ledger.cancel(reservation)) || isAnyUndone
    }
    if (isAnyUndone) await this.collect()
    // After a power failure there may be bytes of an upload whose record was not written to the disk.
    if (isExclusive) for (const blob of await this.#blobs.unfinished()) await this.#blobs.delete(blob)
  }

  async #deleteDiscarded(): Promise<void> {
    while (!(await areBlobsHeld(this.#database, this.#system))) {
      const batch = await this.#database.all<{ blob: string }>(sql`SELECT blob FROM discarded_blobs LIMIT ${BATCH}`)
      if (batch.length === 0) return
      for (const { blob } of batch) await this.delete(blob)
    }
  }
}
