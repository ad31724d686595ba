import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Conflict, NotFound, TooLarge } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import { type BlobStore, hashed, newBlobKey, type StoredBlob } from '../stores/blob-store.ts'
import type { Database, Queries } from '../stores/database.ts'
import { databaseTime, type Sql, sql } from '../stores/sql.ts'
import { discardBlob, type FileRecord } from './file-records.ts'
import { type Ledger, type Reservation, RESERVATION_TTL } from './quota-ledger.ts'
import { Portions } from './portions.ts'
import type { Payers } from './quota-usage.ts'
import { RunningDigests } from './running-digests.ts'

/** An upload that arrives in several requests. */
export interface ResumableUpload {
  readonly id: string
  /** Id of the user who uploads. */
  readonly uploader: string
  readonly context: string
  readonly entry: string
  readonly blob: string
  readonly length: Bytes
  /** The bytes before this one are durable. */
  readonly received: Bytes
  readonly mediaType: string
  readonly fileName: string | null
  /** 1 if it is joined with others to one file (tus: partial). */
  readonly isPart: number
  /** 1 if the entry was created for it, and is of no use without its file. */
  readonly isEntryNew: number
  /** 1 once the file is in its place. */
  readonly isDone: number
  readonly expires: Milliseconds
  /** 1 if it has expired. */
  readonly isExpired: number
  /** 1 while a request adds bytes or completes it. */
  readonly isClaimed: number
}

/** An upload to which no other request adds bytes. */
export interface ClaimedUpload extends ResumableUpload {
  /** Names the request. */
  readonly claim: string
}

export interface NewUpload {
  readonly uploader: string
  readonly payers: Payers
  readonly entry: string
  readonly length: Bytes
  readonly mediaType: string
  readonly fileName: string | undefined
  readonly isPart: boolean
  readonly isEntryNew: boolean
  readonly replaced: FileRecord | undefined
}

interface Dependencies {
  readonly database: Database
  readonly blobs: BlobStore
  readonly ledger: Ledger
  readonly system: System
}

/** Bytes after which the offset of a long request is recorded, so that a crash loses no more. */
const STEP: Bytes = 64 * 2 ** 20
/** For how long an upload that ended or expired is still known, so that its client learns of it. */
const KEPT: Milliseconds = 86_400_000

/**
 * Bytes of uploads that arrive in several requests, and the storage reserved for them. What `received` says is on the disk, so it
 * survives a crash, and any node goes on from there.
 */
export class ResumableFiles {
  readonly #deps: Dependencies
  readonly #ttl: Milliseconds
  readonly #digests = new RunningDigests()

  /** @param options.ttl after which an upload that receives nothing is given up */
  constructor(deps: Dependencies, { ttl }: { readonly ttl: Milliseconds }) {
    this.#deps = deps
    this.#ttl = ttl
  }

  /** Reserves the whole length. @throws {TooLarge} `quota-exceeded` */
  async create(upload: NewUpload): Promise<ResumableUpload> {
    const { database, ledger, system } = this.#deps
    const { payers, entry, length, replaced } = upload
    const id = newBlobKey(count => system.randomBytes(count))
    const blob = newBlobKey(count => system.randomBytes(count))
    const reservation = await ledger.reserve(payers, blob, length, replaced)
    try {
      await database.transaction(async tx => {
        await tx.run(sql`INSERT INTO resumable_uploads
            (id, uploader, context, entry, blob, length, media_type, file_name, is_part, new_entry, expires)
          VALUES (${id}, ${upload.uploader}, ${payers.context}, ${entry}, ${blob}, ${length}, ${upload.mediaType},
            ${upload.fileName ?? null}, ${upload.isPart ? 1 : 0}, ${upload.isEntryNew ? 1 : 0}, ${this.#expiry()})`)
        await this.#extend(tx, blob)
      })
    } catch (error) {
      await ledger.cancel(reservation)
      throw error
    }
    return await this.find(id)
  }

  /** @throws {NotFound} */
  async find(id: string, queries: Queries = this.#deps.database): Promise<ResumableUpload> {
    const upload = await queries.get<ResumableUpload>(
      sql`SELECT ${this.#columns()} FROM resumable_uploads WHERE id = ${id}`,
    )
    if (!upload) throw new NotFound('not-found', 'There is no such upload.')
    return upload
  }

