import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Caller, isGuest, opensContext, requireSignedIn } from '../accounts/caller.ts'
import { ChecksumMismatch, Gone, InvalidInput, Locked, NotFound } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import { findFile, type FileRecord } from '../files/file-records.ts'
import type { Files } from '../files/files.ts'
import {
  type ClaimedUpload,
  overtaken,
  type ResumableFiles,
  type ResumableUpload,
  wrongOffset,
} from '../files/resumable-files.ts'
import type { Sender } from '../files/virus-scan.ts'
import type { EntryKey } from '../model/addresses.ts'
import { type Entry, payingUser } from '../model/entry.ts'
import { type EntryInContext, may, requires } from '../model/rights.ts'
import { abortable, hashed } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import type { Changes } from './changes.ts'
import type { Entries } from './entries.ts'
import type { EntryLoader } from './entry-loader.ts'
import { describeFile, requireHoldsFile, uploadEvent } from './file-description.ts'

/** What the client says of a file before its bytes. */
export interface Declared {
  readonly length: Bytes
  readonly mediaType: string
  readonly fileName: string | undefined
  /** The entry has been created for this upload. */
  readonly isEntryNew: boolean
}

/** Who sends a request. */
export interface Sending {
  /** Aborts when the client has left. */
  readonly signal: AbortSignal
  readonly sender: Sender
}

/** Bytes of one request. */
export interface Piece extends Sending {
  readonly offset: Bytes
  readonly bytes: AsyncIterable<Uint8Array>
  readonly checksum?: { readonly algorithm: 'sha1' | 'sha256'; readonly digest: Buffer } | undefined
}

/** An upload, and the file that it has become with its last byte. */
export interface Progress {
  readonly upload: ResumableUpload
  readonly stored?: { readonly entry: Entry; readonly file: FileRecord }
}

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly changes: Changes
  readonly entries: Entries
  readonly files: Files
  readonly resumableFiles: ResumableFiles
}

const uploading = requires('writeresource', 'upload to this entry')

/**
 * Uploads of files that go on after a broken connection (D42). An upload belongs to the user who created it; the right to write the
 * entry is checked when it is created, at each request with bytes, and when the file is put in its place.
 */
export class ResumableUploads {
  readonly #deps: Dependencies
  /** Requests with bytes that this process is receiving, by the id of the upload. */
  readonly #receiving = new Map<string, { readonly stop: (reason: Error) => void; readonly ended: Promise<unknown> }>()

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Reserves storage for the whole file. @throws {TooLarge} `quota-exceeded`, `file-too-large` */
  async create(caller: Caller, key: EntryKey, declared: Declared, isPart: boolean): Promise<ResumableUpload> {
    const { database, files, resumableFiles } = this.#deps
    const target = await this.#target(caller, key)
    const { entry } = target
    files.requireAcceptable(declared.length)
    const place = { context: entry.context, id: entry.id }
    return await resumableFiles.create({
      ...declared,
      uploader: caller.user.id,
      payers: { context: entry.context, user: payingUser(entry) },
      entry: entry.id,
      isPart,
      isEntryNew: declared.isEntryNew && may(caller, 'administer', target),
      replaced: isPart ? undefined : await findFile(database, place),
    })
  }

  /** @throws {NotFound} for uploads of others @throws {Gone} `upload-expired` */
  async find(caller: Caller, key: EntryKey, id: string): Promise<ResumableUpload> {
    const { entry } = await this.#target(caller, key)
    const upload = await this.#deps.resumableFiles.find(id)
    const isTheirs = upload.uploader === caller.user.id && upload.context === entry.context && upload.entry === entry.id
    if (!isTheirs) throw unknownUpload()
    if (upload.isExpired === 1) throw expired()
    return upload
  }

