import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Conflict, Locked, type NotFound, StoreUnavailable, TooLarge } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { BlobMissing, type BlobStore, hashed, newBlobKey, type StoredBlob } from '../../stores/blob-store.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { listed, type Sql, sql } from '../../stores/sql.ts'
import { discardBlob } from '../../files/file-records.ts'
import { type Ledger, RESERVATION_TTL } from '../../files/quota-ledger.ts'
import {
  addToReservation,
  discardAdded,
  extendReservation,
  forgetAdded,
  moveReservation,
} from '../../files/reservations.ts'
import { endUploads } from './ended-uploads.ts'
import { Portions } from './portions.ts'
import {
  type ClaimedUpload,
  type NewUpload,
  type ResumableUpload,
  TakenOver,
  tooLong,
  unknownUpload,
} from './resumable-upload.ts'
import { RunningDigests } from './running-digests.ts'
import { UploadRecords } from './upload-records.ts'
import { requireShare } from './upload-shares.ts'

interface Dependencies {
  readonly database: Database
  readonly blobs: BlobStore
  readonly ledger: Ledger
  readonly system: System
}

/** Bytes after which the offset of a long request is recorded, so that a crash loses no more. */
const STEP: Bytes = 64 * 2 ** 20
/** Uploads of a user that can go on at once, parts included. */
const MAX_PER_USER = 1000
/** An upload that receives nothing for this time is given up: its client may come back the next day, and nothing stays reserved for longer. */
export const UPLOAD_TTL: Milliseconds = 86_400_000
/** For how long an upload that ended or expired is still known, so that its client learns of it. */
const KEPT: Milliseconds = 86_400_000

/**
 * Bytes of uploads that arrive in several requests, and the storage reserved for them. The bytes that `received` counts are on the disk, so
 * they survive a crash, and any node can continue the upload.
 */
export class ResumableFiles {
  readonly records: UploadRecords
  readonly #deps: Dependencies
  readonly #digests = new RunningDigests()

  constructor(deps: Dependencies) {
    this.records = new UploadRecords(deps)
    this.#deps = deps
  }

  /**
   * Reserves the whole length. Part of a transaction that has checked the right to the entry, so that the upload is to the entry that was
   * checked. @returns its id @throws {TooLarge} `quota-exceeded`, `too-much-reserved` @throws {Conflict} when the user has too many
   */
  async create(tx: Queries, upload: NewUpload): Promise<string> {
    const { ledger } = this.#deps
    const { payers, length, replaced } = upload
    const [id, blob] = [this.#newKey(), this.#newKey()]
    if ((await this.records.countUnfinished(tx, upload.uploader)) >= MAX_PER_USER)
      throw new Conflict(
        'conflict',
        `A user has at most ${MAX_PER_USER} uploads in progress. Finish or delete one first.`,
      )
    const made = await ledger.reserveIn(tx, payers, { blob, size: length, replaced })
    await this.#insert(tx, { ...upload, id, blob, received: 0, concat: undefined })
    if (ledger.enforced && upload.hasShare) await requireShare(tx, upload.uploader, made)
    return id
  }

  async #insert(
    tx: Queries,
    upload: Omit<NewUpload, 'replaced' | 'hasShare'> &
      Pick<ResumableUpload, 'id' | 'blob' | 'received'> & { concat: string | undefined },
  ): Promise<void> {
    const { id, uploader, payers, entry, blob, length, received, mediaType } = upload
    await tx.run(sql`INSERT INTO resumable_uploads (id, uploader, context, entry, blob, length, received, media_type, file_name,
        metadata, concat, is_part, new_entry, expires)
      VALUES (${id}, ${uploader}, ${payers.context}, ${entry}, ${blob}, ${length}, ${received}, ${mediaType},
        ${upload.fileName ?? null}, ${upload.metadata ?? null}, ${upload.concat ?? null}, ${upload.isPartial ? 1 : 0},
        ${upload.isEntryNew ? 1 : 0}, ${this.#expiry()})`)
    await this.#extend(tx, blob)
  }

