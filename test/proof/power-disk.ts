import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Call } from './power-trace.ts'

/** What the file system may write at once, and the disk. */
const BLOCK = 4096
export const SECTOR = 512

interface Version<T> {
  /** The number of the call that wrote it. */
  readonly at: number
  readonly value: T
}

/** Something that a disk keeps: the first value is on the disk, and any later one may be. */
export class Cell<T> {
  #versions: readonly [Version<T>, ...Version<T>[]]

  constructor(value: T) {
    this.#versions = [{ at: -1, value }]
  }

  get versions(): readonly [Version<T>, ...Version<T>[]] {
    return this.#versions
  }

  get last(): T {
    return (this.#versions.at(-1) ?? this.#versions[0]).value
  }

  set(value: T, at: number): void {
    this.#versions = [...this.#versions, { at, value }]
  }

  /** What was written before this call is on the disk from now on. Returns the number of the last call that wrote it. */
  synchronise(call: number): number {
    const [first, ...rest] = this.#versions.slice(this.#versions.findLastIndex(({ at }) => at < call))
    if (first) this.#versions = [first, ...rest]
    return this.#versions[0].at
  }
}

const isAnyPending = (cells: readonly Cell<unknown>[]): boolean => cells.some(({ versions }) => versions.length > 1)

/** A name leads to a file or a folder, or to nothing. */
export type Name = Cell<DiskFile | Folder | undefined>

export class DiskFile {
  readonly size = new Cell(0)
  /** What was never written is `undefined`. */
  readonly blocks = new Map<number, Cell<Buffer | undefined>>()

  #settled: Buffer | undefined
  #space = Buffer.alloc(0)

  get cells(): readonly Cell<unknown>[] {
    return [this.size, ...this.blocks.values()]
  }

  /** The bytes that a choice leaves, until the next choice. */
  content(choice: Choice): Buffer {
    if (this.#settled) return this.#settled
    const size = choice.size(this.size, this)
    if (this.#space.length < size) this.#space = Buffer.alloc(size * 2)
    const content = this.#space.subarray(0, size).fill(0)
    for (const [number, cell] of this.blocks) {
      if (number * BLOCK < content.length) choice.block(cell, this)?.copy(content, number * BLOCK)
    }
    // Most files are: they are put together once.
    if (!isAnyPending(this.cells)) this.#settled = Buffer.from(content)
    return content
  }

  write(position: number | 'end', bytes: Buffer, at: number): void {
    this.#settled = undefined
    const offset = position === 'end' ? this.size.last : position
    for (let from = offset; from < offset + bytes.length; from = (Math.floor(from / BLOCK) + 1) * BLOCK) {
      const start = from - (from % BLOCK)
      const part = bytes.subarray(from - offset, Math.min(bytes.length, start + BLOCK - offset))
      this.#patch(start / BLOCK, from - start, part, at)
    }
    this.size.set(Math.max(this.size.last, offset + bytes.length), at)
  }

  truncate(size: number, at: number): void {
    this.#settled = undefined
    for (const number of this.blocks.keys()) {
      const kept = size - number * BLOCK
      if (kept < BLOCK) this.#patch(number, Math.max(kept, 0), Buffer.alloc(BLOCK - Math.max(kept, 0)), at)
    }
    this.size.set(size, at)
  }

  #patch(number: number, offset: number, bytes: Buffer, at: number): void {
    const cell = this.blocks.get(number) ?? new Cell<Buffer | undefined>(undefined)
    const block = Buffer.from(cell.last ?? Buffer.alloc(BLOCK))
    bytes.copy(block, offset)
    cell.set(block, at)
    this.blocks.set(number, cell)
  }
}

export class Folder {
  readonly names = new Map<string, Name>()

  get cells(): readonly Name[] {
    return [...this.names.values()]
  }
}

/** What is on the disk after a power cut, of what may be. */
export interface Choice {
  name<T>(cell: Cell<T>): T
  size(cell: Cell<number>, file: DiskFile): number
  block(cell: Cell<Buffer | undefined>, file: DiskFile): Buffer | undefined
}

/** A disk, with everything that it may have lost if the power is cut now. */
export class Disk {
  readonly #root = new Folder()
  #calls = 0
  #namesUntil = -1

  /** How many calls it has seen. */
  get calls(): number {
    return this.#calls
  }

  /** A journal keeps names in order: if the one of this call is on the disk, so are all before it. */
  get namesUntil(): number {
    return this.#namesUntil
  }