  /**
   * The same upload, which takes its last step again if that has failed: a client regards an upload as successful when all its bytes are
   * received. @throws {Locked} `upload-locked` while another process takes it
   */
  async progress(caller: Caller, key: EntryKey, id: string, sending: Sending): Promise<ResumableUpload> {
    const upload = await this.find(caller, key, id)
    if (!isWhole(upload) || upload.isDone === 1) return upload
    if (upload.isClaimed === 1 && !this.#receiving.has(id))
      throw new Locked('upload-locked', 'The upload is being completed. Ask again in some seconds.')
    const nothing = { offset: upload.length, bytes: Readable.from([]), ...sending }
    return (await this.append(caller, key, id, nothing)).upload
  }

  /** The caller's uploads that can go on, in all contexts that an access token opens. */
  async unfinished(caller: Caller): Promise<readonly ResumableUpload[]> {
    requireSignedIn(caller, 'list your uploads')
    const uploads = await this.#deps.resumableFiles.unfinishedOf(caller.user.id)
    return uploads.filter(({ context }) => opensContext(caller, context))
  }

  /**
   * Stores what arrives, also of a request that breaks off. With the last byte the file takes its place. A request of the same upload that
   * is still being received is ended first: its connection is dead, and the client has come back.
   * @throws {Conflict} `upload-offset` @throws {ChecksumMismatch} @throws {TooLarge}
   */
  async append(caller: Caller, key: EntryKey, id: string, piece: Piece): Promise<Progress> {
    await this.#stop(id, overtaken())
    const stopping = new AbortController()
    const receiving = this.#receive(caller, key, id, { ...piece, bytes: abortable(piece.bytes, stopping.signal) })
    const entry = { stop: (reason: Error) => stopping.abort(reason), ended: receiving.catch(() => {}) }
    this.#receiving.set(id, entry)
    try {
      return await receiving
    } finally {
      if (this.#receiving.get(id) === entry) this.#receiving.delete(id)
    }
  }

  /** Gives the upload up, and its storage back, also when its entry is gone or the right to write it. */
  async remove(caller: Caller, id: string): Promise<void> {
    requireSignedIn(caller, 'give up an upload')
    const upload = await this.#deps.resumableFiles.find(id)
    if (upload.uploader !== caller.user.id || !opensContext(caller, upload.context)) throw unknownUpload()
    if (upload.isExpired === 1) throw expired()
    await this.#stop(id, unknownUpload())
    // It may have ended meanwhile.
    await this.#cancel(await this.#deps.resumableFiles.find(id))
    await this.#deps.files.collectGarbage()
  }

  /** Deletes the entries that were created for uploads which have expired. */
  async deleteUnusedEntries(): Promise<void> {
    const { resumableFiles } = this.#deps
    for (const upload of await resumableFiles.withUnusedEntries()) {
      await this.#deleteUnusedEntry(upload)
      await resumableFiles.forgetEntry(upload)
    }
  }

  async #cancel(upload: ResumableUpload): Promise<void> {
    await this.#deps.resumableFiles.cancel(upload)
    if (upload.isEntryNew === 1) await this.#deleteUnusedEntry(upload)
  }

  /** The entry stays if it has a file, has been changed by anyone, or waits for another upload. */
  async #deleteUnusedEntry(upload: ResumableUpload): Promise<void> {
    const { entries, resumableFiles } = this.#deps
    const address = { context: upload.context, id: upload.entry }
    await entries.deleteByService(address, upload.uploader, async ({ modified, created }, tx) => {
      if (modified !== created || (await findFile(tx, address))) return false
      return !(await resumableFiles.isExpected(tx, upload))
    })
  }

