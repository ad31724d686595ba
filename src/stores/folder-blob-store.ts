import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { Permits } from '../base/permits.ts'
import { SharedCalls } from '../base/shared-calls.ts'
import type { Bytes } from '../base/units.ts'
import {
  abortable,
  BlobMissing,
  type BlobStore,
  type ByteRange,
  isBlobKey,
  type ListedBlob,
  requireBlobKey,
  requireRange,
  type StoredBlob,
} from './blob-store.ts'
import { type Digest, Digests, lengthOf } from './digests.ts'
import { translateDiskError, withDiskErrors } from './disk.ts'
import { FileReads } from './file-reads.ts'

/** Chunks are collected up to this size, without copying, before they are written. */
const BATCH: Bytes = 2 ** 18
/** The same for a few files at a time. Each batch wakes two threads, and on a virtual machine that takes as long as writing 100 KiB. */
const LARGE_BATCH: Bytes = 2 ** 20
const BATCH_CHUNKS = 256
/** The same for all files that are being written, each of which has an equal part: a thousand stopped senders keep no more. */
const ALL_BATCHES: Bytes = 2 ** 24
/** Maximum number of files with large batches: a stopped sender keeps its batch in memory. */
const MAX_LARGE = 16
/** So much is flushed to the disk while the rest comes in. Otherwise the disk begins when the last byte has come, and the client waits. */
const FLUSHED_AFTER: Bytes = 8 * 2 ** 20
const WHOLE: ByteRange = { first: 0, last: Number.POSITIVE_INFINITY }

/**
 * Stores blobs as files in one folder with 256 sub-folders, named by the first two digits of the keys. A blob is written
 * under `incoming/` and renamed when it is complete and on the disk, so every file in a sub-folder is complete.
 */
export class FolderBlobStore implements BlobStore {
  readonly #folder: string
  readonly #files: FileCalls
  /** Sub-folders that have been synchronised to the disk. */
  readonly #subfolders = new Set<string>()
  /** Uploads that end at the same time share them: their keys begin alike (`BlobKeys`), so they lie in one folder. */
  readonly #syncs = new SharedCalls((path: string) => this.#syncFolder(path))
  readonly #digests = new Digests()
  readonly #largeBatches = new Permits(MAX_LARGE)
  readonly #reads = new FileReads()
  #isFlushing = false
  /** Files that are being written. */
  #writing = 0

  private constructor(folder: string, files: FileCalls) {
    this.#folder = folder
    this.#files = files
  }

  /** Opens an existing store for reading. Creates nothing, so the folder may be on a read-only medium. */
  static at(folder: string): FolderBlobStore {
    return new FolderBlobStore(folder, nodeFileCalls)
  }