  /** Uploads of a user that can go on, the latest first. */
  async unfinishedOf(uploader: string): Promise<ResumableUpload[]> {
    return await this.#deps.database.all<ResumableUpload>(sql`SELECT ${this.#columns()} FROM resumable_uploads
      WHERE uploader = ${uploader} AND is_done = 0 AND is_part = 0 AND expires >= ${this.#now()} ORDER BY expires DESC`)
  }

  /**
   * Runs work during which no other request adds bytes or completes the upload.
   * @param upload as it was found; its `received` is the offset of the bytes
   * @throws {Conflict} `upload-offset` when another request has gone on meanwhile
   */
  async claim<T>(upload: ResumableUpload, work: (claimed: ClaimedUpload) => Promise<T>): Promise<T> {
    const { id } = upload
    const claim = newBlobKey(count => this.#deps.system.randomBytes(count))
    const claimed = await this.#claim(upload, claim)
    const own = sql`id = ${id} AND claim = ${claim}`
    const renew = (): void => {
      // A missed renewal is made up for by the next one.
      this.#relaxed(sql`UPDATE resumable_uploads SET claimed = ${this.#now()} WHERE ${own}`).catch(() => {})
    }
    const renewal = setInterval(renew, RESERVATION_TTL / 3).unref()
    try {
      return await work({ ...claimed, claim })
    } finally {
      clearInterval(renewal)
      await this.#relaxed(sql`UPDATE resumable_uploads SET claim = NULL WHERE ${own}`)
    }
  }

  /**
   * Appends what arrives until the source ends or fails, and records how much is durable, at the latest after every 64 MiB. An error of
   * the source is thrown after that.
   * @param options.inOneStep nothing is recorded unless all has arrived and `accept` has returned
   * @throws {Conflict} `upload-offset` when the claim is lost @throws {TooLarge} beyond the length
   */
  async append(
    upload: ClaimedUpload,
    bytes: AsyncIterable<Uint8Array>,
    options: { readonly inOneStep: boolean; readonly accept: () => void },
  ): Promise<ClaimedUpload> {
    const source = new Portions(bytes)
    try {
      return await this.#append(upload, source, options)
    } finally {
      source.close()
    }
  }

  async #append(
    upload: ClaimedUpload,
    source: Portions,
    { inOneStep, accept }: { readonly inOneStep: boolean; readonly accept: () => void },
  ): Promise<ClaimedUpload> {
    let { received } = upload
    let hash = this.#digests.find(upload)
    while (!(await source.isAtEnd())) {
      const left = upload.length - received
      if (left === 0) throw tooLong(upload)
      const portion = source.next(inOneStep ? left : Math.min(STEP, left))
      // A copy, so that the digest of the recorded bytes stays if these are not recorded.
      hash = hash?.copy()
      const added = await this.#deps.blobs.append(upload.blob, received, hash ? hashed(portion, hash) : portion)
      if (inOneStep) {
        if (!(await source.isAtEnd())) throw tooLong(upload)
        if (source.failure !== undefined) break
        accept()
      }
      received += added
      await this.#record(upload, received)
      if (hash) this.#digests.keep(upload.id, received, hash)
    }
    if (source.failure !== undefined) throw source.failure
    return { ...upload, received }
  }

  /**
   * From now on only this request adds bytes. If one of another process may still be adding some, its bytes go on into the former blob, and
   * this request into a copy.
   */
  async #claim(upload: ResumableUpload, claim: string): Promise<ResumableUpload> {
    const { database, blobs, system } = this.#deps
    const { id, blob: former, received } = upload
    const take = sql`claim = ${claim}, claimed = ${this.#now()}`
    const here = sql`id = ${id} AND received = ${received} AND blob = ${former}`
    if (await this.#relaxed(sql`UPDATE resumable_uploads SET ${take} WHERE ${here} AND NOT ${this.#isClaimed()}`))
      return upload
    const blob = newBlobKey(count => system.randomBytes(count))
    await blobs.append(blob, 0, await blobs.readPieces(former, received))
    await database.transaction(async tx => {
      const changed = await tx.run(
        sql`UPDATE resumable_uploads SET ${take}, blob = ${blob} WHERE ${here} AND is_done = 0`,
      )
      if (changed === 0) throw overtaken()
      await tx.run(sql`UPDATE uploads SET blob = ${blob} WHERE blob = ${former}`)
      await discardBlob(tx, former)
    })
    return { ...upload, blob }
  }

  async #record({ id, blob, claim }: ClaimedUpload, received: Bytes): Promise<void> {
    await this.#deps.database.transaction(async tx => {
      const changed = await tx.run(sql`UPDATE resumable_uploads
        SET received = ${received}, expires = ${this.#expiry()}, claimed = ${this.#now()}
        WHERE id = ${id} AND claim = ${claim} AND is_done = 0`)
      if (changed === 0) throw overtaken()
      await this.#extend(tx, blob)
    })
  }

  /** Before any request: none of an ended process is still adding bytes. */
  async recover(): Promise<void> {
    await this.#relaxed(sql`UPDATE resumable_uploads SET claim = NULL WHERE claim IS NOT NULL`)
  }

  #relaxed(statement: Sql): Promise<number> {
    return this.#deps.database.transaction(tx => tx.run(statement), { durability: 'relaxed' })
  }

  /** Makes the bytes a blob. May be repeated. */
  async complete(upload: ClaimedUpload): Promise<StoredBlob> {
    const { blob, length } = upload
    if (length === 0) await this.#deps.blobs.append(blob, 0, Readable.from([]))
    return await this.#deps.blobs.complete(blob, length, this.#digests.find(upload)?.copy().digest('hex'))
  }

  /** Part of the transaction that puts the file in its place. */
  async markDone(tx: Queries, { id }: ResumableUpload): Promise<void> {
    await tx.run(sql`UPDATE resumable_uploads SET is_done = 1, expires = ${this.#now()} + ${KEPT} WHERE id = ${id}`)
  }

  /**
   * Makes one upload of several complete ones, whose reservations become its own.
   * @throws {TooLarge} `quota-exceeded`
   */
  async join(
    parts: readonly ResumableUpload[],
    upload: Omit<NewUpload, 'length' | 'isPart' | 'isEntryNew'>,
  ): Promise<ResumableUpload> {
    const { database, blobs, ledger, system } = this.#deps
    const id = newBlobKey(count => system.randomBytes(count))
    const blob = newBlobKey(count => system.randomBytes(count))
    const hash = createHash('sha256')
    let length = 0
    for (const part of parts) {
      length += await blobs.append(blob, length, hashed(await blobs.readPieces(part.blob, part.length), hash))
    }
    await database.transaction(async tx => {
      await ledger.join(
        tx,
        parts.map(part => part.blob),
        { ...upload.payers, blob },
      )
      await tx.run(sql`INSERT INTO resumable_uploads
          (id, uploader, context, entry, blob, length, received, media_type, file_name, is_part, expires)
        VALUES (${id}, ${upload.uploader}, ${upload.payers.context}, ${upload.entry}, ${blob}, ${length}, ${length},
          ${upload.mediaType}, ${upload.fileName ?? null}, 0, ${this.#expiry()})`)
      await this.#extend(tx, blob)
      for (const part of parts) {
        await discardBlob(tx, part.blob)
        await tx.run(sql`DELETE FROM resumable_uploads WHERE id = ${part.id}`)
      }
    })
    this.#digests.keep(id, length, hash)
    return await this.find(id)
  }

  /** Gives the storage back; the caller has the bytes deleted afterwards. */
  async cancel({ id, ...upload }: ResumableUpload): Promise<void> {
    if (upload.isDone === 0) await this.#deps.ledger.cancel(await this.reservationOf({ id, ...upload }))
    await this.#deps.database.transaction(tx => tx.run(sql`DELETE FROM resumable_uploads WHERE id = ${id}`))
  }

  /** The reservation of an upload that is not done. @throws {Conflict} when it has been given up */
  async reservationOf({ blob }: ResumableUpload): Promise<Reservation> {
    return await this.#deps.ledger.reservationOf(blob)
  }

  /** Expired uploads for which an entry was created that may still be there. */
  async withUnusedEntries(): Promise<ResumableUpload[]> {
    return await this.#deps.database.all<ResumableUpload>(sql`SELECT ${this.#columns()} FROM resumable_uploads
      WHERE new_entry = 1 AND is_done = 0 AND expires < ${this.#now()}`)
  }

  /** The entry is no longer of any concern. */
  async forgetEntry({ id }: ResumableUpload): Promise<void> {
    await this.#relaxed(sql`UPDATE resumable_uploads SET new_entry = 0 WHERE id = ${id}`)
  }

  /** Whether an upload to this entry can go on. */
  async isExpected(queries: Queries, { context, entry }: Pick<ResumableUpload, 'context' | 'entry'>): Promise<boolean> {
    const found = await queries.get(sql`SELECT 1 AS found FROM resumable_uploads
      WHERE context = ${context} AND entry = ${entry} AND is_done = 0 AND expires >= ${this.#now()}`)
    return found !== undefined
  }

  /** Forgets uploads that ended or expired a day ago. */
  async forgetOld(): Promise<void> {
    await this.#deps.database.run(sql`DELETE FROM resumable_uploads
      WHERE (is_done = 1 AND expires < ${this.#now()}) OR expires + ${KEPT} < ${this.#now()}`)
  }

  /** The reservation lasts as long as the upload. */
  async #extend(tx: Queries, blob: string): Promise<void> {
    await tx.run(sql`UPDATE uploads SET expires = ${this.#expiry()} WHERE blob = ${blob}`)
  }

  #columns(): Sql {
    return sql`id, uploader, context, entry, blob, length, received, media_type AS "mediaType", file_name AS "fileName",
      is_part AS "isPart", new_entry AS "isEntryNew", is_done AS "isDone", expires,
      CASE WHEN is_done = 0 AND expires < ${this.#now()} THEN 1 ELSE 0 END AS "isExpired",
      CASE WHEN ${this.#isClaimed()} THEN 1 ELSE 0 END AS "isClaimed"`
  }

  #isClaimed(): Sql {
    return sql`(claim IS NOT NULL AND claimed + ${RESERVATION_TTL} >= ${this.#now()})`
  }

  #now(): Sql {
    return databaseTime(this.#deps.database, this.#deps.system)
  }

  #expiry(): Sql {
    return sql`${this.#now()} + ${this.#ttl}`
  }
}

export const overtaken = (): Conflict =>
  wrongOffset('Another request has gone on with this upload: ask for its offset.')

export const wrongOffset = (detail: string): Conflict => new Conflict('upload-offset', detail)

const tooLong = ({ length }: ResumableUpload): TooLarge =>
  new TooLarge('upload-too-long', `The upload was declared with ${length} bytes, but more have been sent.`, {
    extra: { limit: length },
  })
