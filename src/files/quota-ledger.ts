import { Conflict, NotFound, TooLarge } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import { type Bytes, type Milliseconds, UNLIMITED } from '../base/units.ts'
import { type Database, type Queries, UniqueViolation } from '../stores/database.ts'
import { databaseTime, type Sql, sql } from '../stores/sql.ts'
import { discardBlob, type FileRecord, isFile } from './file-records.ts'
import {
  type Amount,
  type Booking,
  NOTHING,
  type Payers,
  type QuotaOptions,
  type QuotaOwner,
  QuotaUsage,
  type Usage,
} from './quota-usage.ts'

/** The quota object of I2.6. */
export interface Quota {
  readonly quota: Bytes
  readonly fillLevel: Bytes
  readonly hasDefaultQuota: boolean
}

/** Storage reserved for an upload in progress, identified by the key of the blob that it writes. */
export interface Reservation extends Payers {
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
 * The usage and the quotas of contexts, users, groups of contexts and the store (D7.3). Storage is reserved before bytes are
 * accepted, and counted in the transaction that makes the file visible. Each step changes the rows of all who pay in one
 * transaction, which is rolled back if one of them would exceed its quota, so the committed sums never do. Reservations are
 * written in relaxed transactions, because they only matter during an upload.
 */
export class Ledger {
  readonly usage: QuotaUsage
  readonly #database: Database
  readonly #system: System

  constructor(database: Database, system: System, options: QuotaOptions) {
    this.usage = new QuotaUsage(options)
    this.#database = database
    this.#system = system
  }

  get enforced(): boolean {
    return this.usage.enforced
  }

  /** Creates the row of usage for a new context. */
  async open(tx: Queries, context: string): Promise<void> {
    await tx.run(sql`INSERT INTO quota_usage (kind, owner) VALUES ('context', ${context})`)
  }

  /** Deletes the row of usage of a context whose files are gone. What uploads into it have reserved counts for its group no more. */
  async close(tx: Queries, context: string): Promise<void> {
    const group = await this.groupOf(tx, context)
    const usage = await this.usage.find(tx, { kind: 'context', id: context })
    if (group !== undefined && usage) {
      const reserved = { bytes: usage.used.bytes - usage.held.bytes, files: usage.used.files - usage.held.files }
      await this.usage.bookFor(tx, [{ kind: 'group', id: group }], { reserved })
    }
    await tx.run(sql`DELETE FROM quota_usage WHERE kind = 'context' AND owner = ${context}`)
    await tx.run(sql`DELETE FROM quota_groups WHERE context = ${context}`)
  }

  /** The group of a context, if it is in one. */
  async groupOf(queries: Queries, context: string): Promise<string | undefined> {
    return (await queries.get<{ name: string }>(sql`SELECT name FROM quota_groups WHERE context = ${context}`))?.name
  }

  /** @throws {NotFound} */
  async quotaOf(queries: Queries, context: string): Promise<Quota> {
    const usage = await this.usage.find(queries, { kind: 'context', id: context })
    if (!usage) throw unknownContext(context)
    return quotaObject(usage)
  }

  /** `undefined` removes the manual quota. A quota below the present usage only prevents growth. @throws {NotFound} */
  async setQuota(tx: Queries, context: string, quota: Bytes | undefined): Promise<void> {
    const changed = await tx.run(
      sql`UPDATE quota_usage SET quota = ${quota ?? null} WHERE kind = 'context' AND owner = ${context}`,
    )
    if (changed === 0) throw unknownContext(context)
  }

