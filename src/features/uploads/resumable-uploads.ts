import { createHash } from 'node:crypto'
import { mayManageQuota, requireSignedIn } from '../../accounts/caller-guards.ts'
import { type Caller, isGuest } from '../../accounts/caller.ts'
import { ChecksumMismatch, Forbidden, InvalidInput, Locked, NotFound } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'
import { findFile, type FileRecord } from '../../files/file-records.ts'
import { type ClaimedUpload, type ResumableUpload, tooLong, unknownUpload, wrongOffset } from './resumable-upload.ts'
import { FileInfected, type Sender } from '../../files/file-scanner.ts'
import type { EntryKey } from '../../model/addresses.ts'
import { type Entry, payingUser } from '../../model/entry.ts'
import { type EntryInContext, may, requires } from '../../model/rights.ts'
import { hashed } from '../../stores/blob-store.ts'
import { UniqueViolation } from '../../stores/database.ts'
import type { EntryWriter } from '../../content/changes.ts'
import { describeFile, requireHoldsFile, uploadEvent } from '../../content/file-description.ts'
import type { ListedUpload } from './listed-uploads.ts'
import { ReceivingUploads } from './receiving-uploads.ts'
import { expired, type UploadDependencies, UploadEndings } from './upload-endings.ts'

/** The statements of the client about a file, sent before its bytes. */
export interface Declared {
  readonly length: Bytes
  readonly mediaType: string
  readonly fileName: string | undefined
  /** `Upload-Metadata` as it was sent. */
  readonly metadata: string | undefined
  /** It is later joined with others to one file. */
  readonly isPartial: boolean
  /** The entry has been created for this upload. */
  readonly isEntryNew: boolean
}

/** The statements of the client about a file that is joined from parts; `concat` is `Upload-Concat` as it was sent. */
export type DeclaredJoin = Pick<Declared, 'mediaType' | 'fileName' | 'metadata'> & { readonly concat: string }

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
  /** Number of bytes, if the client has declared it. */
  readonly size: Bytes | undefined
  readonly checksum?: { readonly algorithm: 'sha1' | 'sha256'; readonly digest: Buffer } | undefined
}

/** An upload, and the file that it has become with its last byte. */
export interface Progress {
  readonly upload: ResumableUpload
  readonly stored?: { readonly entry: Entry; readonly file: FileRecord }
}

const uploading = requires('writeresource', 'upload to this entry')

/**
 * Uploads of files that go on after a broken connection (D42). An upload belongs to the user who created it; the right to write the
 * entry is checked when it is created, at each request with bytes, and when the file is put in its place.
 */
export class ResumableUploads {
  readonly #deps: UploadDependencies
  readonly #receiving = new ReceivingUploads()
  readonly #endings: UploadEndings

  constructor(deps: UploadDependencies) {
    this.#deps = deps
    this.#endings = new UploadEndings(deps)
  }

  /**
   * Reserves storage for the whole file, and stores the first bytes if they come with the creation. If they are refused, nothing is kept: the
   * client does not know the upload. @throws {TooLarge} `quota-exceeded`, `file-too-large`, and like {@link append}
   */
  async create(caller: Caller, key: EntryKey, declared: Declared, piece: Piece | undefined): Promise<Progress> {
    const upload = await this.#create(caller, key, declared)
    if (!piece) return { upload }
    try {
      return await this.append(caller, key, upload.id, piece)
    } catch (error) {
      // A client that has left finds it in the list of its uploads.
      if (!piece.signal.aborted) await this.#endings.forget(upload)
      throw error
    }
  }

