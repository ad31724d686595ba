import { createHash } from 'node:crypto'
import type { Queries } from '../stores/database.ts'
import { listed, name, sql, type SqlValue } from '../stores/sql.ts'
import type { Table } from './tables.ts'

/** A row by column, in the same form for every engine. */
export type Row = Readonly<Record<string, string | number | null>>

/** Small, because one entry can take some megabytes. */
const PAGE = 100
/** Characters that are inserted with one statement, unless a single row has more. */
const PAGE_SIZE = 2 ** 20

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

export const countRows = async (queries: Queries, { name: table }: Table): Promise<number | undefined> =>
  (await queries.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM ${name(table)}`))?.count

/** Inserts rows of a table, which all have the same columns. */
export async function insertRows(tx: Queries, table: Table, rows: AsyncIterable<Row>): Promise<void> {
  let page: Row[] = []
  let size = 0
  for await (const row of rows) {
    page.push(row)
    size += sizeOf(row)
    if (page.length < PAGE && size < PAGE_SIZE) continue
    await insertPage(tx, table, page)
    page = []
    size = 0
  }
  await insertPage(tx, table, page)
}

async function insertPage(tx: Queries, { name: table }: Table, page: readonly Row[]): Promise<void> {
  const [first] = page
  if (!first) return
  const columns = Object.keys(first)
  const rows = page.map(row => sql`(${listed(columns.map(column => valueOf(row, column)))})`)
  await tx.run(sql`INSERT INTO ${name(table)} (${listed(columns.map(name))}) VALUES ${listed(rows)}`)
}

/** The characters of all texts in the row. */
const sizeOf = (row: Row): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)

const valueOf = (row: Row | undefined, column: string): SqlValue => row?.[column] ?? null

/** The number of rows, followed by a digest of them in any order, because databases sort texts differently. */
export async function digestOfRows(rows: AsyncIterable<Row>): Promise<string> {
  let [count, sum] = [0, 0n]
  for await (const row of rows) {
    const text = JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))
    sum = BigInt.asUintN(256, sum + BigInt(`0x${createHash('sha256').update(text).digest('hex')}`))
    count++
  }
  return `${count} ${sum.toString(16)}`
}

/** For each table, the default of each column; `null` where the schema has none. */
export type ColumnDefaults = ReadonlyMap<string, Row>

/** @param queries a SQLite database at the newest step of the schema */
export async function readColumnDefaults(queries: Queries, tables: readonly string[]): Promise<ColumnDefaults> {
  const defaults = new Map<string, Row>()
  for (const table of tables) {
    const columns = await queries.all<{ name: string; value: string | null }>(
      sql`SELECT name, dflt_value AS value FROM pragma_table_info(${table})`,
    )
    defaults.set(table, Object.fromEntries(columns.map(({ name, value }) => [name, defaultOf(value)])))
  }
  return defaults
}

/** The schema has only texts and whole numbers as defaults. */
function defaultOf(text: string | null): string | number | null {
  if (text === null || text.toUpperCase() === 'NULL') return null
  if (/^-?\d+$/.test(text)) return Number(text)
  return text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text
}
