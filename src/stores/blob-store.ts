import type { Readable } from 'node:stream'
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

/**
 * Stores bytes under keys that this program creates (`newBlobKey`), never a user. A blob does not change once it is written.
 */
export interface BlobStore {
  /**
   * Stores all of `bytes` and computes their digest. When it resolves, the blob is durable and readable under `key`; when it
   * rejects (source failed, `signal` aborted, disk full), nothing is readable. After a crash during the write, `delete` of
   * the key removes the remains. The key must be new.
   */
  write(key: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredBlob>
  /** @throws {BlobMissing} when there is no such blob. The stream must be read or destroyed. */
  read(key: string, range?: ByteRange): Promise<Readable>
  /** Deleting an absent key is not an error. */
  delete(key: string): Promise<void>
  /** Every blob, complete or left incomplete by a crash, in no particular order. */
  list(): AsyncIterable<ListedBlob>
  /**
   * Keys of blobs that are being written or were left incomplete by a crash, as far as they can be listed without a request
   * to a server.
   */
  unfinished(): Promise<readonly string[]>
  close(): Promise<void>
}

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
