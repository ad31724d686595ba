import { createReadStream, closeSync, type Dirent, fstatSync, openSync, readSync } from 'node:fs'
import { opendir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { RandomAccessFile } from './formats/native-store.ts'

/** Reads a folder of the old installation. This is the only file of this module that touches the file system. */
export class OldFolder {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  at(name: string): OldFolder {
    return new OldFolder(join(this.path, name))
  }

  /** The sorted names of its files and folders; empty when it is not a folder. */
  async names(): Promise<string[]> {
    return ((await unlessAbsent(readdir(this.path))) ?? []).sort()
  }

  /** The size of a file in bytes; `undefined` when there is no such regular file. */
  async sizeOf(name: string): Promise<number | undefined> {
    const found = await unlessAbsent(stat(join(this.path, name)))
    return found?.isFile() ? found.size : undefined
  }

  /** The text of a small file; `undefined` when there is none. */
  async text(name: string): Promise<string | undefined> {
    return await unlessAbsent(readFile(join(this.path, name), 'utf8'))
  }

  stream(name: string): Readable {
    return createReadStream(join(this.path, name), { highWaterMark: 2 ** 18 })
  }

  /** Stays open until the returned `close` is called. */
  random(name: string): RandomAccessFile & { readonly close: () => void } {
    const handle = openSync(join(this.path, name), 'r')
    return new CachedFile(handle, fstatSync(handle).size)
  }

  /** The names of its folders. Links are not followed. */
  async *folders(): AsyncGenerator<string> {
    for await (const entry of listing(this.path)) if (entry.isDirectory()) yield entry.name
  }

  /** The names of what it holds besides folders. */
  async *files(): AsyncGenerator<string> {
    for await (const entry of listing(this.path)) if (!entry.isDirectory()) yield entry.name
  }
}

/** True for the error of a folder that this user may not read. */
export const isRefused = (error: unknown): boolean => ['EACCES', 'EPERM'].includes(codeOf(error) ?? '')

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined

async function* listing(path: string): AsyncGenerator<Dirent> {
  yield* await opendir(path)
}

async function unlessAbsent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

const BLOCK = 65_536
const BLOCKS = 256

/** Reads in blocks and caches some of them, because related records are close together. */
class CachedFile implements RandomAccessFile {
  readonly size: number
  readonly #handle: number
  readonly #blocks = new Map<number, Buffer>()

  constructor(handle: number, size: number) {
    this.#handle = handle
    this.size = size
  }

  read(position: number, length: number): Buffer {
    const end = Math.min(this.size, position + length)
    if (position < 0 || end <= position) return Buffer.alloc(0)
    const first = Math.floor(position / BLOCK)
    const last = Math.floor((end - 1) / BLOCK)
    if (last - first > BLOCKS / 2) return this.#fromDisk(position, end - position)
    const from = position - first * BLOCK
    if (first === last) return this.#block(first).subarray(from, from + end - position)
    const blocks = Array.from({ length: last - first + 1 }, (_none, index) => this.#block(first + index))
    return Buffer.concat(blocks).subarray(from, from + end - position)
  }

  close(): void {
    closeSync(this.#handle)
  }

  #block(number: number): Buffer {
    const known = this.#blocks.get(number)
    if (known) return known
    const block = this.#fromDisk(number * BLOCK, Math.min(BLOCK, this.size - number * BLOCK))
    if (this.#blocks.size >= BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value ?? number)
    this.#blocks.set(number, block)
    return block
  }

  #fromDisk(position: number, length: number): Buffer {
    const buffer = Buffer.alloc(length)
    let read = 0
    while (read < length) {
      const count = readSync(this.#handle, buffer, read, length - read, position + read)
      if (count === 0) break
      read += count
    }
    return buffer.subarray(0, read)
  }
}