  /**
   * Runs work during which no other request adds bytes or completes the upload.
   * @param upload as it was found; its `received` is the offset of the bytes
   * @throws {Conflict} `upload-offset` when another request has gone on meanwhile
   * @throws {NotFound} when it has ended meanwhile, as with its entry
   */
  async claim<T>(upload: ResumableUpload, work: (claimed: ClaimedUpload) => Promise<T>): Promise<T> {
    const { id } = upload
    const claim = this.#newKey()
    const claimed = await this.#claim(upload, claim)
    return await this.#holding(sql`id = ${id} AND claim = ${claim}`, async () => {
      try {
        return await work({ ...claimed, claim })
      } catch (error) {
        if (!(await this.#hasEnded(claimed).catch(() => false))) throw error
        // Its blob was deleted with it, and may have been written again since.
        await this.#deps.blobs.delete(claimed.blob)
        throw unknownUpload()
      }
    })
  }

  /** Renews claims during the work, and ends them after it. @param own a condition for the uploads with these claims */
  async #holding<T>(own: Sql, work: () => Promise<T>): Promise<T> {
    const renew = (): void => {
      // A missed renewal is made up for by the next one.
      this.#relaxed(sql`UPDATE resumable_uploads SET claimed = ${this.records.now} WHERE ${own}`).catch(() => {})
    }
    const renewal = setInterval(renew, RESERVATION_TTL / 3).unref()
    try {
      return await work()
    } finally {
      clearInterval(renewal)
      await this.#relaxed(sql`UPDATE resumable_uploads SET claim = NULL WHERE ${own}`)
    }
  }

  /**
   * Appends bytes until the source ends or fails, and records the number of durable bytes, at the latest after every 64 MiB. An error of
   * the source is thrown afterwards. If the request is refused, or another request takes over, none of its bytes are kept.
   * @param options.inOneStep nothing is recorded unless all bytes have arrived and `accept` has returned
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
    } catch (error) {
      // Its earlier steps have been recorded.
      if (error instanceof TooLarge && error.code === 'upload-too-long') await this.#record(upload, upload.received)
      throw error
    } finally {
      source.close()
    }
  }

  async #append(
    upload: ClaimedUpload,
    source: Portions,
    { inOneStep, accept }: { readonly inOneStep: boolean; readonly accept: () => void },
  ): Promise<ClaimedUpload> {
    let { received, expires } = upload
    let hash = this.#digests.find(upload)
    while (!(await source.isAtEnd())) {
      const left = upload.length - received
      if (left === 0) throw tooLong(upload)
      const portion = source.next(inOneStep ? left : Math.min(STEP, left))
      // A copy, so that the digest of the recorded bytes stays if these are not recorded.
      hash = hash?.copy()
      const added = await this.#deps.blobs.append(upload.blob, received, hash ? hashed(portion, hash) : portion)
      // The last bytes are not recorded before it is known that no more come: the upload would be complete.
      if ((inOneStep || added === left) && !(await source.isAtEnd())) throw tooLong(upload)
      const { failure } = source
      if (failure instanceof TakenOver || (inOneStep && failure !== undefined)) break
      if (inOneStep) accept()
      received += added
      expires = await this.#record(upload, received)
      if (hash) this.#digests.keep(upload.id, received, hash)
    }
    if (source.failure !== undefined) throw source.failure
    return { ...upload, received, expires }
  }

  /**
   * Makes this the only request that adds bytes. If a request of another process may still be adding bytes, they go to the former blob, and
   * this request goes on with a copy.
   */
  async #claim(upload: ResumableUpload, claim: string): Promise<ResumableUpload> {
    const { database, blobs } = this.#deps
    const { id, blob: former, received } = upload
    const take = sql`claim = ${claim}, claimed = ${this.records.now}`
    const here = sql`id = ${id} AND received = ${received} AND blob = ${former}`
    if (await this.#relaxed(sql`UPDATE resumable_uploads SET ${take} WHERE ${here} AND NOT ${this.records.isClaimed}`))
      return upload
    const blob = this.#newKey()
    const isAdded = await database.transaction(tx => addToReservation(tx, former, blob), { durability: 'relaxed' })
    if (!isAdded) throw await this.#lost(database, id)
    try {
      await blobs.append(blob, 0, await blobs.readPieces(former, received))
      await database.transaction(async tx => {
        const changed = await tx.run(
          sql`UPDATE resumable_uploads SET ${take}, blob = ${blob} WHERE ${here} AND is_done = 0`,
        )
        if (changed === 0) throw await this.#lost(tx, id)
        await moveReservation(tx, former, blob)
        await discardBlob(tx, former)
      })
    } catch (error) {
      await this.#dropCopy(blob, error)
      throw error instanceof BlobMissing ? await this.#lost(database, id) : error
    }
    return { ...upload, blob }
  }

  /** @returns when the upload expires now */
  async #record({ id, blob, claim }: ClaimedUpload, received: Bytes): Promise<Milliseconds> {
    return await this.#deps.database.transaction(async tx => {
      const changed = await tx.get<Pick<ResumableUpload, 'expires'>>(sql`UPDATE resumable_uploads
        SET received = ${received}, expires = ${this.#expiry()}, claimed = ${this.records.now}
        WHERE id = ${id} AND claim = ${claim} AND is_done = 0 RETURNING expires`)
      if (!changed) throw await this.#lost(tx, id)
      await this.#extend(tx, blob)
      return changed.expires
    })
  }

  /** Deletes a copy of bytes whose transaction has failed. */
  async #dropCopy(blob: string, failure: unknown): Promise<void> {
    const { database, blobs } = this.#deps
    // Without an answer of the store nobody knows whether the copy is in use: then it is deleted with the upload if it is not.
    if (failure instanceof StoreUnavailable) return
    await blobs.delete(blob)
    await database.transaction(tx => forgetAdded(tx, blob), { durability: 'relaxed' })
  }

  /** Why a request cannot go on with an upload. */
  async #lost(queries: Queries, id: string): Promise<Conflict | NotFound> {
    const found = await queries.get(sql`SELECT 1 AS found FROM resumable_uploads WHERE id = ${id}`)
    return found ? new TakenOver() : unknownUpload()
  }

  /** The upload is gone, and its bytes are no file. */
  async #hasEnded({ id, blob }: ResumableUpload): Promise<boolean> {
    const found = await this.#deps.database.get(sql`SELECT 1 AS found FROM resumable_uploads WHERE id = ${id}
      UNION ALL SELECT 1 FROM files WHERE blob = ${blob}`)
    return found === undefined
  }

  /** Before any request: none of an ended process is still adding bytes, or copies some. */
  async recover(): Promise<void> {
    await this.#relaxed(sql`UPDATE resumable_uploads SET claim = NULL WHERE claim IS NOT NULL`)
    await this.#deps.database.transaction(async tx => {
      const copied = await tx.all<{ readonly blob: string }>(
        sql`SELECT DISTINCT part_of AS blob FROM uploads WHERE part_of IN (SELECT blob FROM resumable_uploads)`,
      )
      for (const { blob } of copied) await discardAdded(tx, blob)
    })
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

  /** Part of the transaction that puts the file in its place. @throws {NotFound} when it has ended meanwhile, as with its entry */
  async markDone(tx: Queries, { id, blob }: ResumableUpload): Promise<void> {
    const changed = await tx.run(sql`UPDATE resumable_uploads SET is_done = 1, expires = ${this.records.now} + ${KEPT}
      WHERE id = ${id} AND is_done = 0`)
    if (changed === 0) throw unknownUpload()
    // Copies that a process which died has left.
    await discardAdded(tx, blob)
  }

  /**
   * Joins several complete uploads to one, which takes over their reservations. Only one request at a time copies a part, so the copies
   * never need more storage than the parts have reserved.
   * @param transact runs a transaction that has checked the right to the entry
   * @throws {Locked} `upload-locked` while another request uses a part @throws {TooLarge} `quota-exceeded`
   * @throws {NotFound} when a part has ended meanwhile, as with its entry
   */
  async join(
    parts: readonly ResumableUpload[],
    upload: Omit<NewUpload, 'length' | 'isPartial' | 'isEntryNew' | 'replaced' | 'hasShare'> & {
      readonly concat: string
    },
    transact: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>,
  ): Promise<ResumableUpload> {
    const { blobs, ledger } = this.#deps
    const [id, blob, claim] = [this.#newKey(), this.#newKey(), this.#newKey()]
    const hash = createHash('sha256')
    let length = 0
    await this.#claimParts(parts, blob, claim)
    await this.#holding(sql`id IN (${listed(parts.map(part => part.id))}) AND claim = ${claim}`, async () => {
      try {
        for (const part of parts)
          length += await blobs.append(blob, length, hashed(await blobs.readPieces(part.blob, part.length), hash))
        await transact(async tx => {
          for (const part of parts) {
            const removed = await tx.run(sql`DELETE FROM resumable_uploads
              WHERE id = ${part.id} AND context = ${part.context} AND entry = ${part.entry} AND claim = ${claim}`)
            if (removed === 0) throw await this.#unusable(tx, part)
            await discardBlob(tx, part.blob)
          }
          await ledger.join(
            tx,
            parts.map(part => part.blob),
            { ...upload.payers, blob },
          )
          await this.#insert(tx, { ...upload, id, blob, length, received: length, isPartial: false, isEntryNew: false })
        })
      } catch (error) {
        await this.#dropCopy(blob, error)
        throw error instanceof BlobMissing ? unknownUpload() : error
      }
    })
    this.#digests.keep(id, length, hash)
    return await this.records.find(id)
  }

  /** Why a part cannot be joined. */
  async #unusable(tx: Queries, part: ResumableUpload): Promise<Locked | NotFound> {
    if (!(await this.records.isThere(tx, part))) return unknownUpload()
    return new Locked(
      'upload-locked',
      'Another request is using a part, or joins it already. Ask again in some seconds.',
    )
  }

  /** Lets no other request use the parts, and adds the blob of their copy to the first of them, so that the copy ends with it. */
  async #claimParts(parts: readonly ResumableUpload[], blob: string, claim: string): Promise<void> {
    await this.#deps.database.transaction(
      async tx => {
        for (const part of parts) {
          const changed = await tx.run(sql`UPDATE resumable_uploads SET claim = ${claim}, claimed = ${this.records.now}
            WHERE id = ${part.id} AND blob = ${part.blob} AND NOT ${this.records.isClaimed}`)
          if (changed === 0) throw await this.#unusable(tx, part)
        }
        const [first] = parts
        if (!first || !(await addToReservation(tx, first.blob, blob))) throw unknownUpload()
      },
      { durability: 'relaxed' },
    )
  }

  /** Gives the storage back, if it has not ended already; the caller has the bytes deleted afterwards. */
  async cancel(tx: Queries, { id }: Pick<ResumableUpload, 'id'>): Promise<void> {
    await endUploads(tx, sql`id = ${id}`)
  }

  /** The entry is no longer of any concern. */
  async forgetEntry({ id }: ResumableUpload): Promise<void> {
    await this.#relaxed(sql`UPDATE resumable_uploads SET new_entry = 0 WHERE id = ${id}`)
  }

  /** Forgets uploads that ended or expired a day ago. */
  async forgetOld(): Promise<void> {
    await this.#deps.database.run(sql`DELETE FROM resumable_uploads
      WHERE (is_done = 1 AND expires < ${this.records.now}) OR expires + ${KEPT} < ${this.records.now}`)
  }

  /** The reservation lasts as long as the upload. */
  async #extend(tx: Queries, blob: string): Promise<void> {
    await extendReservation(tx, blob, this.#expiry())
  }

  #newKey(): string {
    return newBlobKey(count => this.#deps.system.randomBytes(count))
  }

  #expiry(): Sql {
    return sql`${this.records.now} + ${UPLOAD_TTL}`
  }
}
