import { DeleteObjectCommand, HeadBucketCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { StartupError, StoreUnavailable } from '../../base/errors.ts'
import type { Prepared } from '../../base/prepared.ts'
import type { Bytes } from '../../base/units.ts'
import {
  abortable,
  BlobMissing,
  type BlobStore,
  type ByteRange,
  hashed,
  isBlobKey,
  type ListedBlob,
  measured,
  requireBlobKey,
  requireRange,
  type StoredBlob,
} from '../blob-store.ts'
import {
  abortMultipart,
  beginMultipart,
  createS3Client,
  currentCredentials,
  isAbsentObject,
  objectsIn,
  s3Call,
  type S3Multipart,
  type S3Options,
  sizeOfUnfinished,
  TIMEOUT,
  unfinishedIn,
} from './s3-client.ts'
import {
  areWhole,
  PART_SIZES,
  type PartSizes,
  type Piece,
  type PlannedPart,
  type S3Object,
  partNumber,
  partSize,
  planParts,
} from './s3-parts.ts'
import { readObject } from './s3-reader.ts'

/**
 * Stores blobs as objects of a bucket, named by a prefix and their keys. A small blob is sent in one request. A larger blob is sent in
 * parts, one while the next is collected, and exists only after the last step.
 */
export class S3BlobStore implements BlobStore {
  #reader: S3Client
  #client: S3Client
  /** Clients with earlier credentials, which transfers in progress still use. */
  readonly #retired: S3Client[] = []
  readonly #bucket: string
  readonly #prefix: string
  readonly #options: S3Options
  readonly #partSizes: PartSizes

  private constructor(bucket: string, prefix: string, options: S3Options) {
    const credentials = options.credentials ?? currentCredentials()
    this.#reader = createS3Client('read', { ...options, credentials })
    this.#client = createS3Client('write', { ...options, credentials })
    this.#bucket = bucket
    this.#prefix = prefix
    this.#options = options
    this.#partSizes = options.partSizes ?? PART_SIZES
  }

  /** `place` is `s3://bucket` or `s3://bucket/prefix`. @throws {StartupError} when the bucket cannot be used. */
  static async open(place: string, options: S3Options = {}): Promise<S3BlobStore> {
    const [bucket = '', ...prefix] = place.replace(/^s3:\/\//, '').split('/')
    const store = new S3BlobStore(bucket, [...prefix, ''].join('/'), options)
    try {
      await requireBucket(store.#client, bucket)
      return store
    } catch (error) {
      await store.close()
      throw error
    }
  }

  async renew(): Promise<Prepared | undefined> {
    const credentials = this.#options.credentials ?? currentCredentials()
    const reader = createS3Client('read', { ...this.#options, credentials })
    const client = createS3Client('write', { ...this.#options, credentials })
    const discard = async (): Promise<void> => {
      reader.destroy()
      client.destroy()
    }
    try {
      const isSame = isDeepStrictEqual(await keyOf(this.#client), await keyOf(client))
      if (!isSame) await requireBucket(client, this.#bucket)
      else await discard()
      if (isSame) return undefined
    } catch (error) {
      await discard()
      throw error
    }
    const apply = (): void => {
      this.#retired.push(this.#reader, this.#client)
      this.#reader = reader
      this.#client = client
    }
    return { what: 'the credentials of S3', apply, discard }
  }

  /**
   * After a `StoreUnavailable` the state of the upload is unknown: bytes in transit may still arrive, so the key must be
   * deleted later. A blob takes the memory of up to three parts.
   */
  async write(key: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredBlob> {
    return await this.#write(this.#object(key), bytes, signal)
  }

  async #write(object: S3Object, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredBlob> {
    signal.throwIfAborted()
    // An error of the server also ends the waiting for the source.
    const broken = new AbortController()
    const either = AbortSignal.any([signal, broken.signal])
    const hash = createHash('sha256')
    const sizes = this.#partSizes
    let size = 0
    let count = 0
    let upload: S3Multipart | undefined
    let sending: Promise<void> = Promise.resolve()
    try {
      for await (const part of inParts(hashed(abortable(bytes, either), hash), sizes)) {
        size += part.length
        count++
        await sending
        if (part.length >= sizes.small) upload ??= await beginMultipart(this.#client, object, either)
        if (upload && count === sizes.count + 1) upload = await this.#enlargeParts(upload, object, either)
        sending = upload ? upload.add(partNumber(count, sizes), part) : this.#put(object, part, either)
        sending.catch((error: unknown) => broken.abort(error))
      }
      await sending
      await upload?.complete()
      return { size, sha256: hash.digest('hex') }
    } catch (error) {
      await sending.catch(() => {})
      // `list` finds what cannot be removed now; the first error is more useful than this one.
      if (!(error instanceof StoreUnavailable)) await this.#deleteObject(object).catch(() => {})
      throw error
    }
  }

  /** Ends an upload that is full of small parts, and begins an upload in which the server combines them to large parts. */
  async #enlargeParts(full: S3Multipart, object: S3Object, signal: AbortSignal): Promise<S3Multipart> {
    const { small, count, large } = this.#partSizes
    await full.complete()
    const upload = await beginMultipart(this.#client, object, signal)
    const copies = Array.from({ length: (small * count) / large }, (_, index) => ({
      number: index + 1,
      object,
      range: { first: index * large, last: (index + 1) * large - 1 },
    }))
    await upload.copy(copies)
    return upload
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const object = this.#object(key)
    if (range) requireRange(range)
    try {
      return await readObject(this.#reader, object, range, this.#options.timeout ?? TIMEOUT)
    } catch (error) {
      throw isAbsentObject(error) ? new BlobMissing(key, { cause: error }) : error
    }
  }

  /** Each piece is its own object, named by the key and its offset. If a piece is written again, it replaces the earlier piece. */
  async append(key: string, offset: Bytes, bytes: AsyncIterable<Uint8Array>): Promise<Bytes> {
    const object = { Bucket: this.#bucket, Key: `${this.#object(key).Key}.${String(offset).padStart(16, '0')}` }
    // A refused request may have left some.
    await this.#deletePieces(key, object)
    const { size } = await this.#write(object, bytes, new AbortController().signal)
    return size
  }

  async readPieces(key: string, size: Bytes): Promise<Readable> {
    const pieces = await this.#piecesOf(key)
    return Readable.from(this.#readPieces(key, pieces, { first: 0, end: size }), { objectMode: false })
  }

  async *#readPieces(
    key: string,
    pieces: readonly Piece[],
    { first, end }: Pick<PlannedPart, 'first' | 'end'>,
  ): AsyncGenerator<Uint8Array> {
    let at = first
    for (const { object, offset, size } of pieces) {
      const last = Math.min(offset + size, end)
      if (last <= at) continue
      if (offset > at) break
      const range = { first: at - offset, last: last - offset - 1 }
      yield* await readObject(this.#reader, object, range, this.#options.timeout ?? TIMEOUT)
      at = last
    }
    if (at !== end) throw new BlobMissing(key)
  }

  /**
   * If the digest is known, the server copies parts that lie in one piece. Parts with bytes of several pieces are sent again.
   */
  async complete(key: string, size: Bytes, sha256?: string): Promise<StoredBlob> {
    const pieces = await this.#piecesOf(key)
    if (size > 0 && !areWhole(pieces, size)) return await this.#joinedBefore(key, size)
    const object = this.#object(key)
    const parts = planParts(pieces, this.#partSizes)
    const isCopied = sha256 !== undefined && parts.some(({ copied }) => copied)
    if (isCopied) await this.#join(key, pieces, parts)
    const stored = isCopied
      ? { size, sha256 }
      : await this.#write(object, await this.readPieces(key, size), new AbortController().signal)
    await this.#deletePieces(key)
    return stored
  }

  /** The result of an earlier attempt that ended before all pieces were deleted, or before its result was known. */
  async #joinedBefore(key: string, size: Bytes): Promise<StoredBlob> {
    const stored = await measured(await this.read(key))
    if (stored.size !== size) throw new BlobMissing(key)
    await this.#deletePieces(key)
    return stored
  }

  async #join(key: string, pieces: readonly Piece[], parts: readonly PlannedPart[]): Promise<void> {
    const object = this.#object(key)
    const signal = new AbortController().signal
    try {
      const upload = await beginMultipart(this.#client, object, signal)
      await upload.copy(
        parts.flatMap(({ number, first, end, copied }) => {
          if (!copied) return []
          const range = { first: first - copied.offset, last: end - copied.offset - 1 }
          const isWhole = end - first === copied.size
          return [{ number, object: copied.object, range: isWhole ? undefined : range }]
        }),
      )
      for (const part of parts) {
        if (part.copied) continue
        const bytes = this.#readPieces(key, pieces, part)
        await upload.add(part.number, await collected(bytes, part.end - part.first))
      }
      await upload.complete()
    } catch (error) {
      await this.#deleteObject(object).catch(() => {})
      throw error
    }
  }

  /** @param after only the pieces behind this one */
  async #piecesOf(key: string, after?: S3Object): Promise<Piece[]> {
    const prefix = `${this.#object(key).Key}.`
    const pieces = []
    const place = { Bucket: this.#bucket, Prefix: prefix, StartAfter: after?.Key }
    for await (const { Key = '', Size = 0 } of objectsIn(this.#client, place)) {
      // Not every server knows `StartAfter`.
      if (after?.Key !== undefined && Key <= after.Key) continue
      pieces.push({ object: { Bucket: this.#bucket, Key }, offset: Number(Key.slice(prefix.length)), size: Size })
    }
    return pieces.sort((a, b) => a.offset - b.offset)
  }

  async #deletePieces(key: string, after?: S3Object): Promise<void> {
    for (const { object } of await this.#piecesOf(key, after))
      await s3Call(this.#client.send(new DeleteObjectCommand(object)))
  }

  async delete(key: string): Promise<void> {
    const object = this.#object(key)
    await this.#deletePieces(key)
    await this.#deleteObject(object)
  }

  async #deleteObject(object: S3Object): Promise<void> {
    for await (const { Key, UploadId = '' } of unfinishedIn(this.#client, { Bucket: this.#bucket, Prefix: object.Key }))
      await abortMultipart(this.#client, { Bucket: this.#bucket, Key: Key ?? object.Key }, UploadId)
    await s3Call(this.#client.send(new DeleteObjectCommand(object)))
  }

  async setAside(key: string): Promise<void> {
    await this.delete(key)
  }

  /** A blob that is completed meanwhile may be listed twice. */
  async *list(): AsyncIterable<ListedBlob> {
    // Incomplete uploads come first: in the other order a blob completed in between would be missed.
    const place = { Bucket: this.#bucket, Prefix: this.#prefix }
    for await (const upload of unfinishedIn(this.#client, place)) {
      const key = this.#keyOf(upload.Key)
      if (key === undefined) continue
      const size = await sizeOfUnfinished(this.#client, this.#bucket, upload)
      yield { key, size, modified: timeOf(upload.Initiated) }
    }
    for await (const { Key, Size = 0, LastModified } of objectsIn(this.#client, place)) {
      const key = this.#keyOf(Key)
      if (key !== undefined) yield { key, size: Size, modified: timeOf(LastModified) }
    }
  }

  /** A start does not wait for the bucket; `fsck` finds them with {@link list}. */
  async unfinished(): Promise<readonly string[]> {
    return []
  }

  async close(): Promise<void> {
    for (const client of [this.#reader, this.#client, ...this.#retired]) client.destroy()
  }

  async #put(object: S3Object, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    await s3Call(this.#client.send(new PutObjectCommand({ ...object, Body: bytes }), { abortSignal: signal }), signal)
  }

  #object(key: string): S3Object {
    requireBlobKey(key)
    return { Bucket: this.#bucket, Key: `${this.#prefix}${key}` }
  }

  /** `undefined` for objects of other programs. A piece has the key of its blob. */
  #keyOf(name = ''): string | undefined {
    const key = name.slice(this.#prefix.length).replace(/\.\d{16}$/, '')
    return name.startsWith(this.#prefix) && isBlobKey(key) ? key : undefined
  }
}

const timeOf = (date: Date | undefined): number => date?.getTime() ?? 0

async function collected(bytes: AsyncIterable<Uint8Array>, size: Bytes): Promise<Uint8Array> {
  const all = Buffer.allocUnsafeSlow(size)
  let at = 0
  for await (const chunk of bytes) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

/** Collects chunks up to the sizes of parts. There is at least one part, and only the last may be smaller. */
async function* inParts(chunks: AsyncIterable<Uint8Array>, sizes: PartSizes): AsyncGenerator<Uint8Array> {
  let count = 1
  let maxBytes = partSize(count, sizes)
  // Copied, because a client may send single bytes, each of which would keep a whole object alive.
  let part = Buffer.alloc(0)
  let size = 0
  for await (let chunk of chunks) {
    while (chunk.length > 0) {
      const taken = chunk.subarray(0, maxBytes - size)
      if (size + taken.length > part.length) part = grown(part, size, Math.min(maxBytes, 2 * (size + taken.length)))
      part.set(taken, size)
      size += taken.length
      chunk = chunk.subarray(taken.length)
      if (size < maxBytes) break
      yield part
      maxBytes = partSize(++count, sizes)
      part = Buffer.alloc(0)
      size = 0
    }
  }
  if (count === 1 || size > 0) yield part.subarray(0, size)
}

function grown(part: Buffer<ArrayBuffer>, used: Bytes, size: Bytes): Buffer<ArrayBuffer> {
  // Outside the pool; otherwise a small blob would keep a whole slab alive.
  const larger = Buffer.allocUnsafeSlow(size)
  larger.set(part.subarray(0, used))
  return larger
}

/** @throws {StartupError} */
async function requireBucket(client: S3Client, bucket: string): Promise<void> {
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }))
  } catch (cause) {
    throw new StartupError(`The bucket ${bucket} cannot be used: ${reasonOf(cause)}.`, { cause })
  }
}

/** The credentials that a client uses. */
async function keyOf(client: S3Client): Promise<unknown> {
  try {
    const { accessKeyId, secretAccessKey, sessionToken } = await client.config.credentials()
    return { accessKeyId, secretAccessKey, sessionToken }
  } catch (cause) {
    throw new StartupError(`There are no credentials for S3: ${reasonOf(cause)}.`, { cause })
  }
}

/** A reason that helps a person who has just configured the store. */
function reasonOf(error: unknown): string {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
  if (status === 404) return 'there is no such bucket'
  if (status === 403) return 'the server refuses these credentials'
  // A connection rejected at each of several addresses has no message, but a code.
  const { message = '', code = '' } = error as { message?: string; code?: string }
  return (message || code || String(error)).replace(/\.$/, '')
}
