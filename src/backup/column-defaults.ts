import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import type { Row } from './rows.ts'

/** For each table, the default of each column; `null` where the schema has none. */
export type ColumnDefaults = ReadonlyMap<string, Row>

/** @param queries a SQLite database at the newest step of the schema */
export async function readColumnDefaults(queries: Queries, tables: readonly string[]): Promise<ColumnDefaults> {
  const defaults = new Map<string, Row>()
  for (const table of tables) {
    const columns = await queries.all<{ name: string; value: string | null }>(
      sql`SELECT name, dflt_value AS value FROM pragma_table_info(${table})`,
    )
    defaults.set(table, Object.fromEntries(columns.map(({ name, value }) => [name, valueOf(value)])))
  }
  return defaults
}

/** The schema has only texts and whole numbers as defaults. */
function valueOf(text: string | null): string | number | null {
  if (text === null || text.toUpperCase() === 'NULL') return null
  if (/^-?\d+$/.test(text)) return Number(text)
  return text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text
}
