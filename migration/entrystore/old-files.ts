import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { isId } from '../../src/model/addresses.ts'
import { BlobMissing, measured } from '../../src/stores/blob-store.ts'
import type { Scratch, ScratchMap } from '../../src/stores/scratch.ts'
import { isRefused, type OldFolder } from './old-folder.ts'
import type { Report } from './report.ts'
import { bytesOf } from '../../src/features/archives/archive-reader.ts'
import type { ZipEntry } from '../../src/files/zip.ts'

export interface ImportedFile {
  /** The key of its bytes in the new store. */
  readonly blob: string
  readonly size: number
  readonly sha256: string
}

/** A source of files. */
export interface FileSource {
  /** Returns the file of an entry, read once; `undefined` when there is none. */
  take(context: string, id: string): Promise<ImportedFile | undefined>
}

const DIGEST = '.sha256'

/** The files of the old store: `context/entry` in its data folder, some with a digest file beside them. */
export class DiskFiles implements FileSource {
  /** `context/name` → the key of its bytes; empty until an entry has used the file. */
  readonly #found: ScratchMap
  /** The key of the bytes → `context/name`. */
  readonly #taken: ScratchMap
  readonly #folder: OldFolder | undefined
  readonly #report: Report

  constructor(scratch: Scratch, folder: OldFolder | undefined, report: Report) {
    this.#found = scratch.map()
    this.#taken = scratch.map()
    this.#folder = folder
    this.#report = report
  }

  /**
   * Lists the files. A folder that cannot be read is an error only if it belongs to one of these contexts.
   * @returns their number
   */
  async list(contexts: ReadonlySet<string>): Promise<number> {
    let count = 0
    if (!this.#folder) return count
    for await (const context of this.#folder.folders()) {
      // A backup folder may contain other things, so only folders with the name of a context are opened.
      if (!isId(context)) continue
      try {
        for await (const name of this.#folder.at(context).files()) if (this.#listOne(context, name)) count++
      } catch (error) {
        if (!isRefused(error) || contexts.has(context)) throw error
        this.#report.note('file-orphan', `${context}: it cannot be read`)
      }
    }
    return count
  }

  /** Only files with the name of an entry are listed. @returns false for a digest or another name */
  #listOne(context: string, name: string): boolean {
    const isDigest = name.endsWith(DIGEST) && isId(name.slice(0, -DIGEST.length))
    if (!isId(name) && !isDigest) {
      this.#report.note('file-orphan', `${context}/${name}`)
      return false
    }
    this.#found.set(`${context}/${name}`, '')
    return !isDigest
  }

  /** Reads the file of an entry and hashes it; `undefined` when there is none. */
  async take(context: string, id: string): Promise<ImportedFile | undefined> {
    const place = `${context}/${id}`
    const folder = this.#folder?.at(context)
    // `stat` treats a link to another place as a file, but the link is not listed as one.
    const isFile = this.#found.get(place) !== undefined && (await folder?.sizeOf(id)) !== undefined
    if (!isFile || folder === undefined) return undefined
    const { size, sha256 } = await measured(folder.stream(id))
    const digest = (await folder.text(id + DIGEST))?.trim().toLowerCase()
    if (digest !== undefined && digest !== sha256) this.#report.note('digest-differs', place)
    // The same file always gets the same key, so that a continued import finds what it has copied.
    const blob = createHash('sha256').update(`${place}/${sha256}`).digest('hex').slice(0, 40)
    this.#found.set(place, blob)
    if (digest !== undefined) this.#found.set(place + DIGEST, blob)
    this.#taken.set(blob, place)
    return { blob, size, sha256 }
  }

  /** Reports the files that belong to no entry. */
  reportRest(): void {
    for (const [place, blob] of this.#found.under('')) if (blob === '') this.#report.note('file-orphan', place)
  }

  /** The bytes of a file that an entry uses. @throws {BlobMissing} */
  async read(blob: string): Promise<Readable> {
    const [context = '', name = ''] = this.#taken.get(blob)?.split('/') ?? []
    const folder = name === '' ? undefined : this.#folder?.at(context)
    if (!folder || (await folder.sizeOf(name)) === undefined) throw new BlobMissing(blob)
    return folder.stream(name)
  }
}

/** The files of a context export: members `resources/<entry>`. */
export class ZipFiles implements FileSource {
  readonly #parts: ReadonlyMap<string, ZipEntry>

  readonly #taken = new Set<string>()

  constructor(parts: ReadonlyMap<string, ZipEntry>) {
    this.#parts = parts
  }

  async take(_context: string, id: string): Promise<ImportedFile | undefined> {
    const part = this.#parts.get(`resources/${id}`)
    if (!part) return undefined
    this.#taken.add(id)
    return { blob: '', ...(await measured(bytesOf(part.open))) }
  }

  /** Names of the files that belong to no entry that can have one. */
  *rest(): Generator<string> {
    for (const name of this.#parts.keys()) {
      const id = /^resources\/(.+?)(\.sha256)?$/.exec(name)?.[1]
      if (id !== undefined && !this.#taken.has(id)) yield name
    }
  }

  /** The bytes of a file that an entry uses. */
  async open(id: string): Promise<Readable> {
    const part = this.#parts.get(`resources/${id}`)
    return part ? await part.open() : Readable.from([])
  }
}
