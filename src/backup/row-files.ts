import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Row } from './rows.ts'
import type { Table } from './tables.ts'

/** What the manifest says about the rows of one table. */
export interface RowFile {
  readonly name: string
  readonly rows: number
  /** Of the bytes of the file, in lower-case hexadecimal. */
  readonly sha256: string
}

const BATCH = 2 ** 20

const pathOf = (folder: string, name: string): string => join(folder, `${name}.ndjson`)

/** Writes the rows of a table, one JSON object a line; they are on the disk when it resolves. */
export async function writeRows(folder: string, { name }: Table, rows: AsyncIterable<Row>): Promise<RowFile> {
  const file = await open(pathOf(folder, name), 'wx', 0o600)
  try {
    const hash = createHash('sha256')
    let count = 0
    let batch = ''
    const flush = async (): Promise<void> => {
      hash.update(batch)
      await file.writeFile(batch)
      batch = ''
    }
    for await (const row of rows) {
      batch += `${JSON.stringify(row)}\n`
      count++
      if (batch.length > BATCH) await flush()
    }
    await flush()
    await file.sync()
    return { name, rows: count, sha256: hash.digest('hex') }
  } finally {
    await file.close()
  }
}

export async function* readRows(folder: string, { name }: Pick<Table, 'name'>): AsyncGenerator<Row> {
  for await (const line of linesOf(createReadStream(pathOf(folder, name)))) yield JSON.parse(line) as Row
}

/** Whether the file is, byte by byte, the one that was written. */
export async function isIntact(folder: string, { name, sha256 }: RowFile): Promise<boolean> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(pathOf(folder, name))) hash.update(chunk as Buffer)
  return hash.digest('hex') === sha256
}

/** Ends a line at a line feed and nowhere else, unlike `readline`: JSON text may hold other separators. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun: Buffer[] = []
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