  apply(call: Call): void {
    const at = this.#calls++
    switch (call.kind) {
      case 'open': {
        const file = this.#name(call.path).last ?? new DiskFile()
        if (this.#name(call.path).last === undefined) this.#name(call.path).set(file, at)
        else if (call.truncates) this.#file(call.path).truncate(0, at)
        return
      }
      case 'mkdir':
        return this.#name(call.path).set(new Folder(), at)
      case 'remove':
        return this.#name(call.path).set(undefined, at)
      case 'rename':
      case 'link':
        this.#name(call.to).set(this.#name(call.path).last, at)
        if (call.kind === 'rename') this.#name(call.path).set(undefined, at)
        return
      case 'write':
        return this.#file(call.path).write(call.offset, call.bytes, at)
      case 'truncate':
        return this.#file(call.path).truncate(call.size, at)
      case 'sync':
        return this.#synchronise(call.path, call.covers)
      case 'answer':
    }
  }

  /** The names, and the files, of which something may be lost. */
  get pending(): { readonly names: readonly Name[]; readonly files: readonly DiskFile[] } {
    const nodes = [...walk(this.#root)]
    return {
      names: nodes.flatMap(node => (node instanceof Folder ? node.cells.filter(cell => isAnyPending([cell])) : [])),
      files: nodes.filter(node => node instanceof DiskFile).filter(({ cells }) => isAnyPending(cells)),
    }
  }

  /** The files and folders that a choice leaves, by path. */
  image(choice: Choice): Image {
    const image = new Image()
    const known = new Map<DiskFile, Buffer>()
    const visit = (folder: Folder, path: string): void => {
      for (const [name, cell] of folder.names) {
        const node = choice.name(cell)
        if (node === undefined) continue
        const content = node instanceof Folder ? undefined : (known.get(node) ?? node.content(choice))
        if (node instanceof DiskFile && content) known.set(node, content)
        image.add(join(path, name), content)
        if (node instanceof Folder) visit(node, join(path, name))
      }
    }
    visit(this.#root, '')
    return image
  }

  #synchronise(path: string, covers: number): void {
    const node = this.#find(path)
    const last = Math.max(...(node?.cells ?? []).map(cell => cell.synchronise(covers)))
    if (node instanceof Folder) this.#namesUntil = Math.max(this.#namesUntil, last)
  }

  #name(path: string): Name {
    const folder = this.#find(dirname(path))
    if (!(folder instanceof Folder)) throw new Error(`there is no folder for ${path}`)
    const name = path.slice(path.lastIndexOf('/') + 1)
    const cell = folder.names.get(name) ?? new Cell<DiskFile | Folder | undefined>(undefined)
    folder.names.set(name, cell)
    return cell
  }

  #file(path: string): DiskFile {
    const file = this.#find(path)
    if (!(file instanceof DiskFile)) throw new Error(`there is no file ${path}`)
    return file
  }

  #find(path: string): DiskFile | Folder | undefined {
    let node: DiskFile | Folder | undefined = this.#root
    for (const name of path.split('/').filter(part => part !== '' && part !== '.'))
      node = node instanceof Folder ? node.names.get(name)?.last : undefined
    return node
  }
}

/** Everything that some name may lead to. */
function* walk(folder: Folder): Generator<DiskFile | Folder> {
  yield folder
  for (const node of new Set(folder.cells.flatMap(({ versions }) => versions.map(({ value }) => value)))) {
    if (node instanceof Folder) yield* walk(node)
    else if (node) yield node
  }
}

const checksums = new WeakMap<Buffer, string>()

function checksumOf(content: Buffer): string {
  const checksum = checksums.get(content) ?? `${content.length} ${crc32(content)}`
  checksums.set(content, checksum)
  return checksum
}

/** What a folder holds. */
export class Image {
  readonly #entries = new Map<string, Buffer | undefined>()

  /** @param content of a file; `undefined` for a folder */
  add(path: string, content: Buffer | undefined): void {
    this.#entries.set(path, content)
  }

  /** Paths and checksums, without the index of a write-ahead log, which whoever opens the database first makes anew. */
  summary(): string[] {
    const kept = [...this.#entries].filter(([path]) => !path.endsWith('-shm'))
    return kept.map(([path, content]) => `${path} ${content && checksumOf(content)}`).sort()
  }

  write(folder: string): void {
    for (const [path, content] of this.#entries) {
      if (content) writeFileSync(join(folder, path), content, { mode: 0o600 })
      else mkdirSync(join(folder, path), { mode: 0o700 })
    }
  }
}
