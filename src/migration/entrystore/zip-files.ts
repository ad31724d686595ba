import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { bytesOf } from '../../content/archive/archive-reader.ts'
import type { ZipPart } from '../../files/zip-reader.ts'
import type { FileSource, ImportedFile } from './disk-files.ts'

/** The files of a context export: members `resources/<entry>`. */
export class ZipFiles implements FileSource {
  readonly #parts: ReadonlyMap<string, ZipPart>

  readonly #taken = new Set<string>()

  constructor(parts: ReadonlyMap<string, ZipPart>) {
    this.#parts = parts
  }

  async take(_context: string, id: string): Promise<ImportedFile | undefined> {
    const part = this.#parts.get(`resources/${id}`)
    if (!part) return undefined
    this.#taken.add(id)
    const hash = createHash('sha256')
    let size = 0
    for await (const chunk of bytesOf(part.open)) {
      hash.update(chunk)
      size += chunk.length
    }
    return { blob: '', size, sha256: hash.digest('hex') }
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
