import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Bytes } from '../base/units.ts'
import { abortable } from './abortable.ts'
import { isBlobKey, requireBlobKey, requireRange } from './blob-key.ts'
import { BlobMissing, type BlobStore, type ByteRange, type ListedBlob, type StoredBlob } from './blob-store.ts'
import { translateDiskError, withDiskErrors } from './disk-errors.ts'
import { type FileCalls, nodeFileCalls } from './file-calls.ts'

/** Small chunks are gathered up to one of these before they are written, uncopied; more would leave the caches of the processor. */
const BATCH: Bytes = 2 ** 18
const BATCH_CHUNKS = 256

/**
 * Blobs as files of one folder, spread over 256 sub-folders by the first two digits of their keys. A blob is written
 * under `incoming/` and renamed when it is complete and on the disk: what lies in a sub-folder is whole.
 */
export class FolderBlobStore implements BlobStore {
  readonly #folder: string
  readonly #files: FileCalls
  /** Sub-folders that are known to survive a power cut. */
  readonly #subfolders = new Set<string>()

  private constructor(folder: string, files: FileCalls) {
    this.#folder = folder
    this.#files = files
  }

  /** One that is there, for reading: nothing is made, so that it may lie on a medium that cannot be written. */
  static at(folder: string): FolderBlobStore {
    return new FolderBlobStore(folder, nodeFileCalls)
  }

  /** Makes the folder when it is absent; its parent exists. */
  static async open(folder: string, files: FileCalls = nodeFileCalls): Promise<FolderBlobStore> {
    const store = new FolderBlobStore(folder, files)
    await files.mkdir(join(folder, 'incoming'))
    await store.#syncFolder(folder)
    await store.#syncFolder(dirname(folder))
    return store
  }

  /** A chunk belongs to the store from the moment the source yields it: the source must not fill it anew. */
  write(key: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredBlob> {
    return withDiskErrors(this.#write(key, bytes, signal))
  }

  async #write(key: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredBlob> {
    const incoming = this.#incoming(key)
    const final = this.#final(key)
    signal.throwIfAborted()
    const handle = await this.#files.open(incoming, 'wx')
    let renamed = false
    try {
      const blob = await this.#fill(handle, abortable(bytes, signal))
      await this.#ensureSubfolder(dirname(final))
      signal.throwIfAborted()
      renamed = true
      await this.#files.rename(incoming, final)
      await this.#syncFolder(dirname(final))
      return blob
    } catch (error) {
      // What cannot be removed now is found by `list`; the first error says more than this one would.
      await this.#remove(incoming).catch(() => {})
      if (renamed) await this.#remove(final).catch(() => {})
      throw error
    }
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const path = this.#final(key)
    // Asked first, because a stream that refuses its range leaves the file open.
    if (range) requireRange(range)
    const handle = await this.#files.open(path, 'r').catch(error => {
      throw isAbsent(error) ? new BlobMissing(key, { cause: error }) : translateDiskError(error)
    })
    // The stream reads from the open file, not from its name: a later delete does not disturb it.
    return handle.createReadStream(range ? { start: range.first, end: range.last } : {})
  }

  async delete(key: string): Promise<void> {
    await withDiskErrors(this.#remove(this.#final(key)))
    await withDiskErrors(this.#remove(this.#incoming(key)))
  }

  /** A blob that is completed meanwhile may come twice. */
  async *list(): AsyncIterable<ListedBlob> {
    // First of all what is being written: in the other order a blob renamed in between would be missed.
    yield* this.#listFolder('incoming')
    for (const name of await this.#files.readdir(this.#folder)) {
      if (/^[0-9a-f]{2}$/.test(name)) yield* this.#listFolder(name)
    }
  }

  async unfinished(): Promise<readonly string[]> {
    return (await this.#files.readdir(join(this.#folder, 'incoming'))).filter(isBlobKey)
  }

  async close(): Promise<void> {}

  /** Writes, synchronises and closes; closes after a failure too. */
  async #fill(handle: FileHandle, bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob> {
    try {
      const hash = createHash('sha256')
      let size = 0
      for await (const batch of batches(bytes)) {
        const written = this.#files.write(handle, batch)
        // While a thread of the pool writes, this one hashes.
        for (const chunk of batch) {
          hash.update(chunk)
          size += chunk.byteLength
        }
        await written
      }
      await this.#files.sync(handle)
      return { size, sha256: hash.digest('hex') }
    } finally {
      await this.#files.close(handle)
    }
  }

  async #ensureSubfolder(path: string): Promise<void> {
    if (this.#subfolders.has(path)) return
    await this.#files.mkdir(path)
    // Even when it was there already: who made it may have been cut off before this.
    await this.#syncFolder(this.#folder)
    this.#subfolders.add(path)
  }

  /** Makes the names in the folder as durable as the files they stand for. */
  async #syncFolder(path: string): Promise<void> {
    const handle = await this.#files.open(path, 'r')
    try {
      await this.#files.sync(handle)
    } finally {
      await this.#files.close(handle)
    }
  }

  async *#listFolder(name: string): AsyncIterable<ListedBlob> {
    for (const key of await this.#files.readdir(join(this.#folder, name))) {
      if (!isBlobKey(key)) continue
      try {
        const { size, mtimeMs } = await this.#files.stat(join(this.#folder, name, key))
        yield { key, size, modified: Math.floor(mtimeMs) }
      } catch (error) {
        if (!isAbsent(error)) throw error
      }
    }
  }

  async #remove(path: string): Promise<void> {
    try {
      await this.#files.unlink(path)
    } catch (error) {
      if (!isAbsent(error)) throw error
    }
  }

  #incoming(key: string): string {
    requireBlobKey(key)
    return join(this.#folder, 'incoming', key)
  }

  #final(key: string): string {
    requireBlobKey(key)
    return join(this.#folder, key.slice(0, 2), key)
  }
}

const isAbsent = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

async function* batches(chunks: AsyncIterable<Uint8Array>): AsyncIterable<readonly Uint8Array[]> {
  let batch: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    if (chunk.byteLength === 0) continue
    batch.push(chunk)
    size += chunk.byteLength
    if (size < BATCH && batch.length < BATCH_CHUNKS) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}
