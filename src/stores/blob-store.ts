import { createHash, type Hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { timed } from '../base/request-timings.ts'
import type { Prepared } from '../base/prepared.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'

/** First and last byte, both counted from 0 and included. */
export interface ByteRange {
  readonly first: Bytes
  readonly last: Bytes
}

export interface StoredBlob {
  readonly size: Bytes
  /** Lower-case hexadecimal. */
  readonly sha256: string
}

export interface ListedBlob {
  readonly key: string
  readonly size: Bytes
  readonly modified: Milliseconds
}

/** How long a folder keeps a blob that was set aside. */
export const KEPT_ASIDE: Milliseconds = 30 * 86_400_000

/**
 * Stores bytes under keys that this program creates (`newBlobKey`), never a user. A blob does not change once it is written.
 */
export interface BlobStore {
  /**
   * Stores all of `bytes` and computes their digest. When it resolves, the blob is durable and readable under `key`; when it
   * rejects (source failed, `signal` aborted, disk full), nothing is readable. After a crash during the write, `delete` of
   * the key removes the remains. The key must be new. A chunk must not change before the next chunk is requested.
   */
  write(key: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredBlob>
  /**
   * The stream must be read or destroyed.
   * @throws {BlobMissing} when there is no such blob
   */
  read(key: string, range?: ByteRange): Promise<Readable>
  /** Deleting an absent key is not an error. */
  delete(key: string): Promise<void>
  /**
   * Removes a complete blob that no row names, so that an operator can still bring it back if that was wrong: a folder keeps it
   * under `removed/` for {@link KEPT_ASIDE}; a bucket deletes it.
   */
  setAside(key: string): Promise<void>
  /**
   * Adds bytes to a blob that arrives in pieces and is not readable yet. Bytes beyond `offset` are dropped first. When it resolves, the
   * bytes are durable. @returns the number of added bytes @throws {BlobMissing} when the blob has fewer than `offset` bytes
   */
  append(key: string, offset: Bytes, bytes: AsyncIterable<Uint8Array>): Promise<Bytes>
  /** The first `size` bytes of a blob that arrives in pieces. The stream must be read or destroyed. @throws {BlobMissing} */
  readPieces(key: string, size: Bytes): Promise<Readable>
  /**
   * Makes a blob of the first `size` bytes that were appended. May be repeated after a crash.
   * @param sha256 their digest, if it is known; otherwise they are read again @throws {BlobMissing}
   */
  complete(key: string, size: Bytes, sha256?: string): Promise<StoredBlob>
  /** Every blob, complete or left incomplete by a crash, in no particular order. */
  list(): AsyncIterable<ListedBlob>
  /**
   * Keys of blobs that are being written or were left incomplete by a crash, as far as they can be listed without a request
   * to a server.
   */
  unfinished(): Promise<readonly string[]>
  /** Prepares the use of other credentials. `undefined` if they are the same. @throws {StartupError} when the server refuses them */
  renew?(): Promise<Prepared | undefined>
  close(): Promise<void>
}

/** The same store; the time of its operations counts as the time for files of a request. */
export const timedBlobs = (blobs: BlobStore): BlobStore => ({
  write: (...given) => timed('files', 'write', () => blobs.write(...given)),
  read: (...given) => timed('files', 'read', () => blobs.read(...given)),
  delete: (...given) => timed('files', 'delete', () => blobs.delete(...given)),
  setAside: (...given) => timed('files', 'delete', () => blobs.setAside(...given)),
  append: (...given) => timed('files', 'write', () => blobs.append(...given)),
  readPieces: (...given) => timed('files', 'read', () => blobs.readPieces(...given)),
  complete: (...given) => timed('files', 'write', () => blobs.complete(...given)),
  list: () => blobs.list(),
  unfinished: () => blobs.unfinished(),
  renew: async () => await blobs.renew?.(),
  close: () => blobs.close(),
})

export class BlobMissing extends Error {
  constructor(key: string, options: { cause?: unknown } = {}) {
    super(`no blob has the key ${key}`, options)
    this.name = 'BlobMissing'
  }
}

/** 160 random bits in lower-case hexadecimal: safe as a file name and as an object key, spread evenly by its first digits. */
export function newBlobKey(random: (count: number) => Uint8Array): string {
  return Buffer.from(random(20)).toString('hex')
}

/** Whether this program created the key (`newBlobKey`): only such a key becomes part of a path or of an object's name. */
export const isBlobKey = (text: string): boolean => /^[0-9a-f]{40}$/.test(text)

/** @throws {TypeError} */
export function requireBlobKey(key: string): void {
  if (!isBlobKey(key)) throw new TypeError('a blob key has 40 lower-case hexadecimal digits')
}

/** @throws {RangeError} */
export function requireRange({ first, last }: ByteRange): void {
  if (Number.isSafeInteger(first) && Number.isSafeInteger(last) && first >= 0 && first <= last) return
  throw new RangeError(`bytes ${first} to ${last} are not a range`)
}

/**
 * Yields the items of `source`, and throws the reason of `signal` as soon as it aborts, even while the source is blocked. If
 * the caller stops early, the source is closed.
 */
export async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  signal.throwIfAborted()
  const iterator = source[Symbol.asyncIterator]()
  // One listener for the whole run: a Promise.race per step would add more and more reactions to a promise that never
  // settles.
  let fail: (reason: unknown) => void = () => {}
  const abort = (): void => fail(signal.reason)
  signal.addEventListener('abort', abort)
  let ended = false
  try {
    for (;;) {
      signal.throwIfAborted()
      const step = await new Promise<IteratorResult<T>>((resolve, reject) => {
        fail = reject
        iterator.next().then(resolve, reject)
      })
      if (step.done) {
        ended = true
        return
      }
      yield step.value
    }
  } finally {
    signal.removeEventListener('abort', abort)
    // Not awaited: behind a blocked `next` it would not settle.
    if (!ended) Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

/** How many bytes these are, and their digest. */
export async function measured(bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of hashed(bytes, hash)) size += chunk.length
  return { size, sha256: hash.digest('hex') }
}

/** Yields the bytes, and adds them to a digest. */
export async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}
