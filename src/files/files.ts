import type { Readable } from 'node:stream'
import { FileUnreadable } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Bytes } from '../base/units.ts'
import { BlobMissing, type BlobStore, type ByteRange } from '../stores/blob-store.ts'
import type { Database, Queries } from '../stores/database.ts'
import { discardBlob, type FilePlace, type FileRecord, findFile, putFile, removeFile } from './file-records.ts'
import { verified } from './verified-read.ts'
import type { Garbage } from './garbage.ts'
import type { Ledger, Reservation } from './quota-ledger.ts'
import { reachedThreshold, type UsageChange } from './quota-thresholds.ts'
import type { Payers } from './quota-usage.ts'
import type { Sender } from './file-scanner.ts'
import { type FilesOptions, type Incoming, requireFileSize, type StagedFile, Staging } from './staging.ts'

/** Maximum number of replaced files that are deleted after the response to their upload. */
const MAX_DELETIONS = 16

/** What a committed upload has changed. */
interface Settled<T> {
  readonly result: T
  /** Key of the blob that the new one replaces. */
  readonly discarded: string | undefined
  readonly changes: readonly UsageChange[]
}

/** The part of a transaction that an upload uses; callers may pass their own work more than this. */
interface Writer {
  readonly tx: Queries
}

/**
 * Runs the work in one transaction, like `Database.transaction`. The caller provides it, because only the caller can do work that must
 * follow the commit, such as writing log lines of the audit log.
 */
type Transact<W extends Writer> = <R>(work: (writer: W) => Promise<R>) => Promise<R>

/** How a file takes the place of the present one. */
interface Replacement<T, W extends Writer> {
  /** Checks the present file before the body is requested, and throws if the check fails. */
  readonly check?: (present: FileRecord | undefined) => void
  readonly transaction: Transact<W>
  /**
   * Runs in the transaction that counts the size. When it throws, and on every error, abort and crash, the previous file stays as it was
   * and nothing remains reserved.
   */
  readonly makeVisible: (writer: W, file: FileRecord, previous: FileRecord | undefined) => Promise<T>
}

/** Bytes that are stored already, for which storage is reserved. */
interface StoredUpload {
  readonly file: FileRecord
  readonly reservation: Reservation
  readonly signal: AbortSignal
  readonly sender?: Sender | undefined
}

/** How an entry comes into being together with its file. */
interface NewFile<T, W extends Writer> {
  readonly transaction: Transact<W>
  /** Creates the entry in the transaction that commits the file: there is never one without the other. */
  readonly create: (writer: W, file: FileRecord) => Promise<T>
}

/** The files of entries: stores them within the quota, reads and removes them (D7). */
export class Files {
  readonly #database: Database
  readonly #blobs: BlobStore
  readonly #ledger: Ledger
  readonly #garbage: Garbage
  readonly #log: Log
  readonly options: FilesOptions
  /** For transactions that create several entries with files: {@link putStaged}. */
  readonly staging: Staging
  #taken = { count: 0, bytes: 0 }
  readonly #deletions = new Set<Promise<void>>()

  constructor(
    stores: { readonly database: Database; readonly blobs: BlobStore },
    books: { readonly ledger: Ledger; readonly garbage: Garbage },
    machine: { readonly system: System; readonly log: Log },
    options: FilesOptions,
  ) {
    this.#database = stores.database
    this.#blobs = stores.blobs
    this.#ledger = books.ledger
    this.#garbage = books.garbage
    this.#log = machine.log
    this.options = options
    const random = (count: number): Uint8Array => machine.system.randomBytes(count)
    this.staging = new Staging({ ...stores, ...books, random, log: machine.log, options })
  }

  /** -1: no limit. */
  get maxFileSize(): Bytes {
    return this.options.maxFileSize
  }

  /** Number and size of the files stored since the process started. */
  get taken(): { readonly count: number; readonly bytes: Bytes } {
    return this.#taken
  }

