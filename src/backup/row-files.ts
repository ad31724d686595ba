import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { isDamage } from './damage.ts'
import type { Row } from './rows.ts'
import type { Table } from './tables.ts'

/** The manifest's entry about the rows of one table. */
export interface RowFile {
  readonly name: string
  readonly rows: number
  /** The digest of the file, in lower-case hexadecimal. */
  readonly sha256: string
}

const BATCH = 2 ** 20

const pathOf = (folder: string, name: string): string => join(folder, `${name}.ndjson`)

/** Writes a file of rows, one JSON object per line. */
export class RowFileWriter {
  readonly #name: string
  readonly #file: FileHandle
  readonly #hash = createHash('sha256')
  #count = 0
  #batch = ''
  /** Resolves when every batch so far is written. */
  #written = Promise.resolve()

  private constructor(name: string, file: FileHandle) {
    this.#name = name
    this.#file = file
  }

  static async create(folder: string, { name }: Pick<Table, 'name'>): Promise<RowFileWriter> {
    return new RowFileWriter(name, await open(pathOf(folder, name), 'wx', 0o600))
  }

  /** Rows get the order of the calls, which may overlap. */
  async add(row: Row): Promise<void> {
    this.#batch += `${JSON.stringify(row)}\n`
    this.#count++
    if (this.#batch.length > BATCH) await this.#flush()
  }

  /** Resolves when the rows are durable. */
  async finish(): Promise<RowFile> {
    await this.#flush()
    await this.#file.sync()
    return { name: this.#name, rows: this.#count, sha256: this.#hash.digest('hex') }
  }

  /** Required after `finish` and after a failure. */
  async close(): Promise<void> {
    await this.#file.close()
  }

  async #flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = ''
    this.#hash.update(batch)
    this.#written = this.#written.then(() => this.#file.writeFile(batch))
    await this.#written
  }
}

/** Writes the rows of a table. Resolves when they are durable. */
export async function writeRows(
  folder: string,
  table: Pick<Table, 'name'>,
  rows: AsyncIterable<Row>,
): Promise<RowFile> {
  const writer = await RowFileWriter.create(folder, table)
  try {
    for await (const row of rows) await writer.add(row)
    return await writer.finish()
  } finally {
    await writer.close()
  }
}

export const readRows = (folder: string, { name }: Pick<Table, 'name'>): AsyncGenerator<Row> =>
  rowsFrom(createReadStream(pathOf(folder, name)))

/** The rows in the bytes of such a file. */
export async function* rowsFrom(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  for await (const line of linesOf(bytes)) yield JSON.parse(line) as Row
}

/** Like {@link rowsFrom} for bytes that may be damaged: lines that make no sense are left out. */
export async function* intactRowsFrom(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  for await (const line of linesOf(bytes)) {
    const row = parsed(line)
    if (row) yield row
  }
}

function parsed(line: string): Row | undefined {
  try {
    return JSON.parse(line) as Row
  } catch {
    return undefined
  }
}

/** True when the file has exactly the bytes that were written. */
export async function isIntact(folder: string, { name, sha256 }: RowFile): Promise<boolean> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(pathOf(folder, name))) hash.update(chunk as Buffer)
  } catch (error) {
    if (isDamage(error) || isMissing(error)) return false
    throw error
  }
  return hash.digest('hex') === sha256
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Splits lines at line feeds only. `readline` also splits at other separators, which JSON text may contain. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let begun: Uint8Array[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end)]).toString()
      begun = []
      from = end + 1
    }
    if (from < chunk.length) begun.push(chunk.subarray(from))
  }
}
