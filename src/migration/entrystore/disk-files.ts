import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { isId } from '../../model/addresses.ts'
import { BlobMissing } from '../../stores/blob-store.ts'
import type { Scratch } from '../../stores/scratch.ts'
import { sql } from '../../stores/sql.ts'
import type { OldFolder } from './old-folder.ts'
import type { Report } from './report.ts'

export interface ImportedFile {
  /** The key of its bytes here. */
  readonly blob: string
  readonly size: number
  readonly sha256: string
}

const DIGEST = '.sha256'

/** The files of the old store: `context/entry` below its data folder, some with a digest beside them. */
export class DiskFiles {
  readonly #scratch: Scratch
  readonly #folder: OldFolder | undefined
  readonly #report: Report

  constructor(scratch: Scratch, folder: OldFolder | undefined, report: Report) {
    this.#scratch = scratch
    this.#folder = folder
    this.#report = report
    scratch.run(sql`CREATE TABLE disk (
      context TEXT NOT NULL, name TEXT NOT NULL, blob TEXT, PRIMARY KEY (context, name)) WITHOUT ROWID`)
    scratch.run(sql`CREATE TABLE blobs (blob TEXT PRIMARY KEY, context TEXT NOT NULL, name TEXT NOT NULL) WITHOUT ROWID`)
  }

  /** Notes what is there. @returns how many files */
  async list(): Promise<number> {
    let count = 0
    if (!this.#folder) return count
    for await (const { folder, name } of this.#folder.filesBelow()) {
      const isDigest = name.endsWith(DIGEST) && isId(name.slice(0, -DIGEST.length))
      // In a backup folder other things may lie beside: only what could be a file of an entry is looked at.
      if (!isId(folder)) continue
      if (!isId(name) && !isDigest) {
        this.#report.note('file-orphan', `${folder}/${name}`)
        continue
      }
      this.#scratch.run(sql`INSERT INTO disk (context, name) VALUES (${folder}, ${name})`)
      if (!isDigest) count++
    }
    return count
  }

  /** Reads the file of an entry and hashes it; `undefined` when there is none. */
  async take(context: string, id: string): Promise<ImportedFile | undefined> {
    const found = this.#scratch.get(sql`SELECT 1 AS found FROM disk WHERE context = ${context} AND name = ${id}`)
    const folder = this.#folder?.at(context)
    const listed = await folder?.sizeOf(id)
    // A link that leads somewhere else is a file to `stat`, but was not listed as one.
    if (found === undefined || folder === undefined || listed === undefined) return undefined
    const { size, sha256 } = await digestOf(folder.stream(id))
    const digest = (await folder.text(id + DIGEST))?.trim().toLowerCase()
    if (digest !== undefined && digest !== sha256) this.#report.note('digest-differs', `${context}/${id}`)
    // The same file gives the same key, so that an import that goes on finds what it has copied.
    const blob = createHash('sha256').update(`${context}/${id}/${sha256}`).digest('hex').slice(0, 40)
    this.#scratch.run(sql`UPDATE disk SET blob = ${blob} WHERE context = ${context} AND name IN (${id}, ${id + DIGEST})`)
    this.#scratch.run(sql`INSERT INTO blobs (blob, context, name) VALUES (${blob}, ${context}, ${id})`)
    return { blob, size, sha256 }
  }

  /** Reports the files that no entry took. */
  reportRest(): void {
    for (let last = { context: '', name: '' }; ; ) {
      const page = this.#scratch.all<{ context: string; name: string }>(sql`SELECT context, name FROM disk
        WHERE blob IS NULL AND (context, name) > (${last.context}, ${last.name}) ORDER BY context, name LIMIT 500`)
      for (const { context, name } of page) this.#report.note('file-orphan', `${context}/${name}`)
      const next = page.at(-1)
      if (!next) return
      last = next
    }
  }

  /** The bytes of a file that was taken. @throws {BlobMissing} */
  async read(blob: string): Promise<Readable> {
    const row = this.#scratch.get<{ context: string; name: string }>(
      sql`SELECT context, name FROM blobs WHERE blob = ${blob}`,
    )
    const folder = row && this.#folder?.at(row.context)
    if (!folder || (await folder.sizeOf(row.name)) === undefined) throw new BlobMissing(blob)
    return folder.stream(row.name)
  }
}

async function digestOf(bytes: AsyncIterable<unknown>): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of bytes) {
    hash.update(chunk as Buffer)
    size += (chunk as Buffer).length
  }
  return { size, sha256: hash.digest('hex') }
}
