import { createHash } from 'node:crypto'
import { type Caller, isGuest, opensContext, requireSignedIn } from '../accounts/caller.ts'
import { ChecksumMismatch, Gone, InvalidInput, NotFound } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import { findFile, type FileRecord } from '../files/file-records.ts'
import type { Files } from '../files/files.ts'
import { type ResumableFiles, type ResumableUpload, wrongOffset } from '../files/resumable-files.ts'
import type { Sender } from '../files/virus-scan.ts'
import type { EntryKey } from '../model/addresses.ts'
import { type Entry, payingUser } from '../model/entry.ts'
import { type EntryInContext, requires } from '../model/rights.ts'
import type { Database } from '../stores/database.ts'
import type { Changes } from './changes.ts'
import type { EntryLoader } from './entry-loader.ts'
import { describeFile, requireHoldsFile } from './file-description.ts'

/** What the client says of a file before its bytes. */
export interface Declared {
  readonly length: Bytes
  readonly mediaType: string
  readonly fileName: string | undefined
}

/** Bytes of one request. */
export interface Piece {
  readonly offset: Bytes
  readonly bytes: AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
  readonly sender: Sender
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
  readonly #receiving = new Map<string, { readonly stop: () => void; readonly ended: Promise<unknown> }>()

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Reserves storage for the whole file. @throws {TooLarge} `quota-exceeded`, `file-too-large` */
  async create(caller: Caller, key: EntryKey, declared: Declared, isPart: boolean): Promise<ResumableUpload> {
    const { database, files, resumableFiles } = this.#deps
    const { entry } = await this.#target(caller, key)
    files.requireAcceptable(declared.length)
    const place = { context: entry.context, id: entry.id }
    return await resumableFiles.create({
      ...declared,
      uploader: caller.user.id,
      payers: { context: entry.context, user: payingUser(entry) },
      entry: entry.id,
      isPart,
      replaced: isPart ? undefined : await findFile(database, place),
    })
  }

  /** @throws {NotFound} for uploads of others @throws {Gone} `upload-expired` */
  async find(caller: Caller, key: EntryKey, id: string): Promise<ResumableUpload> {
    const { entry } = await this.#target(caller, key)
    const upload = await this.#deps.resumableFiles.find(id)
    const isTheirs = upload.uploader === caller.user.id && upload.context === entry.context && upload.entry === entry.id
    if (!isTheirs) throw unknownUpload()
    if (upload.isExpired === 1)
      throw new Gone('upload-expired', 'Nothing was received for too long. Create a new upload.')
    return upload
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
    const before = this.#receiving.get(id)
    before?.stop()
    await before?.ended
    const stopping = new AbortController()
    const receiving = this.#receive(caller, key, id, { ...piece, bytes: until(piece.bytes, stopping.signal) })
    const entry = { stop: () => stopping.abort(), ended: receiving.catch(() => {}) }
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
    this.#receiving.get(id)?.stop()
    await this.#receiving.get(id)?.ended
    await this.#deps.resumableFiles.cancel(upload)
    await this.#deps.files.collectGarbage()
  }

  /** Makes one file of complete parts, in this order. @throws {InvalidInput} when one of them is no complete part */
  async join(
    caller: Caller,
    key: EntryKey,
    ids: readonly string[],
    { declared, ...how }: { readonly declared: Omit<Declared, 'length'> } & Pick<Piece, 'signal' | 'sender'>,
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
    const progress = await this.#finish(caller, target, upload, how)
    await files.collectGarbage()
    return progress
  }

  async #receive(caller: Caller, key: EntryKey, id: string, piece: Piece): Promise<Progress> {
    const target = await this.#target(caller, key)
    const upload = await this.find(caller, key, id)
    if (piece.offset !== upload.received)
      throw wrongOffset(`\`Upload-Offset\` must be ${upload.received}, but is ${piece.offset}.`)
    if (upload.isDone === 1) return { upload }
    const { checksum } = piece
    const hash = checksum && createHash(checksum.algorithm)
    const bytes = hash ? hashing(piece.bytes, chunk => hash.update(chunk)) : piece.bytes
    const accept = (): void => {
      if (!checksum || hash?.digest().equals(checksum.digest)) return
      throw new ChecksumMismatch('upload-checksum', 'The bytes differ from `Upload-Checksum`. Send them again.')
    }
    const now = await this.#deps.resumableFiles.append(upload, bytes, { inOneStep: checksum !== undefined, accept })
    const isWhole = now.received === now.length && now.isPart === 0
    return isWhole ? await this.#finish(caller, target, now, piece) : { upload: now }
  }

  /** May run again after a failure: the bytes stay until the upload expires. */
  async #finish(
    caller: Caller,
    target: EntryInContext,
    upload: ResumableUpload,
    { signal, sender }: Pick<Piece, 'signal' | 'sender'>,
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
          makeVisible: async writer => {
            const { entry: present } = await writer.recheck(target, uploading)
            requireHoldsFile(present)
            await resumableFiles.markDone(writer.tx, upload)
            const { mediaType, fileName, length: size } = upload
            const statements = describeFile(present, { mediaType, fileName: fileName ?? undefined, size })
            return { entry: await writer.update(present, { ...present, statements }), file }
          },
        },
      )
      return { upload: { ...upload, isDone: 1 }, stored }
    } catch (error) {
      if (error instanceof InvalidInput && error.code === 'virus-found') await resumableFiles.cancel(upload)
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

const unknownUpload = (): NotFound => new NotFound('not-found', 'There is no such upload.')

/** Ends without an error when the signal aborts, so that what has come is kept. */
async function* until(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const stopped = new Promise<{ readonly done: true; readonly value: undefined }>(resolve =>
    signal.addEventListener('abort', () => resolve({ done: true, value: undefined }), { once: true }),
  )
  const source = bytes[Symbol.asyncIterator]()
  for (;;) {
    const next = source.next()
    next.catch(() => {})
    const { done, value } = await Promise.race([next, stopped])
    if (done === true) return
    yield value
  }
}

async function* hashing(
  bytes: AsyncIterable<Uint8Array>,
  update: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    update(chunk)
    yield chunk
  }
}
