import type { Queries } from './database.ts'
import { type Sql, sql } from './sql.ts'

/** So many short rows take some milliseconds. */
const MOST_TOGETHER = 4000

/**
 * All rows that match, in no particular order. SQLite runs a statement on the thread that answers, so it reads some at a time: other
 * requests have their turn between two statements. Rows that are written meanwhile may be among them.
 * @param table with row ids
 */
export async function* rowsInPortions<Row>(
  tx: Queries,
  columns: Sql,
  table: Sql,
  condition: Sql,
): AsyncGenerator<readonly Row[]> {
  if (tx.engine === 'postgres') {
    yield await tx.all<Row>(sql`SELECT ${columns} FROM ${table} WHERE ${condition}`)
    return
  }
  for (let last = 0; ; ) {
    const rows = await tx.all<Row & { row_id: number }>(sql`SELECT rowid AS row_id, ${columns} FROM ${table}
      WHERE ${condition} AND rowid > ${last} ORDER BY rowid LIMIT ${MOST_TOGETHER}`)
    yield rows
    last = rows.at(-1)?.row_id ?? last
    if (rows.length < MOST_TOGETHER) return
  }
}
