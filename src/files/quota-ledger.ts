import { Conflict, NotFound, TooLarge } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import { type Database, type Queries, UniqueViolation } from '../stores/database.ts'
import { databaseTime, type Sql, sql } from '../stores/sql.ts'
import {
  addToReservation,
  discardAdded,
  type EndedReservation,
  forgetAdded,
  releaseReservation,
  takeReservation,
} from './reservations.ts'
import { type FileRecord, isFile } from './file-records.ts'
import { currentBlobs } from './lasting-uploads.ts'
import { growthOf, type UsageChange } from './quota-thresholds.ts'
import {
  type Amount,
  NOTHING,
  type Payers,
  type QuotaOptions,
  type QuotaOwner,
  QuotaUsage,
  type Usage,
} from './quota-usage.ts'

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
 * The usage and the quotas of contexts, users, groups of contexts and the store (D7.3). Storage is reserved before bytes are accepted, and
 * counted in the transaction that makes the file visible. Each step changes the rows of all payers in one transaction, which is rolled back
 * if a payer would exceed its quota, so committed usage never exceeds a quota. Reservations are written in relaxed transactions, because
 * they only matter during an upload.
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

  /**
   * Creates the row of usage for a new context. A context that is restored may have uploads in progress: its own files, and uploads that began
   * before it was deleted.
   */
  async open(tx: Queries, context: string): Promise<void> {
    await tx.run(sql`INSERT INTO quota_usage (kind, owner, reserved, reserved_files)
      SELECT 'context', CAST(${context} AS TEXT), COALESCE(SUM(reserved), 0), COALESCE(SUM(reserved_files), 0)
        FROM uploads WHERE context = ${context}`)
  }

  /** Deletes the row of usage of a context whose files are gone. Reservations of uploads into it no longer count for its group. */
  async close(tx: Queries, context: string): Promise<void> {
    const group = await this.groupOf(tx, context)
    const usage = await this.usage.find(tx, { kind: 'context', id: context })
    if (group !== undefined && usage) {
      const reserved = { bytes: usage.used.bytes - usage.held.bytes, files: usage.used.files - usage.held.files }
      await this.usage.bookFor(tx, [{ kind: 'group', id: group }], NOTHING, reserved)
    }
    await tx.run(sql`DELETE FROM quota_usage WHERE kind = 'context' AND owner = ${context}`)
    await tx.run(sql`DELETE FROM quota_groups WHERE context = ${context}`)
  }

  /** The group of a context, if it is in one. */
  async groupOf(queries: Queries, context: string): Promise<string | undefined> {
    return (await queries.get<{ name: string }>(sql`SELECT name FROM quota_groups WHERE context = ${context}`))?.name
  }

  /** @throws {NotFound} */
  async quotaOf(queries: Queries, context: string): Promise<Usage> {
    const usage = await this.usage.find(queries, { kind: 'context', id: context })
    if (!usage) throw unknownContext(context)
    return usage
  }

  /** `undefined` removes the manual quota. A quota below the present usage only prevents growth. @throws {NotFound} */
  async setQuota(tx: Queries, context: string, quota: Bytes | undefined): Promise<UsageChange> {
    const owner = { kind: 'context', id: context } as const
    const before = await this.usage.find(tx, owner)
    await tx.run(sql`UPDATE quota_usage SET quota = ${quota ?? null} WHERE kind = 'context' AND owner = ${context}`)
    const after = await this.usage.find(tx, owner)
    if (!before || !after) throw unknownContext(context)
    return { before, after }
  }

  /**
   * Reserves storage for the upload that will write `blob`. An upload that replaces a file reuses the storage of that file
   * and reserves only the rest; of several uploads that replace the same file at once, only the first does (D20.1).
   * @param size declared size in bytes; 0 if unknown
   * @throws {TooLarge} `quota-exceeded`; nothing is reserved then
   */
  async reserve(payers: Payers, blob: string, size: Bytes, replaced?: FileRecord): Promise<NewReservation> {
    const reserving = async (tx: Queries): Promise<NewReservation> =>
      (await this.reserveIn(tx, payers, { blob, size, replaced })).reservation
    try {
      return await this.#relaxed(reserving)
    } catch (error) {
      // Another node was faster; its upload is visible now.
      if (error instanceof UniqueViolation) return await this.#relaxed(reserving)
      throw error
    }
  }

  /**
   * The same inside a transaction. @returns also the reserved amount, and the usage of all payers afterwards
   * @throws {UniqueViolation} when another transaction has just reserved for a replacement of the same file
   */
  async reserveIn(
    tx: Queries,
    payers: Payers,
    {
      blob,
      size,
      replaced,
    }: { readonly blob: string; readonly size: Bytes; readonly replaced?: FileRecord | undefined },
  ): Promise<{ readonly reservation: NewReservation; readonly reserved: Amount; readonly usages: readonly Usage[] }> {
    const { context, user } = payers
    // The file may have been replaced or deleted since the caller read its record.
    const isCredited =
      replaced !== undefined && (await isFile(tx, replaced.blob)) && !(await isReplaced(tx, replaced.blob))
    const credit = isCredited ? replaced.size : 0
    const reserved = { bytes: Math.max(0, size - credit), files: isCredited ? 0 : 1 }
    const usages = await this.#require(tx, payers, NOTHING, reserved)
    await tx.run(sql`INSERT INTO uploads (blob, context, user_id, reserved, reserved_files, expires, replaces, credit)
      VALUES (${blob}, ${context}, ${user}, ${reserved.bytes}, ${reserved.files}, ${this.#expiry()},
        ${isCredited ? replaced.blob : null}, ${credit})`)
    return { reservation: { context, user, blob, covered: Math.max(credit, size) }, reserved, usages }
  }

  /**
   * Reserves for an import, which replaces all files of a context. It starts with nothing reserved and grows once the
   * sizes of its files are known. The context may be one that the import makes when it commits: until then only the store pays.
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
  async growImport({ blob, ...payers }: Reservation, { bytes, files }: Amount): Promise<void> {
    const growth = { bytes: Math.max(0, bytes), files: Math.max(0, files) }
    await this.#relaxed(async tx => {
      await this.usage.book(tx, payers, NOTHING, growth)
      await enlarge(tx, blob, growth)
    })
  }

  async #grow({ blob, ...payers }: Reservation, reserved: Amount): Promise<Bytes> {
    return await this.#relaxed(async tx => {
      await this.#require(tx, payers, NOTHING, reserved)
      await enlarge(tx, blob, reserved)
      return reserved.bytes
    })
  }

  /**
   * Adds one more blob to the upload. The blob reserves no storage by itself; it is renewed, committed and cancelled with
   * the upload.
   */
  async addBlob({ blob }: Reservation, added: string): Promise<void> {
    await this.#relaxed(async tx => {
      if (!(await addToReservation(tx, blob, added))) throw reservationExpired()
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
   * Part of the transaction that makes the file visible. Resolves to the changes of all who pay.
   * @throws {TooLarge} `quota-exceeded`
   */
  async commit(tx: Queries, { blob, ...payers }: Reservation, growth: Amount): Promise<readonly UsageChange[]> {
    const ended = await takeReservation(tx, blob)
    if (!ended) throw reservationExpired()
    await tx.run(sql`DELETE FROM uploads WHERE part_of = ${blob}`)
    const held = await this.#giveBack(tx, [ended], payers)
    return growthOf(await this.#require(tx, payers, growth, negative(held)), growth)
  }

  /** Subtracts removed files from the usage. Part of the transaction that removes them. */
  async releaseUsage(tx: Queries, payers: Payers, amount: Amount): Promise<void> {
    await this.usage.book(tx, payers, negative(amount))
  }

  /** Subtracts all files of a context from all usage. Part of the transaction that removes them, before their rows are gone. */
  async releaseFilesOf(tx: Queries, context: string): Promise<void> {
    for (const [user, amount] of await this.usersOf(tx, context))
      await this.usage.bookFor(tx, [{ kind: 'user', id: user }], negative(amount))
    const usage = await this.usage.find(tx, { kind: 'context', id: context })
    if (usage) await this.usage.book(tx, { context, user: null }, negative(usage.used))
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
   * Counts the files of a context for their present users, instead of the amounts that counted before.
   * @throws {TooLarge} `quota-exceeded`
   */
  async recountUsers(
    tx: Queries,
    context: string,
    before: ReadonlyMap<string, Amount>,
  ): Promise<readonly UsageChange[]> {
    const after = await this.usersOf(tx, context)
    const changes: UsageChange[] = []
    for (const user of [...new Set([...before.keys(), ...after.keys()])].sort()) {
      const { bytes, files } = after.get(user) ?? NOTHING
      const old = before.get(user) ?? NOTHING
      const used = { bytes: bytes - old.bytes, files: files - old.files }
      changes.push(...growthOf(await this.usage.bookFor(tx, [{ kind: 'user', id: user }], used), used))
    }
    return changes
  }

  /**
   * Moves the usage of files from one context to another: adds it to the target first, checked against the quotas of the target and its
   * group (D7.8). Runs in the transaction that moves the files. Resolves to the usages that have grown.
   * @throws {TooLarge} `quota-exceeded`
   */
  async transfer(tx: Queries, from: string, to: string, amount: Amount): Promise<readonly UsageChange[]> {
    const [left, joined] = [await this.groupOf(tx, from), await this.groupOf(tx, to)]
    const payers = (context: string, group: string | undefined): QuotaOwner[] => [
      { kind: 'context', id: context },
      ...(group === undefined || left === joined ? [] : [{ kind: 'group' as const, id: group }]),
    ]
    const booked = await this.usage.bookFor(tx, payers(to, joined), amount)
    if (booked.length === 0) throw unknownContext(to)
    await this.usage.bookFor(tx, payers(from, left), negative(amount))
    return growthOf(booked, amount)
  }

  /**
   * Cancels a reservation and discards its blobs in one step. Returns false and changes nothing when it has already ended.
   */
  async cancel({ blob }: Pick<Reservation, 'blob'>): Promise<boolean> {
    return await this.#relaxed(tx => releaseReservation(tx, blob))
  }

  /**
   * Makes one reservation of several, for a blob that was added to one of them. Part of the transaction that joins their bytes.
   * @throws {Conflict} when one of them has ended @throws {TooLarge} `quota-exceeded`
   */
  async join(tx: Queries, blobs: readonly string[], { blob, ...payers }: Reservation): Promise<void> {
    await forgetAdded(tx, blob)
    const ended: EndedReservation[] = []
    for (const each of blobs) {
      const one = await takeReservation(tx, each)
      if (!one) throw reservationExpired()
      await discardAdded(tx, each)
      ended.push(one)
    }
    const bytes = ended.reduce((sum, { reserved }) => sum + reserved.bytes, 0)
    const held = await this.#giveBack(tx, ended, payers)
    await this.#require(tx, payers, NOTHING, { bytes: bytes - held.bytes, files: 1 - held.files })
    await tx.run(sql`INSERT INTO uploads (blob, context, user_id, reserved, reserved_files, expires)
      VALUES (${blob}, ${payers.context}, ${payers.user}, ${bytes}, 1, ${this.#expiry()})`)
  }

  /**
   * Uploads whose process has died: all of them if no other process can use the store, else those not renewed in time. Lasting
   * uploads belong to no process.
   */
  async abandoned(isExclusive: boolean): Promise<Reservation[]> {
    const condition = isExclusive ? sql`1 = 1` : sql`expires < ${this.#now()}`
    return await this.#database.all<Reservation>(
      sql`SELECT context, user_id AS "user", blob FROM uploads WHERE part_of IS NULL AND ${condition}
        AND blob NOT IN (${currentBlobs(this.#now())})`,
    )
  }

  /** Books for all who pay. @throws {NotFound} when the context is gone @throws {TooLarge} */
  async #require(tx: Queries, payers: Payers, used: Amount, reserved = NOTHING): Promise<readonly Usage[]> {
    const usages = await this.usage.book(tx, payers, used, reserved)
    if (usages[0]?.owner.kind !== 'context') throw unknownContext(payers.context)
    return usages
  }

  /**
   * Releases ended reservations of other payers. @returns the amount of those that the same payers hold. The caller releases it in one step
   * with the new booking, so that storage which is reserved already always fits.
   */
  async #giveBack(tx: Queries, ended: readonly EndedReservation[], payers: Payers): Promise<Amount> {
    let { bytes, files } = NOTHING
    for (const one of ended) {
      if (one.payers.context === payers.context && one.payers.user === payers.user) {
        bytes += one.reserved.bytes
        files += one.reserved.files
      } else await this.usage.book(tx, one.payers, NOTHING, negative(one.reserved))
    }
    return { bytes, files }
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

/** @throws {Conflict} when the reservation has ended */
async function enlarge(tx: Queries, blob: string, { bytes, files }: Amount): Promise<void> {
  const changed = await tx.run(
    sql`UPDATE uploads SET reserved = reserved + ${bytes}, reserved_files = reserved_files + ${files} WHERE blob = ${blob}`,
  )
  if (changed === 0) throw reservationExpired()
}

/** Whether an upload in progress reuses the storage of this blob. */
const isReplaced = async (tx: Queries, blob: string): Promise<boolean> =>
  (await tx.get(sql`SELECT 1 AS found FROM uploads WHERE replaces = ${blob}`)) !== undefined

const unknownContext = (context: string): NotFound => new NotFound('not-found', `There is no context "${context}".`)

const reservationExpired = (): Conflict =>
  new Conflict('conflict', 'The upload took too long, so its reservation has expired. Upload the file again.')

/** The quota object of I2.6. */
export const quotaObject = ({ limit, used, hasDefaultQuota }: Usage) => ({
  quota: limit.bytes,
  fillLevel: used.bytes,
  hasDefaultQuota,
})

const negative = ({ bytes, files }: Amount): Amount => ({ bytes: -bytes, files: -files })