  async #create(caller: Caller, key: EntryKey, declared: Declared): Promise<ResumableUpload> {
    const { changes, files, resumableFiles } = this.#deps
    const target = await this.#target(caller, key)
    files.requireAcceptable(declared.length)
    const creating = (): Promise<string> =>
      changes.run(caller, async writer => {
        const { tx } = writer
        const present = await writer.recheck(target, uploading)
        const { entry } = present
        return await resumableFiles.create(tx, {
          ...declared,
          uploader: caller.user.id,
          hasShare: !mayManageQuota(present.caller, entry.context),
          payers: { context: entry.context, user: payingUser(entry) },
          entry: entry.id,
          isEntryNew: declared.isEntryNew && may(present.caller, 'administer', present),
          replaced: declared.isPartial ? undefined : await findFile(tx, entry),
        })
      })
    // Another node was faster to replace the same file; its upload is visible now.
    const id = await creating().catch((error: unknown) => {
      if (error instanceof UniqueViolation) return creating()
      throw error
    })
    return await resumableFiles.records.find(id)
  }

  /** @throws {NotFound} for uploads of others @throws {Gone} `upload-expired` */
  async find(caller: Caller, key: EntryKey, id: string): Promise<ResumableUpload> {
    const { entry } = await this.#target(caller, key)
    const upload = await this.#deps.resumableFiles.records.find(id)
    const isTheirs = upload.uploader === caller.user.id && upload.context === entry.context && upload.entry === entry.id
    if (!isTheirs) throw unknownUpload()
    if (upload.isExpired === 1) throw expired()
    return upload
  }

  /**
   * The upload with all that has come. A request that is still being received is ended: its connection is dead, and the client has come
   * back. The last step is taken again if it has failed: a client regards an upload as successful when all its bytes are received.
   * @throws {Locked} `upload-locked` while another process takes it
   */
  async progress(caller: Caller, key: EntryKey, id: string, sending: Sending): Promise<ResumableUpload> {
    let upload = await this.find(caller, key, id)
    if (this.#receiving.has(id)) {
      await this.#receiving.stop(id, wrongOffset('The client has asked for the offset and goes on from there.'))
      upload = await this.find(caller, key, id)
    }
    return (await this.#complete(caller, key, upload, sending)).upload
  }

  /** Takes the last step of an upload whose bytes have all come, if it has not been taken. @throws {Locked} `upload-locked` */
  async #complete(caller: Caller, key: EntryKey, upload: ResumableUpload, sending: Sending): Promise<Progress> {
    if (!isWhole(upload) || upload.isDone === 1) return { upload }
    if (upload.isClaimed === 1)
      throw new Locked('upload-locked', 'The upload is being completed. Ask again in some seconds.')
    return await this.#receiving.runAfter(upload.id, bytes =>
      this.#receive(caller, key, upload.id, { offset: upload.length, bytes, size: 0, ...sending }),
    )
  }

  /** The caller's uploads that can go on, parts included, in all contexts that an access token opens. */
  async unfinished(
    caller: Caller,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly uploads: readonly ListedUpload[]; readonly results: number }> {
    requireSignedIn(caller, 'list your uploads')
    return await this.#deps.resumableFiles.records.unfinishedOf(caller.user.id, {
      ...page,
      contexts: caller.grant?.contexts,
    })
  }

  /**
   * Stores the received bytes, also those of a request that breaks off. After the last byte the file takes its place. If two requests send
   * bytes at once, the later one wins, unless all bytes of the earlier one have arrived.
   * @throws {Conflict} `upload-offset` @throws {ChecksumMismatch} @throws {TooLarge} @throws {Forbidden} for an upload that is joined of parts
   */
  async append(caller: Caller, key: EntryKey, id: string, piece: Piece): Promise<Progress> {
    const upload = await this.find(caller, key, id)
    if (upload.concat !== null)
      throw new Forbidden('not-allowed', 'A final upload takes no bytes: it is made of its parts.')
    requireFits(upload, piece)
    return await this.#receiving.run(id, piece.bytes, bytes => this.#receive(caller, key, id, { ...piece, bytes }))
  }

  /** Ends the requests that are being received with what has come, and refuses further ones. */
  async close(): Promise<void> {
    await this.#receiving.close()
  }

  /** Gives the upload up, and its storage back; for all who may end it. @throws {NotFound} @throws {Gone} `upload-expired` */
  async remove(caller: Caller, id: string): Promise<void> {
    await this.#endings.find(caller, id)
    await this.#receiving.stop(id, unknownUpload())
    // It may have ended meanwhile.
    await this.#endings.remove(caller, id)
  }

  /** Deletes the entries that were created for uploads which have expired. */
  async deleteUnusedEntries(): Promise<void> {
    await this.#endings.deleteUnusedEntries()
  }

  /**
   * Makes one file of complete parts, in this order. If a client repeats the request after a lost response, it gets the upload that the
   * first request made.
   * @throws {InvalidInput} when one of the ids belongs to no complete part
   */
  async join(
    caller: Caller,
    key: EntryKey,
    ids: readonly string[],
    { declared, ...sending }: { readonly declared: DeclaredJoin } & Sending,
  ): Promise<Progress> {
    const target = await this.#target(caller, key)
    const findJoined = (): Promise<ResumableUpload | undefined> =>
      this.#deps.resumableFiles.records.findJoined(caller.user.id, target.entry, declared.concat)
    let upload = await findJoined()
    try {
      upload ??= await this.#joinParts(caller, target, ids, declared)
    } catch (error) {
      // The same request may have joined them meanwhile.
      if (error instanceof NotFound) upload = await findJoined()
      if (!upload) throw error
    }
    const progress = await this.#complete(caller, key, upload, sending)
    await this.#deps.files.collectGarbage()
    return progress
  }

  async #joinParts(
    caller: Caller,
    target: EntryInContext,
    ids: readonly string[],
    declared: DeclaredJoin,
  ): Promise<ResumableUpload> {
    const { changes, resumableFiles, files } = this.#deps
    const { entry } = target
    const parts: ResumableUpload[] = []
    for (const id of ids) parts.push(await this.find(caller, { context: entry.context, entry: entry.id }, id))
    const isWrong = (part: ResumableUpload): boolean => part.isPartial === 0 || part.received < part.length
    if (parts.length === 0 || parts.some(isWrong) || new Set(ids).size < ids.length)
      throw new InvalidInput('invalid-value', '`Upload-Concat` must name complete partial uploads, each once.')
    files.requireAcceptable(parts.reduce((sum, { length }) => sum + length, 0))
    return await resumableFiles.join(
      parts,
      {
        ...declared,
        uploader: caller.user.id,
        payers: { context: entry.context, user: payingUser(entry) },
        entry: entry.id,
      },
      work =>
        changes.run(caller, async writer => {
          await writer.recheck(target, uploading)
          return await work(writer.tx)
        }),
    )
  }

  async #receive(caller: Caller, key: EntryKey, id: string, piece: Piece): Promise<Progress> {
    const target = await this.#target(caller, key)
    const upload = await this.find(caller, key, id)
    requireFits(upload, piece)
    if (upload.isDone === 1) {
      if (!(await isEmpty(piece.bytes))) throw tooLong(upload)
      return { upload }
    }
    const { checksum } = piece
    const hash = checksum && createHash(checksum.algorithm)
    const bytes = hash ? hashed(piece.bytes, hash) : piece.bytes
    const accept = (): void => {
      if (!checksum || hash?.digest().equals(checksum.digest)) return
      throw new ChecksumMismatch('upload-checksum', 'The bytes differ from `Upload-Checksum`. Send them again.')
    }
    const { resumableFiles } = this.#deps
    try {
      return await resumableFiles.claim(upload, async claimed => {
        const now = await resumableFiles.append(claimed, bytes, { inOneStep: checksum !== undefined, accept })
        return isWhole(now) ? await this.#finish(caller, target, now, piece) : { upload: now }
      })
    } catch (error) {
      // After the claim, which answers that an upload which ends meanwhile is unknown.
      if (error instanceof FileInfected) await this.#endings.cancel(upload)
      throw error
    }
  }

  /** May run again after a failure: the bytes stay until the upload expires. */
  async #finish(
    caller: Caller,
    target: EntryInContext,
    upload: ClaimedUpload,
    { signal, sender }: Sending,
  ): Promise<Progress> {
    const { changes, files, resumableFiles } = this.#deps
    const { blob } = upload
    const file = { blob, ...(await resumableFiles.complete(upload)) }
    const payers = { context: target.entry.context, user: payingUser(target.entry) }
    const stored = await files.putStored(
      { ...payers, id: target.entry.id },
      { file, reservation: { ...payers, blob }, signal, sender },
      {
        transaction: <T>(work: (writer: EntryWriter) => Promise<T>) =>
          changes.run(caller, async writer => {
            await resumableFiles.markDone(writer.tx, upload)
            return await work(writer)
          }),
        makeVisible: async (writer, _file, previous) => {
          const { entry: present } = await writer.recheck(target, uploading)
          requireHoldsFile(present)
          const { mediaType, fileName, length: size } = upload
          const statements = describeFile(present, { mediaType, fileName: fileName ?? undefined, size })
          const entry = await writer.update(present, { ...present, statements })
          writer.record(uploadEvent(entry, { size }, previous))
          return { entry, file }
        },
      },
    )
    return { upload: { ...upload, isDone: 1 }, stored }
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

/** @throws {Conflict} `upload-offset` @throws {TooLarge} `upload-too-long` */
function requireFits(upload: ResumableUpload, { offset, size = 0 }: Piece): void {
  if (offset !== upload.received) throw wrongOffset(`\`Upload-Offset\` must be ${upload.received}, but is ${offset}.`)
  if (offset + size > upload.length) throw tooLong(upload)
}

const isWhole = ({ received, length, isPartial }: ResumableUpload): boolean => received === length && isPartial === 0

async function isEmpty(bytes: AsyncIterable<Uint8Array>): Promise<boolean> {
  for await (const chunk of bytes) if (chunk.length > 0) return false
  return true
}
