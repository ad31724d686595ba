import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { callbackify } from 'node:util'
import { realSystem } from '../base/system.ts'
import type { Bytes } from '../base/units.ts'
import {
  abortable,
  BlobMissing,
  type BlobStore,
  type ByteRange,
  isBlobKey,
  KEPT_ASIDE,
  type ListedBlob,
  requireBlobKey,
  requireRange,
  type StoredBlob,
} from './blob-store.ts'
import { translateDiskError, withDiskErrors } from './disk.ts'

/** A larger read keeps more in memory for a client that is slow. */
const READ: Bytes = 2 ** 18
/** Maximum number of bytes of a file received while earlier ones are written. */
const BUFFER: Bytes = 2 ** 20

/**
 * Stores blobs as files in one folder with 256 sub-folders, named by the first two digits of the keys. A blob is written
 * under `incoming/` and renamed when it is complete and on the disk, so every file in a sub-folder is complete.
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
      await this.#syncFolder(dirname(final))
      return blob
    } catch (error) {
      // `list` finds what cannot be removed now; the first error is more useful than this one.
      await this.#remove(incoming).catch(() => {})
      if (renamed) await this.#remove(final).catch(() => {})
      throw error
    }
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const path = this.#final(key)
    // Checked first, because a stream that rejects its range leaves the file open.
    if (range) requireRange(range)
    const handle = await this.#files.open(path, 'r').catch(error => {
      throw isAbsent(error) ? new BlobMissing(key, { cause: error }) : translateDiskError(error)
    })
    // The stream reads from the open file, not from its name, so a later delete does not affect it.
    return handle.createReadStream({ start: range?.first ?? 0, end: range?.last, highWaterMark: READ })
  }

  /**
   * Resolves when the name can no longer come back after a power failure: the record of the deletion is dropped then. An earlier call
   * may have removed the name and have ended before the folder was synchronised.
   */
  async delete(key: string): Promise<void> {
    const final = this.#final(key)
    await withDiskErrors(this.#remove(final))
    await withDiskErrors(this.#syncIfPresent(dirname(final)))
    await withDiskErrors(this.#remove(this.#incoming(key)))
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
    const hash = createHash('sha256')
    let size = 0
    const hashed = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of bytes) {
        hash.update(chunk)
        size += chunk.byteLength
        yield chunk
      }
    }
    const write = callbackify((chunk: Uint8Array) => this.#files.write(handle, chunk))
    const file = new Writable({
      highWaterMark: BUFFER,
      write: (chunk: Uint8Array, _, done) => write(chunk, done),
      writev: (waiting, done) => write(Buffer.concat(waiting.map(({ chunk }) => chunk as Uint8Array)), done),
    })
    try {
      await pipeline(hashed(), file)
      await this.#files.sync(handle)
      return { size, sha256: hash.digest('hex') }
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

  /** No blob has been in a sub-folder that does not exist. */
  async #syncIfPresent(path: string): Promise<void> {
    await this.#syncFolder(path).catch((error: unknown) => {
      if (!isAbsent(error)) throw error
    })
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

  /** An absent file is no error. */
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

/** What the blob store asks of the file system, as values, so that a test can make any single call fail. */
export interface FileCalls {
  open(path: string, flags: 'r' | 'wx'): Promise<FileHandle>
  /** Writes all of `chunk` at the handle's position. */
  write(handle: FileHandle, chunk: Uint8Array): Promise<void>
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
  write: (handle, chunk) => handle.writeFile(chunk),
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