  /**
   * Stores a file in place of the present one, if any. The record of the present file is read once before the body, and once in the
   * transaction, because it may have changed meanwhile.
   * @throws {TooLarge} `file-too-large` or `quota-exceeded`; before `open` is called if the declared size is too large
   */
  async put<T, W extends Writer>(
    place: FilePlace & Payers,
    incoming: Incoming,
    { check, transaction, makeVisible }: Replacement<T, W>,
  ): Promise<T> {
    const replaced = await findFile(this.#database, place)
    check?.(replaced)
    const staged = await this.staging.stage({ place, replaced, incoming })
    return await this.#commit(staged, transaction, writer => this.#replace(place, writer, { ...staged, makeVisible }))
  }

  /**
   * Has a stored blob scanned, and puts it in the place of the present file, if any.
   * @throws {FileInfected} @throws {TooLarge} `quota-exceeded`
   */
  async putStored<T, W extends Writer>(
    place: FilePlace & Payers,
    { file, reservation, signal, sender }: StoredUpload,
    { transaction, makeVisible }: Replacement<T, W>,
  ): Promise<T> {
    await this.options.scanner?.require({ ...file, context: place.context, entry: place.id, sender, signal })
    return await this.#settle(file, transaction, writer =>
      this.#replace(place, writer, { file, reservation, makeVisible }),
    )
  }

