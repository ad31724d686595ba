import { Conflict, NotFound, TooLarge } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import { type Bytes, type Milliseconds, UNLIMITED } from '../base/units.ts'
import { type Database, type Queries, UniqueViolation } from '../stores/database.ts'
import { databaseTime, type Sql, sql } from '../stores/sql.ts'
import { discardBlob, type FileRecord, isFile } from './file-records.ts'

export interface LedgerOptions {
  /** If false, usage is counted but nothing is rejected (`service.data.quota`). */
  readonly enforced: boolean
  /** For contexts without a quota of their own; -1 is unlimited. */
  readonly defaultQuota: Bytes
}

/** The quota object of I2.6. */
export interface Quota {
  readonly quota: Bytes
  readonly fillLevel: Bytes
  readonly hasDefaultQuota: boolean
}

interface UsageRow {
  readonly quota: Bytes | null
  readonly used: Bytes
}

/** Storage reserved for an upload in progress, identified by the key of the blob that it writes. */
export interface Reservation {
  readonly context: string
  readonly blob: string
}

/** A reservation that has just been made. */
export interface NewReservation extends Reservation {
  /** How many bytes may be written before the reservation must grow. */
  readonly covered: Bytes
}

/** A reservation that has not been renewed for this long belongs to a process that has died. */
export const RESERVATION_TTL: Milliseconds = 300_000

/**
 * The usage and the quota of each context (D7.3). Storage is reserved before bytes are accepted, and counted in the
 * transaction that makes the file visible. Each step is one conditional UPDATE, so the database enforces the limit under
 * concurrency and the committed sum never exceeds the quota. Reservations are written in relaxed transactions, because they
 * only matter during an upload.
 */
export class Ledger {
  readonly #database: Database
  readonly #system: System
  readonly #options: LedgerOptions

  constructor(database: Database, system: System, options: LedgerOptions) {
    this.#database = database
    this.#system = system
    this.#options = options
  }

  get enforced(): boolean {
    return this.#options.enforced
  }

  /** The quota of contexts without their own. */
  get defaultQuota(): Bytes {
    return this.#options.defaultQuota
  }

  /** Creates the row of usage for a new context. */
  async open(tx: Queries, context: string): Promise<void> {
    await tx.run(sql`INSERT INTO spaces (context) VALUES (${context})`)
  }

  /** Deletes the row of usage of a context whose files are gone. */
  async close(tx: Queries, context: string): Promise<void> {
    await tx.run(sql`DELETE FROM spaces WHERE context = ${context}`)
  }

  /** @throws {NotFound} */
  async quotaOf(queries: Queries, context: string): Promise<Quota> {
    const row = await queries.get<UsageRow>(sql`SELECT quota, used FROM spaces WHERE context = ${context}`)
    if (!row) throw unknownContext(context)
    return this.#describe(row)
  }

  /** `undefined` removes the manual quota. A quota below the present usage only prevents growth. @throws {NotFound} */
  async setQuota(queries: Queries, context: string, quota: Bytes | undefined): Promise<void> {
    const changed = await queries.run(sql`UPDATE spaces SET quota = ${quota ?? null} WHERE context = ${context}`)
    if (changed === 0) throw unknownContext(context)
  }

  /**
   * Reserves storage for the upload that will write `blob`. An upload that replaces a file reuses the storage of that file
   * and reserves only the rest; of several uploads that replace the same file at once, only the first does (D20.1).
   * @param size declared size in bytes; 0 if unknown
   * @throws {TooLarge} `quota-exceeded`; nothing is reserved then
   */
  async reserve(context: string, blob: string, size: Bytes, replaced?: FileRecord): Promise<NewReservation> {
    const insert = async (tx: Queries): Promise<NewReservation> => {
      // The file may have been replaced or deleted since the caller read its record.
      const isCredited =
        replaced !== undefined && (await isFile(tx, replaced.blob)) && !(await isReplaced(tx, replaced.blob))
      const credit = isCredited ? replaced.size : 0
      const bytes = Math.max(0, size - credit)
      await this.#reserveBytes(tx, context, bytes)
      await tx.run(sql`INSERT INTO uploads (blob, context, reserved, expires, replaces, credit)
        VALUES (${blob}, ${context}, ${bytes}, ${this.#expiry()}, ${isCredited ? replaced.blob : null}, ${credit})`)
      return { context, blob, covered: Math.max(credit, size) }
    }
    try {
      return await this.#relaxed(insert)
    } catch (error) {
      // Another node was faster; its upload is visible now.
      if (error instanceof UniqueViolation) return await this.#relaxed(insert)
      throw error
    }
  }

