import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { bytesOf } from '../../content/archive/archive-reader.ts'
import type { ZipPart } from '../../files/zip-reader.ts'
import type { FileSource, ImportedFile } from './disk-files.ts'

/** The files of a context export: members `resources/<entry>`. */
export class ZipFiles implements FileSource {
  readonly #parts: ReadonlyMap<string, ZipPart>

  constructor(parts: ReadonlyMap<string, ZipPart>) {
    this.#parts = parts
  }

  async take(_context: string, id: string): Promise<ImportedFile | undefined> {
    const part = this.#parts.get(`resources/${id}`)
    if (!part) return undefined
    const hash = createHash('sha256')
    let size = 0
    for await (const chunk of bytesOf(part.open)) {
      hash.update(chunk)
      size += chunk.length
    }
    return { blob: '', size, sha256: hash.digest('hex') }
  }

  /** The bytes of a file that was taken. */
  async open(id: string): Promise<Readable> {
    const part = this.#parts.get(`resources/${id}`)
    return part ? await part.open() : Readable.from([])
  }
}