  async #replace<T, W extends Writer>(
    place: FilePlace & Payers,
    writer: W,
    {
      file,
      reservation,
      makeVisible,
    }: Pick<StoredUpload, 'file' | 'reservation'> & Pick<Replacement<T, W>, 'makeVisible'>,
  ): Promise<Settled<T>> {
    const { tx } = writer
    const previous = await findFile(tx, place)
    const amount = { bytes: file.size - (previous?.size ?? 0), files: previous ? 0 : 1 }
    const changes = await this.#ledger.commit(tx, reservation, amount)
    await putFile(tx, place, file)
    if (previous) await discardBlob(tx, previous.blob)
    const result = await makeVisible(writer, file, previous)
    return { result, discarded: previous?.blob, changes }
  }

  /**
   * Stores the file of an entry that does not exist yet.
   * @throws {TooLarge} like `put`
   */
  async putNew<T extends { readonly place: FilePlace }, W extends Writer>(
    payers: Payers,
    incoming: Incoming,
    { transaction, create }: NewFile<T, W>,
  ): Promise<T> {
    const staged = await this.staging.stage({ place: payers, replaced: undefined, incoming })
    return await this.#commit(staged, transaction, async writer => {
      const result = await create(writer, staged.file)
      const changes = await this.putStaged(writer.tx, staged, result.place)
      return { result, discarded: undefined, changes }
    })
  }

  /** Gives bytes to an entry that has no file. Part of the transaction that creates the entry. @throws {TooLarge} `quota-exceeded` */
  async putStaged(
    tx: Queries,
    { file, payers, reservation }: StagedFile,
    place: FilePlace,
  ): Promise<readonly UsageChange[]> {
    const changes = await this.#ledger.commit(tx, reservation, { bytes: file.size, files: 1 })
    await putFile(tx, { ...place, user: payers.user }, file)
    return changes
  }

  /** After that transaction. @param reason why some have no entry: the bytes of those are deleted */
  async endStaged(all: readonly StagedFile[], reason?: unknown): Promise<void> {
    for (const staged of all) {
      this.staging.end(staged)
      if (reason !== undefined) await this.staging.undo(staged, reason)
      else this.#taken = { count: this.#taken.count + 1, bytes: this.#taken.bytes + staged.file.size }
    }
  }

  /** @throws {TooLarge} `file-too-large` @throws {StorageFull} */
  requireAcceptable(size: Bytes): void {
    requireFileSize(this.options, size)
    this.options.requireSpace?.(size)
  }

  /** Commits with `settle`, or undoes everything. */
  async #commit<T, W extends Writer>(
    staged: StagedFile,
    transaction: Transact<W>,
    settle: (writer: W) => Promise<Settled<T>>,
  ): Promise<T> {
    try {
      return await this.#settle(staged.file, transaction, settle)
    } catch (error) {
      await this.staging.undo(staged, error)
      throw error
    } finally {
      this.staging.end(staged)
    }
  }

  async #settle<T, W extends Writer>(
    file: FileRecord,
    transaction: Transact<W>,
    settle: (writer: W) => Promise<Settled<T>>,
  ): Promise<T> {
    const { result, discarded, changes } = await transaction(settle)
    this.#taken = { count: this.#taken.count + 1, bytes: this.#taken.bytes + file.size }
    await this.reportThresholds(changes)
    if (discarded !== undefined) await this.#deleteSoon(discarded)
    return result
  }

  /** After changes of usage or limits are committed, reports the thresholds that they reached. */
  async reportThresholds(changes: readonly UsageChange[]): Promise<void> {
    await reportThresholds(this.options, this.#ledger, changes)
  }

  /** Removes the file of an entry inside `tx`; call {@link collectGarbage} after the commit. False when there is none. */
  async remove(tx: Queries, place: FilePlace): Promise<boolean> {
    const file = await removeFile(tx, place)
    if (!file) return false
    await discardBlob(tx, file.blob)
    await this.#ledger.releaseUsage(tx, file, { bytes: file.size, files: 1 })
    return true
  }

  /**
   * The record and its bytes. `choose` selects the range once the file is known; `undefined` for none.
   * @param known the record, where the request has read it already
   */
  async read(
    place: FilePlace,
    choose: (file: FileRecord) => ByteRange | 'all' | undefined,
    known?: FileRecord,
  ): Promise<{ readonly file: FileRecord; readonly bytes: Readable | undefined } | undefined> {
    for (let attempt = 1; ; attempt++) {
      const file = attempt === 1 && known ? known : await findFile(this.#database, place)
      if (!file) return undefined
      const part = choose(file)
      if (part === undefined) return { file, bytes: undefined }
      try {
        const bytes = await this.#blobs.read(file.blob, part === 'all' ? undefined : part)
        const isVerified = this.options.verifyOnRead === true && part === 'all'
        return { file, bytes: isVerified ? await verified(bytes, file) : bytes }
      } catch (error) {
        // The file was replaced between reading the record and opening the blob. The record has changed then, so read it
        // again.
        if (!(error instanceof BlobMissing)) throw error
        if (attempt === 3) throw new FileUnreadable('file-missing', { cause: error })
      }
    }
  }

  /**
   * Deletes discarded blobs. A failure is logged and a later run repeats the deletion, because the caller's work is done.
   */
  async collectGarbage(): Promise<void> {
    await this.#garbage
      .collect()
      .catch((error: unknown) => this.#log.error({ err: error }, 'deleting old files failed'))
  }

  /** Resolves when the replaced files of all past uploads are deleted. */
  async settled(): Promise<void> {
    await Promise.all(this.#deletions)
  }

  /** The sender waits only while many deletions are in progress. A crash leaves nothing behind, because discarded blobs are recorded. */
  async #deleteSoon(blob: string): Promise<void> {
    const deletion = this.#garbage
      .delete(blob)
      .catch((error: unknown) => this.#log.error({ err: error }, 'deleting a replaced file failed'))
      .finally(() => this.#deletions.delete(deletion))
    this.#deletions.add(deletion)
    if (this.#deletions.size > MAX_DELETIONS) await deletion
  }
}

/** @see Files.reportThresholds */
export async function reportThresholds(
  { onThreshold }: FilesOptions,
  { enforced }: Ledger,
  changes: readonly UsageChange[],
): Promise<void> {
  for (const change of enforced ? changes : []) {
    const percent = reachedThreshold(change)
    if (percent !== undefined) await onThreshold?.({ percent, usage: change.after })
  }
}