  /**
   * Reserves for an import, which replaces all files of a context. It starts with nothing reserved and grows once the
   * sizes of its files are known.
   * @throws {Conflict} while another import into the context is in progress: each may need as much disk as the quota
   */
  async reserveImport(context: string, blob: string): Promise<Reservation> {
    const mark = `*${context}`
    const refusal = (): Conflict =>
      new Conflict('conflict', 'Another import into this context is in progress. Wait until it has finished.')
    try {
      return await this.#relaxed(async tx => {
        if (await isReplaced(tx, mark)) throw refusal()
        await tx.run(sql`INSERT INTO uploads (blob, context, reserved, expires, replaces)
          VALUES (${blob}, ${context}, 0, ${this.#expiry()}, ${mark})`)
        return { context, blob }
      })
    } catch (error) {
      throw error instanceof UniqueViolation ? refusal() : error
    }
  }

  /**
   * Reserves more for an upload of unknown size: `preferred` bytes if they fit, else `needed`. Resolves to the number of
   * added bytes. @throws {TooLarge} `quota-exceeded`
   */
  async grow({ context, blob }: Reservation, needed: Bytes, preferred: Bytes): Promise<Bytes> {
    const add = (bytes: Bytes): Promise<Bytes> =>
      this.#relaxed(async tx => {
        await this.#reserveBytes(tx, context, bytes)
        const changed = await tx.run(sql`UPDATE uploads SET reserved = reserved + ${bytes} WHERE blob = ${blob}`)
        if (changed === 0) throw reservationExpired()
        return bytes
      })
    try {
      return await add(preferred)
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
      return await add(needed)
    }
  }

  /**
   * Adds one more blob to the upload. The blob reserves no storage by itself; it is renewed, committed and cancelled with
   * the upload.
   */
  async addPart({ context, blob }: Reservation, part: string): Promise<void> {
    await this.#relaxed(async tx => {
      const added = await tx.run(sql`INSERT INTO uploads (blob, context, reserved, expires, part_of)
        SELECT ${part}, ${context}, 0, expires, ${blob} FROM uploads WHERE blob = ${blob}`)
      if (added === 0) throw reservationExpired()
    })
  }

  /** Extends the reservation of an upload in progress. */
  async renew({ blob }: Reservation): Promise<void> {
    await this.#relaxed(tx =>
      tx.run(sql`UPDATE uploads SET expires = ${this.#expiry()} WHERE blob = ${blob} OR part_of = ${blob}`),
    )
  }

  /**
   * Converts the reservation into `growth` more bytes of usage (fewer when negative), checked again against the present
   * quota. Part of the transaction that makes the file visible. Resolves to the quota and the new usage.
   * @throws {TooLarge} `quota-exceeded`
   */
  async commit(tx: Queries, { context, blob }: Reservation, growth: Bytes): Promise<Quota> {
    const ended = await tx.get<{ reserved: number }>(sql`DELETE FROM uploads WHERE blob = ${blob} RETURNING reserved`)
    if (!ended) throw reservationExpired()
    await tx.run(sql`DELETE FROM uploads WHERE part_of = ${blob}`)
    const booked = await tx.get<UsageRow>(sql`UPDATE spaces
      SET reserved = reserved - ${ended.reserved}, used = used + ${growth}
      WHERE context = ${context} AND ${this.#fits(growth, sql`used + reserved - ${ended.reserved}`)}
      RETURNING quota, used`)
    if (!booked) throw await this.#refusal(tx, context, growth)
    return this.#describe(booked)
  }

  /** Subtracts removed files from the usage. Part of the transaction that removes them. */
  async releaseUsage(tx: Queries, context: string, bytes: Bytes): Promise<void> {
    await tx.run(sql`UPDATE spaces SET used = used - ${bytes} WHERE context = ${context}`)
  }

  /**
   * Moves the usage of files from one context to another: adds it to the target first, checked against its quota (D7.8).
   * Part of the transaction that moves them. @throws {TooLarge} `quota-exceeded`
   */
  async transfer(tx: Queries, from: string, to: string, bytes: Bytes): Promise<void> {
    const booked = await tx.run(sql`UPDATE spaces SET used = used + ${bytes}
      WHERE context = ${to} AND ${this.#fits(bytes, sql`used + reserved`)}`)
    if (booked === 0) throw await this.#refusal(tx, to, bytes)
    await this.releaseUsage(tx, from, bytes)
  }

  /**
   * Cancels a reservation and discards its blobs in one step. Returns false and changes nothing when it has already ended.
   */
  async cancel({ context, blob }: Reservation): Promise<boolean> {
    return await this.#relaxed(async tx => {
      const ended = await tx.get<{ reserved: number }>(sql`DELETE FROM uploads WHERE blob = ${blob} RETURNING reserved`)
      if (!ended) return false
      await tx.run(sql`UPDATE spaces SET reserved = reserved - ${ended.reserved} WHERE context = ${context}`)
      await discardBlob(tx, blob)
      await tx.run(sql`INSERT INTO discarded_blobs (blob) SELECT blob FROM uploads WHERE part_of = ${blob}`)
      await tx.run(sql`DELETE FROM uploads WHERE part_of = ${blob}`)
      return true
    })
  }

  /** Uploads whose process has died: all of them if no other process can use the store, else those not renewed in time. */
  async abandoned(isExclusive: boolean): Promise<Reservation[]> {
    const condition = isExclusive ? sql`1 = 1` : sql`expires < ${this.#now()}`
    return await this.#database.all<Reservation>(
      sql`SELECT context, blob FROM uploads WHERE part_of IS NULL AND ${condition}`,
    )
  }

  async #reserveBytes(tx: Queries, context: string, bytes: Bytes): Promise<void> {
    const changed = await tx.run(sql`UPDATE spaces SET reserved = reserved + ${bytes}
      WHERE context = ${context} AND ${this.#fits(bytes, sql`used + reserved`)}`)
    if (changed === 0) throw await this.#refusal(tx, context, bytes)
  }

  #now(): Sql {
    return databaseTime(this.#database, this.#system)
  }

  #expiry(): Sql {
    return sql`${this.#now()} + ${RESERVATION_TTL}`
  }

  #describe({ quota, used }: UsageRow): Quota {
    return { quota: quota ?? this.#options.defaultQuota, fillLevel: used, hasDefaultQuota: quota === null }
  }

  /** Equal or lower usage always fits, even above the quota (D7.3). */
  #fits(growth: Bytes, present: Sql): Sql {
    if (!this.#options.enforced || growth <= 0) return sql`1 = 1`
    const limit = sql`COALESCE(quota, ${this.#options.defaultQuota})`
    return sql`(${limit} = ${UNLIMITED} OR ${present} + ${growth} <= ${limit})`
  }

  async #refusal(queries: Queries, context: string, needed: Bytes): Promise<Error> {
    const { quota, fillLevel } = await this.quotaOf(queries, context)
    const detail = `The context has a quota of ${quota} bytes and holds ${fillLevel}; ${needed} more do not fit.`
    return new TooLarge('quota-exceeded', detail, { extra: { quota, fillLevel, needed } })
  }

  #relaxed<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    return this.#database.transaction(work, { durability: 'relaxed' })
  }
}

/** Whether an upload in progress reuses the storage of this blob. */
const isReplaced = async (tx: Queries, blob: string): Promise<boolean> =>
  (await tx.get(sql`SELECT 1 AS found FROM uploads WHERE replaces = ${blob}`)) !== undefined

const unknownContext = (context: string): NotFound => new NotFound('not-found', `There is no context "${context}".`)

const reservationExpired = (): Conflict =>
  new Conflict('conflict', 'The upload took too long, so its reservation has expired.')

/** Per cent of its quota at which a context needs attention; below 100 it can still grow. */
export const THRESHOLDS = [80, 90, 100] as const

/** The highest threshold that the last `growth` bytes reached; `undefined` for none. */
export function reachedThreshold(
  { quota, fillLevel }: Pick<Quota, 'quota' | 'fillLevel'>,
  growth: Bytes,
): number | undefined {
  if (quota === UNLIMITED || growth <= 0) return undefined
  const isAt = (level: Bytes, percent: number): boolean => level * 100 >= quota * percent
  return THRESHOLDS.findLast(percent => isAt(fillLevel, percent) && !isAt(fillLevel - growth, percent))
}