  /**
   * Reserves storage for the upload that will write `blob`. An upload that replaces a file reuses the storage of that file
   * and reserves only the rest; of several uploads that replace the same file at once, only the first does (D20.1).
   * @param size declared size in bytes; 0 if unknown
   * @throws {TooLarge} `quota-exceeded`; nothing is reserved then
   */
  async reserve(payers: Payers, blob: string, size: Bytes, replaced?: FileRecord): Promise<NewReservation> {
    const { context, user } = payers
    const insert = async (tx: Queries): Promise<NewReservation> => {
      // The file may have been replaced or deleted since the caller read its record.
      const isCredited =
        replaced !== undefined && (await isFile(tx, replaced.blob)) && !(await isReplaced(tx, replaced.blob))
      const credit = isCredited ? replaced.size : 0
      const reserved = { bytes: Math.max(0, size - credit), files: isCredited ? 0 : 1 }
      await this.#require(tx, payers, { reserved })
      await tx.run(sql`INSERT INTO uploads (blob, context, user_id, reserved, reserved_files, expires, replaces, credit)
        VALUES (${blob}, ${context}, ${user}, ${reserved.bytes}, ${reserved.files}, ${this.#expiry()},
          ${isCredited ? replaced.blob : null}, ${credit})`)
      return { context, user, blob, covered: Math.max(credit, size) }
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
        return { context, user: null, blob }
      })
    } catch (error) {
      throw error instanceof UniqueViolation ? refusal() : error
    }
  }

  /**
   * Reserves more for an upload of unknown size: `preferred` bytes if they fit, else `needed`. Resolves to the number of
   * added bytes. @throws {TooLarge} `quota-exceeded`
   */
  async grow(reservation: Reservation, needed: Bytes, preferred: Bytes): Promise<Bytes> {
    try {
      return await this.#grow(reservation, { bytes: preferred, files: 0 })
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
      return await this.#grow(reservation, { bytes: needed, files: 0 })
    }
  }

  /** Reserves more for an import, once its files are known. @throws {TooLarge} `quota-exceeded` */
  async growImport(reservation: Reservation, growth: Amount): Promise<void> {
    await this.#grow(reservation, { bytes: Math.max(0, growth.bytes), files: Math.max(0, growth.files) })
  }

  async #grow({ blob, ...payers }: Reservation, reserved: Amount): Promise<Bytes> {
    return await this.#relaxed(async tx => {
      await this.#require(tx, payers, { reserved })
      const changed = await tx.run(sql`UPDATE uploads
        SET reserved = reserved + ${reserved.bytes}, reserved_files = reserved_files + ${reserved.files} WHERE blob = ${blob}`)
      if (changed === 0) throw reservationExpired()
      return reserved.bytes
    })
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
   * Converts the reservation into this much more usage (less when negative), checked again against the present quotas.
   * Part of the transaction that makes the file visible. Resolves to the new usage of all who pay.
   * @throws {TooLarge} `quota-exceeded`
   */
  async commit(tx: Queries, { blob, ...payers }: Reservation, growth: Amount): Promise<readonly Usage[]> {
    const reserved = await this.#end(tx, blob)
    if (!reserved) throw reservationExpired()
    await tx.run(sql`DELETE FROM uploads WHERE part_of = ${blob}`)
    return await this.#require(tx, payers, { used: growth, reserved })
  }

  /** Subtracts removed files from the usage. Part of the transaction that removes them. */
  async releaseUsage(tx: Queries, payers: Payers, amount: Amount): Promise<void> {
    await this.usage.book(tx, payers, { used: negative(amount) })
  }

  /** Subtracts all files of a context from all usage. Part of the transaction that removes them, before their rows are gone. */
  async releaseFilesOf(tx: Queries, context: string): Promise<void> {
    for (const [user, amount] of await this.usersOf(tx, context))
      await this.usage.bookFor(tx, [{ kind: 'user', id: user }], { used: negative(amount) })
    const usage = await this.usage.find(tx, { kind: 'context', id: context })
    if (usage) await this.usage.book(tx, { context, user: null }, { used: negative(usage.used) })
  }

  /** What the files of a context count for each user. */
  async usersOf(queries: Queries, context: string): Promise<ReadonlyMap<string, Amount>> {
    const rows = await queries.all<Amount & { readonly user: string }>(
      sql`SELECT user_id AS "user", SUM(size) AS bytes, COUNT(*) AS files FROM files
        WHERE context = ${context} AND user_id IS NOT NULL GROUP BY user_id ORDER BY user_id`,
    )
    return new Map(rows.map(({ user, bytes, files }) => [user, { bytes, files }]))
  }

  /**
   * Counts for users what the files of a context count for them now, instead of what they counted before. Resolves to the new usage of
   * each user. @throws {TooLarge} `quota-exceeded`
   */
  async recountUsers(tx: Queries, context: string, before: ReadonlyMap<string, Amount>): Promise<readonly Usage[]> {
    const after = await this.usersOf(tx, context)
    const usages: Usage[] = []
    for (const user of [...new Set([...before.keys(), ...after.keys()])].sort()) {
      const { bytes, files } = after.get(user) ?? NOTHING
      const old = before.get(user) ?? NOTHING
      const used = { bytes: bytes - old.bytes, files: files - old.files }
      usages.push(...(await this.usage.bookFor(tx, [{ kind: 'user', id: user }], { used })))
    }
    return usages
  }

  /**
   * Moves the usage of files from one context to another: adds it to the target first, checked against its quota and that of
   * its group (D7.8). Part of the transaction that moves them. @throws {TooLarge} `quota-exceeded`
   */
  async transfer(tx: Queries, from: string, to: string, amount: Amount): Promise<void> {
    const [left, joined] = [await this.groupOf(tx, from), await this.groupOf(tx, to)]
    const payers = (context: string, group: string | undefined): QuotaOwner[] => [
      { kind: 'context', id: context },
      ...(group === undefined || left === joined ? [] : [{ kind: 'group' as const, id: group }]),
    ]
    const booked = await this.usage.bookFor(tx, payers(to, joined), { used: amount })
    if (booked.length === 0) throw unknownContext(to)
    await this.usage.bookFor(tx, payers(from, left), { used: negative(amount) })
  }

  /**
   * Cancels a reservation and discards its blobs in one step. Returns false and changes nothing when it has already ended.
   */
  async cancel({ blob, ...payers }: Reservation): Promise<boolean> {
    return await this.#relaxed(async tx => {
      const reserved = await this.#end(tx, blob)
      if (!reserved) return false
      await this.usage.book(tx, payers, { reserved })
      await discardBlob(tx, blob)
      await tx.run(sql`INSERT INTO discarded_blobs (blob) SELECT blob FROM uploads WHERE part_of = ${blob}`)
      await tx.run(sql`DELETE FROM uploads WHERE part_of = ${blob}`)
      return true
    })
  }

  /** The reservation of the upload that writes this blob. @throws {Conflict} when it has ended */
  async reservationOf(blob: string): Promise<Reservation> {
    const row = await this.#database.get<Reservation>(
      sql`SELECT context, user_id AS "user", blob FROM uploads WHERE blob = ${blob}`,
    )
    if (!row) throw reservationExpired()
    return row
  }

  /** Makes one reservation of several in the same context. Part of the transaction that joins their bytes. */
  async join(tx: Queries, blobs: readonly string[], { blob, context, user }: Reservation): Promise<void> {
    let [bytes, files] = [0, 0]
    for (const part of blobs) {
      const ended = await this.#end(tx, part)
      if (!ended) throw reservationExpired()
      bytes -= ended.bytes
      files -= ended.files
    }
    await this.#require(tx, { context, user }, { reserved: { bytes: 0, files: 1 - files } })
    await tx.run(sql`INSERT INTO uploads (blob, context, user_id, reserved, reserved_files, expires)
      VALUES (${blob}, ${context}, ${user}, ${bytes}, 1, ${this.#expiry()})`)
  }

  /**
   * Uploads whose process has died: all of them if no other process can use the store, else those not renewed in time. Uploads in
   * several requests belong to no process.
   */
  async abandoned(isExclusive: boolean): Promise<Reservation[]> {
    const condition = isExclusive ? sql`1 = 1` : sql`expires < ${this.#now()}`
    return await this.#database.all<Reservation>(
      sql`SELECT context, user_id AS "user", blob FROM uploads WHERE part_of IS NULL AND ${condition}
        AND blob NOT IN (SELECT blob FROM resumable_uploads WHERE is_done = 0 AND expires >= ${this.#now()})`,
    )
  }

  /** Books for all who pay. @throws {NotFound} when the context is gone @throws {TooLarge} */
  async #require(tx: Queries, payers: Payers, booking: Booking): Promise<readonly Usage[]> {
    const usages = await this.usage.book(tx, payers, booking)
    if (usages[0]?.owner.kind !== 'context') throw unknownContext(payers.context)
    return usages
  }

  /** Deletes the row of an upload. @returns what it had reserved, as a change that gives it back */
  async #end(tx: Queries, blob: string): Promise<Amount | undefined> {
    const row = await tx.get<{ reserved: Bytes; files: number }>(
      sql`DELETE FROM uploads WHERE blob = ${blob} RETURNING reserved, reserved_files AS files`,
    )
    return row && negative({ bytes: row.reserved, files: row.files })
  }

  #now(): Sql {
    return databaseTime(this.#database, this.#system)
  }

  #expiry(): Sql {
    return sql`${this.#now()} + ${RESERVATION_TTL}`
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
  new Conflict('conflict', 'The upload took too long, so its reservation has expired. Upload the file again.')

/** The quota of a context as the interface shows it. */
export const quotaObject = ({ limit, used, hasDefaultQuota }: Usage): Quota => ({
  quota: limit.bytes,
  fillLevel: used.bytes,
  hasDefaultQuota,
})

const negative = ({ bytes, files }: Amount): Amount => ({ bytes: -bytes, files: -files })

/** Per cent of a quota at which its owner needs attention; below 100 more can be added. */
export const THRESHOLDS = [80, 90, 100] as const

/** The highest threshold that the last growth reached, in bytes or in files; `undefined` for none. */
export function reachedThreshold({ limit, used }: Pick<Usage, 'limit' | 'used'>, growth: Amount): number | undefined {
  return THRESHOLDS.findLast(percent =>
    (['bytes', 'files'] as const).some(unit => {
      if (limit[unit] === UNLIMITED || growth[unit] <= 0) return false
      const isAt = (level: number): boolean => level * 100 >= limit[unit] * percent
      return isAt(used[unit]) && !isAt(used[unit] - growth[unit])
    }),
  )
}