  /** Makes one file of complete parts, in this order. @throws {InvalidInput} when one of them is no complete part */
  async join(
    caller: Caller,
    key: EntryKey,
    ids: readonly string[],
    { declared, ...sending }: { readonly declared: Pick<Declared, 'mediaType' | 'fileName'> } & Sending,
  ): Promise<Progress> {
    const { resumableFiles, files } = this.#deps
    const target = await this.#target(caller, key)
    const { entry } = target
    const parts: ResumableUpload[] = []
    for (const id of ids) parts.push(await this.find(caller, key, id))
    const isWrong = (part: ResumableUpload): boolean => part.isPart === 0 || part.received < part.length
    if (parts.length === 0 || parts.some(isWrong) || new Set(ids).size < ids.length)
      throw new InvalidInput('invalid-value', '`Upload-Concat` must name complete partial uploads, each once.')
    files.requireAcceptable(parts.reduce((sum, { length }) => sum + length, 0))
    const upload = await resumableFiles.join(parts, {
      ...declared,
      uploader: caller.user.id,
      payers: { context: entry.context, user: payingUser(entry) },
      entry: entry.id,
      replaced: undefined,
    })
    const progress = await resumableFiles.claim(upload, claimed => this.#finish(caller, target, claimed, sending))
    await files.collectGarbage()
    return progress
  }

  /** Ends the request whose bytes are being received. What has come is kept. */
  async #stop(id: string, reason: Error): Promise<void> {
    const receiving = this.#receiving.get(id)
    receiving?.stop(reason)
    await receiving?.ended
  }

  async #receive(caller: Caller, key: EntryKey, id: string, piece: Piece): Promise<Progress> {
    const target = await this.#target(caller, key)
    const upload = await this.find(caller, key, id)
    if (piece.offset !== upload.received)
      throw wrongOffset(`\`Upload-Offset\` must be ${upload.received}, but is ${piece.offset}.`)
    if (upload.isDone === 1) return { upload }
    const { checksum } = piece
    const hash = checksum && createHash(checksum.algorithm)
    const bytes = hash ? hashed(piece.bytes, hash) : piece.bytes
    const accept = (): void => {
      if (!checksum || hash?.digest().equals(checksum.digest)) return
      throw new ChecksumMismatch('upload-checksum', 'The bytes differ from `Upload-Checksum`. Send them again.')
    }
    const { resumableFiles } = this.#deps
    return await resumableFiles.claim(upload, async claimed => {
      const now = await resumableFiles.append(claimed, bytes, { inOneStep: checksum !== undefined, accept })
      return isWhole(now) ? await this.#finish(caller, target, now, piece) : { upload: now }
    })
  }

  /** May run again after a failure: the bytes stay until the upload expires. */
  async #finish(
    caller: Caller,
    target: EntryInContext,
    upload: ClaimedUpload,
    { signal, sender }: Sending,
  ): Promise<Progress> {
    const { changes, files, resumableFiles } = this.#deps
    const reservation = await resumableFiles.reservationOf(upload)
    const file = { blob: upload.blob, ...(await resumableFiles.complete(upload)) }
    const place = { context: target.entry.context, id: target.entry.id, user: reservation.user }
    try {
      const stored = await files.putStored(
        place,
        { file, reservation, signal, sender },
        {
          transaction: changes.transactionOf(caller),
          makeVisible: async (writer, _file, previous) => {
            const { entry: present } = await writer.recheck(target, uploading)
            requireHoldsFile(present)
            await resumableFiles.markDone(writer.tx, upload)
            const { mediaType, fileName, length: size } = upload
            const statements = describeFile(present, { mediaType, fileName: fileName ?? undefined, size })
            const entry = await writer.update(present, { ...present, statements })
            writer.record(uploadEvent(entry, { size }, previous))
            return { entry, file }
          },
        },
      )
      return { upload: { ...upload, isDone: 1 }, stored }
    } catch (error) {
      if (error instanceof InvalidInput && error.code === 'virus-found') await this.#cancel(upload)
      throw error
    }
  }

  /** The entry, if the caller may upload to it. Guests have no uploads: nobody could tell whose they are. */
  async #target(caller: Caller, key: EntryKey): Promise<EntryInContext> {
    const target = await this.#deps.loader.get(key)
    uploading(caller, target)
    requireHoldsFile(target.entry)
    if (isGuest(caller)) requireSignedIn(caller, 'upload in several requests')
    return target
  }
}

const isWhole = ({ received, length, isPart }: ResumableUpload): boolean => received === length && isPart === 0

const expired = (): Gone => new Gone('upload-expired', 'Nothing was received for too long. Create a new upload.')

const unknownUpload = (): NotFound => new NotFound('not-found', 'There is no such upload.')
