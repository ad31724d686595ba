import { createHash } from 'node:crypto'
import type { Queries } from '../stores/database.ts'
import { listed, name, type SqlValue, sql } from '../stores/sql.ts'
import type { Table } from './tables.ts'

/** A row by column, in the same form for every engine. */
export type Row = Readonly<Record<string, string | number | null>>

/** Small, because one entry can take some megabytes. */
const PAGE = 100

/** All rows of a table in the order of its key, read in pages because they may not fit in memory. */
export async function* rowsOf(queries: Queries, { name: table, key }: Table): AsyncGenerator<Row> {
  const columns = listed(key.map(name))
  let last: Row | undefined
  for (;;) {
    const values = last && listed(key.map(column => valueOf(last, column)))
    const after = values ? sql`WHERE (${columns}) > (${values})` : sql``
    const page: Row[] = await queries.all(sql`SELECT * FROM ${name(table)} ${after} ORDER BY ${columns} LIMIT ${PAGE}`)
    yield* page
    last = page.at(-1)
    if (page.length < PAGE) return
  }
}

export async function insertRow(tx: Queries, { name: table }: Table, row: Row): Promise<void> {
  const columns = Object.keys(row)
  const values = columns.map(column => valueOf(row, column))
  await tx.run(sql`INSERT INTO ${name(table)} (${listed(columns.map(name))}) VALUES (${listed(values)})`)
}

const valueOf = (row: Row | undefined, column: string): SqlValue => row?.[column] ?? null

/** A digest of all rows in any order, because databases sort texts differently. */
class RowsDigest {
  readonly #sum = new Uint8Array(32)
  rows = 0

  add(row: Row): void {
    const text = JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))
    const digest = createHash('sha256').update(text).digest()
    let carry = 0
    for (let at = 31; at >= 0; at--) {
      carry += (this.#sum[at] ?? 0) + (digest[at] ?? 0)
      this.#sum[at] = carry & 0xff
      carry >>= 8
    }
    this.rows++
  }

  /** The number of rows, followed by the digest in hexadecimal. */
  toString(): string {
    return `${this.rows} ${Buffer.from(this.#sum).toString('hex')}`
  }
}

export async function digestOfRows(rows: AsyncIterable<Row>): Promise<string> {
  const digest = new RowsDigest()
  for await (const row of rows) digest.add(row)
  return digest.toString()
}