  /** Creates the folder when it is absent; its parent must exist. */
  static async open(folder: string, files: FileCalls = nodeFileCalls): Promise<FolderBlobStore> {
    const store = new FolderBlobStore(folder, files)
    await files.mkdir(join(folder, 'incoming'))
    await store.#syncFolder(folder)
    await store.#syncFolder(dirname(folder))
    return store
  }

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
      await this.#syncs.run(dirname(final))
      return blob
    } catch (error) {
      // `list` finds what cannot be removed now; the first error is more useful than this one.
      await this.#remove(incoming).catch(() => {})
      if (renamed) await this.#remove(final).catch(() => {})
      throw error
    }
  }

  async read(key: string, range?: ByteRange, reader = ''): Promise<Readable> {
    const path = this.#final(key)
    // Checked first, because a stream that rejects its range leaves the file open.
    if (range) requireRange(range)
    const handle = await this.#files.open(path, 'r').catch(error => {
      throw isAbsent(error) ? new BlobMissing(key, { cause: error }) : translateDiskError(error)
    })
    // The stream reads from the open file, not from its name, so a later delete does not affect it.
    return this.#reads.stream(handle, range ?? WHOLE, reader)
  }

  /** Resolves when the name can no longer come back after a power failure: the record of the deletion is dropped then. */
  async delete(key: string): Promise<void> {
    const final = this.#final(key)
    if (await withDiskErrors(this.#remove(final))) await withDiskErrors(this.#syncs.run(dirname(final)))
    await withDiskErrors(this.#remove(this.#incoming(key)))
  }

  /** A blob that is completed meanwhile may be listed twice. */
  async *list(): AsyncIterable<ListedBlob> {
    // Incomplete blobs come first: in the other order a blob renamed in between would be missed.
    yield* this.#listFolder('incoming')
    for (const name of await this.#files.readdir(this.#folder)) {
      if (/^[0-9a-f]{2}$/.test(name)) yield* this.#listFolder(name)
    }
  }

  async unfinished(): Promise<readonly string[]> {
    return (await this.#files.readdir(join(this.#folder, 'incoming'))).filter(isBlobKey)
  }

  async close(): Promise<void> {
    await this.#digests.close()
  }

  /** Writes, synchronises and closes; closes after a failure too. */
  async #fill(handle: FileHandle, bytes: AsyncIterable<Uint8Array>): Promise<StoredBlob> {
    const written = new UnderWay()
    const flushed = new UnderWay()
    let digest: Digest | undefined
    let [size, flushedSize] = [0, 0]
    const limits = { large: this.#largeBatches, usual: () => Math.min(BATCH, ALL_BATCHES / this.#writing) }
    this.#writing++
    try {
      for await (const batch of batches(bytes, limits)) {
        const length = lengthOf(batch)
        digest ??= this.#digests.begin(length)
        await written.done()
        // While it is written and hashed, this thread receives the next bytes.
        written.begin(this.#add(handle, digest, batch))
        size += length
        if (size - flushedSize < FLUSHED_AFTER || this.#isFlushing) continue
        await flushed.done()
        flushed.begin(this.#flush(handle))
        flushedSize = size
      }
      await written.done()
      await flushed.done()
      digest ??= this.#digests.begin(0)
      const [sha256] = await Promise.all([digest.end(), this.#files.sync(handle)])
      return { size, sha256 }
    } finally {
      this.#writing--
      await written.settled()
      await flushed.settled()
      digest?.drop()
      await this.#files.close(handle)
    }
  }

  /** Hashed afterwards, because the digest takes the memory of the batch. */
  async #add(handle: FileHandle, digest: Digest, batch: readonly Uint8Array[]): Promise<void> {
    await this.#files.write(handle, batch)
    await digest.update(batch)
  }

  /** One file at a time: the thread pool has four threads, and commits wait for one. */
  async #flush(handle: FileHandle): Promise<void> {
    this.#isFlushing = true
    try {
      await this.#files.flush(handle)
    } finally {
      this.#isFlushing = false
    }
  }

  async #ensureSubfolder(path: string): Promise<void> {
    if (this.#subfolders.has(path)) return
    await this.#files.mkdir(path)
    // Also when it already existed: the process that created it may have stopped before this step.
    await this.#syncFolder(this.#folder)
    this.#subfolders.add(path)
  }

  /** Makes the names in the folder as durable as the files they refer to. */
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

  /** Returns false if there is no such file. */
  async #remove(path: string): Promise<boolean> {
    try {
      await this.#files.unlink(path)
      return true
    } catch (error) {
      if (!isAbsent(error)) throw error
      return false
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

/** A call that goes on while others are made. Its failure is thrown by `done`. */
class UnderWay {
  #call: Promise<void> = Promise.resolve()

  begin(call: Promise<void>): void {
    this.#call = call
    // Somebody asks later; until then the failure must not end the process.
    this.#call.catch(() => {})
  }

  done(): Promise<void> {
    return this.#call
  }

  async settled(): Promise<void> {
    await this.#call.catch(() => {})
  }
}

async function* batches(
  chunks: AsyncIterable<Uint8Array>,
  { large, usual }: { readonly large: Permits; readonly usual: () => Bytes },
): AsyncIterable<readonly Uint8Array[]> {
  let batch: Uint8Array[] = []
  let size = 0
  let isLarge = false
  const release = (): void => {
    if (isLarge) large.release()
    isLarge = false
  }
  try {
    for await (const chunk of chunks) {
      if (chunk.byteLength === 0) continue
      batch.push(chunk)
      size += chunk.byteLength
      isLarge ||= size >= BATCH && large.tryAcquire()
      if (size < (isLarge ? LARGE_BATCH : usual()) && batch.length < BATCH_CHUNKS) continue
      yield batch
      release()
      batch = []
      size = 0
    }
    if (batch.length > 0) yield batch
  } finally {
    release()
  }
}

/** What the blob store asks of the file system, as values, so that a test can make any single call fail. */
export interface FileCalls {
  open(path: string, flags: 'r' | 'wx'): Promise<FileHandle>
  /** Writes all of `chunks` at the handle's position. */
  write(handle: FileHandle, chunks: readonly Uint8Array[]): Promise<void>
  /** Begins early what `sync` must do. A failure may be reported here and by no later call. */
  flush(handle: FileHandle): Promise<void>
  sync(handle: FileHandle): Promise<void>
  close(handle: FileHandle): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** An existing folder is no error. */
  mkdir(path: string): Promise<void>
  readdir(path: string): Promise<string[]>
  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }>
}

/** Files and folders are made for this user only. */
export const nodeFileCalls: FileCalls = {
  open: (path, flags) => open(path, flags, 0o600),
  write: writeAll,
  flush: handle => handle.datasync(),
  sync: handle => handle.sync(),
  close: handle => handle.close(),
  rename,
  unlink,
  async mkdir(path) {
    await mkdir(path, { recursive: true, mode: 0o700 })
  },
  readdir,
  stat: path => stat(path),
}

/** `writev` may write less than it is given, for instance when the disk is nearly full or a signal comes in. */
async function writeAll(handle: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  let rest = chunks
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest)
    rest = after(rest, bytesWritten)
  }
}

function after(chunks: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let skip = count
  for (const [index, chunk] of chunks.entries()) {
    if (skip < chunk.byteLength) return [chunk.subarray(skip), ...chunks.slice(index + 1)]
    skip -= chunk.byteLength
  }
  return []
}
