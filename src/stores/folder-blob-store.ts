import { createHash } from 'node:crypto'
import { constants, type FileHandle, mkdir, open, readdir, rename, stat, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { callbackify } from 'node:util'
import { realSystem } from '../base/system.ts'
import type { Bytes } from '../base/units.ts'
import {
  abortable,
  BlobMissing,
  type BlobStore,
  type ByteRange,
  hashed,
  isBlobKey,
  KEPT_ASIDE,
  type ListedBlob,
  measured,
  requireBlobKey,
  requireRange,
  type StoredBlob,
} from './blob-store.ts'
import { translateDiskError, withDiskErrors } from './disk.ts'

/** A larger read keeps more in memory for a client that is slow. */
const READ: Bytes = 2 ** 18
/** Maximum number of bytes of a file that are received while earlier bytes are written. */
const BUFFER: Bytes = 2 ** 18

/** The folders that a store of blobs writes to, which it makes when it needs them. */
export const foldersOfBlobs = (folder: string): readonly string[] => [
  folder,
  ...['incoming', 'pieces', 'removed', ...subfolders].map(name => join(folder, name)),
]

const subfolders = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Stores blobs as files in one folder with 256 sub-folders, named by the first two digits of the keys. A blob is written
 * under `incoming/` and renamed when it is complete and on the disk, so every file in a sub-folder is complete. A blob that
 * arrives in pieces grows under `pieces/`.
 */
export class FolderBlobStore implements BlobStore {
  readonly #folder: string
  readonly #files: FileCalls
  /** Sub-folders that have been synchronised to the disk. */
  readonly #subfolders = new Set<string>()

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
    await files.mkdir(join(folder, 'pieces'))
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
      const hash = createHash('sha256')
      const size = await this.#fill(handle, hashed(abortable(bytes, signal), hash))
      await this.#ensureSubfolder(dirname(final))
      signal.throwIfAborted()
      renamed = true
      await this.#files.rename(incoming, final)
      await this.#syncFolder(dirname(final))
      return { size, sha256: hash.digest('hex') }
    } catch (error) {
      // `list` finds what cannot be removed now; the first error is more useful than this one.
      await this.#remove(incoming).catch(() => {})
      if (renamed) await this.#remove(final).catch(() => {})
      throw error
    }
  }

  append(key: string, offset: Bytes, bytes: AsyncIterable<Uint8Array>): Promise<Bytes> {
    return withDiskErrors(this.#append(key, offset, bytes))
  }

  async #append(key: string, offset: Bytes, bytes: AsyncIterable<Uint8Array>): Promise<Bytes> {
    const handle = await this.#openPieces(key, offset)
    const size = await this.#fill(handle, bytes)
    if (offset === 0) await this.#syncFolder(join(this.#folder, 'pieces'))
    return size
  }

  /** Opens the pieces of a blob for appending, cut to this size. */
  async #openPieces(key: string, size: Bytes): Promise<FileHandle> {
    const handle = await this.#files.open(this.#pieces(key), size === 0 ? 'a' : 'append').catch((error: unknown) => {
      throw isAbsent(error) ? new BlobMissing(key, { cause: error }) : error
    })
    try {
      if ((await this.#files.sizeOf(handle)) < size) throw new BlobMissing(key)
      await this.#files.truncate(handle, size)
      return handle
    } catch (error) {
      await this.#files.close(handle)
      throw error
    }
  }

  async readPieces(key: string, size: Bytes): Promise<Readable> {
    if (size === 0) return Readable.from([])
    return await openStream(key, this.#files.open(this.#pieces(key), 'r'), { first: 0, last: size - 1 })
  }

  complete(key: string, size: Bytes, sha256?: string): Promise<StoredBlob> {
    return withDiskErrors(this.#complete(key, size, sha256))
  }

  async #complete(key: string, size: Bytes, known: string | undefined): Promise<StoredBlob> {
    const [pieces, final] = [this.#pieces(key), this.#final(key)]
    // A crash after the renaming has left only the final name.
    const isRenamed = await this.#files.stat(final).then(
      () => true,
      () => false,
    )
    const sha256 = known ?? (await measured(isRenamed ? await this.read(key) : await this.readPieces(key, size))).sha256
    if (!isRenamed) {
      const handle = await this.#openPieces(key, size)
      try {
        await this.#files.sync(handle)
      } finally {
        await this.#files.close(handle)
      }
      await this.#ensureSubfolder(dirname(final))
      await this.#files.rename(pieces, final)
    }
    await this.#syncFolder(dirname(final))
    await this.#syncFolder(dirname(pieces))
    return { size, sha256 }
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    // Checked first, because a stream that rejects its range leaves the file open.
    if (range) requireRange(range)
    return await openStream(key, this.#files.open(this.#final(key), 'r'), range)
  }

  /**
   * Resolves when the name can no longer come back after a power failure: the record of the deletion is dropped then. An earlier call
   * may have removed the name and have ended before the folder was synchronised.
   */
  async delete(key: string): Promise<void> {
    const final = this.#final(key)
    await withDiskErrors(this.#remove(final))
    // No blob has been in a sub-folder that does not exist.
    await withDiskErrors(unlessAbsent(this.#syncFolder(dirname(final))))
    await withDiskErrors(this.#remove(this.#incoming(key)))
    await withDiskErrors(this.#remove(this.#pieces(key)))
  }

  async setAside(key: string): Promise<void> {
    const removed = join(this.#folder, 'removed')
    await this.#files.mkdir(removed)
    await this.#dropOld(removed)
    const [final, kept] = [this.#final(key), join(removed, key)]
    try {
      await this.#files.rename(final, kept)
      // Its age starts now.
      const now = realSystem.now() / 1000
      await utimes(kept, now, now)
      await this.#syncFolder(removed)
    } catch (error) {
      if (!isAbsent(error)) throw translateDiskError(error)
    }
    await this.delete(key)
  }

  async #dropOld(removed: string): Promise<void> {
    for (const name of await this.#files.readdir(removed)) {
      const { mtimeMs } = await this.#files.stat(join(removed, name))
      if (mtimeMs < realSystem.now() - KEPT_ASIDE) await this.#remove(join(removed, name))
    }
  }

  /** A blob that is completed meanwhile may be listed twice. */
  async *list(): AsyncIterable<ListedBlob> {
    // Incomplete blobs come first: in the other order a blob renamed in between would be missed.
    yield* this.#listFolder('incoming')
    yield* this.#listFolder('pieces')
    for (const name of await this.#files.readdir(this.#folder)) {
      if (/^[0-9a-f]{2}$/.test(name)) yield* this.#listFolder(name)
    }
  }

  async unfinished(): Promise<readonly string[]> {
    const names = await Promise.all(['incoming', 'pieces'].map(name => this.#files.readdir(join(this.#folder, name))))
    return names.flat().filter(isBlobKey)
  }

  async close(): Promise<void> {}

  /** Writes, synchronises and closes; closes after a failure too. @returns the number of bytes */
  async #fill(handle: FileHandle, bytes: AsyncIterable<Uint8Array>): Promise<Bytes> {
    let size = 0
    const write = callbackify((chunks: readonly Uint8Array[]) => {
      for (const { byteLength } of chunks) size += byteLength
      return this.#files.write(handle, chunks)
    })
    const file = new Writable({
      highWaterMark: BUFFER,
      write: (chunk: Uint8Array, _, done) => write([chunk], done),
      writev: (waiting, done) =>
        write(
          waiting.map(({ chunk }) => chunk as Uint8Array),
          done,
        ),
    })
    try {
      await pipeline(bytes, file)
      await this.#files.sync(handle)
      return size
    } finally {
      await this.#files.close(handle)
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
      const found = await unlessAbsent(this.#files.stat(join(this.#folder, name, key)))
      if (found) yield { key, size: found.size, modified: Math.floor(found.mtimeMs) }
    }
  }

  async #remove(path: string): Promise<void> {
    await unlessAbsent(this.#files.unlink(path))
  }

  #incoming(key: string): string {
    requireBlobKey(key)
    return join(this.#folder, 'incoming', key)
  }

  #pieces(key: string): string {
    requireBlobKey(key)
    return join(this.#folder, 'pieces', key)
  }

  #final(key: string): string {
    requireBlobKey(key)
    return join(this.#folder, key.slice(0, 2), key)
  }
}

/** The stream reads from the open file, not from its name, so a later delete does not affect it. @throws {BlobMissing} */
async function openStream(key: string, opening: Promise<FileHandle>, range?: ByteRange): Promise<Readable> {
  const handle = await opening.catch((error: unknown) => {
    throw isAbsent(error) ? new BlobMissing(key, { cause: error }) : translateDiskError(error)
  })
  return handle.createReadStream({ start: range?.first ?? 0, end: range?.last, highWaterMark: READ })
}

const isAbsent = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Settles like `work`, but resolves to `undefined` when the file or folder does not exist. */
const unlessAbsent = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (!isAbsent(error)) throw error
    return undefined
  })

/** The functions of the file system that the blob store uses, as values, so that a test can make any call fail. */
export interface FileCalls {
  /** `a` and `append` write to the end; `append` only if the file exists. */
  open(path: string, flags: 'r' | 'wx' | 'a' | 'append'): Promise<FileHandle>
  /** Writes all of the chunks at the handle's position. */
  write(handle: FileHandle, chunks: readonly Uint8Array[]): Promise<void>
  sizeOf(handle: FileHandle): Promise<number>
  truncate(handle: FileHandle, size: number): Promise<void>
  sync(handle: FileHandle): Promise<void>
  close(handle: FileHandle): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** An existing folder is no error. */
  mkdir(path: string): Promise<void>
  readdir(path: string): Promise<string[]>
  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }>
}

/** The chunks without their first `bytes` bytes. */
function behind(chunks: readonly Uint8Array[], bytes: Bytes): readonly Uint8Array[] {
  let skipped = 0
  return chunks.flatMap(chunk => {
    const from = Math.min(bytes - skipped, chunk.length)
    skipped += from
    return from < chunk.length ? [chunk.subarray(from)] : []
  })
}

/** Files and folders are made for this user only. */
export const nodeFileCalls: FileCalls = {
  open: (path, flags) => open(path, flags === 'append' ? constants.O_WRONLY | constants.O_APPEND : flags, 0o600),
  async write(handle, chunks) {
    for (let left = chunks; left.length > 0; ) left = behind(left, (await handle.writev(left)).bytesWritten)
  },
  sizeOf: async handle => (await handle.stat()).size,
  truncate: (handle, size) => handle.truncate(size),
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
