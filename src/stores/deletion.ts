import type { Queries } from './database.ts'
import { type Sql, sql } from './sql.ts'

const ROWS_TOGETHER = 1000

/**
 * Deletes all rows that match. SQLite runs a statement on the thread that answers, and each row may cause others to be written, so it deletes
 * a thousand at a time: other requests have their turn between two statements.
 * @param table with row ids
 * @returns how many there were
 */
export async function deleteRows(tx: Queries, table: Sql, condition: Sql): Promise<number> {
  if (tx.engine === 'postgres') return await tx.run(sql`DELETE FROM ${table} WHERE ${condition}`)
  let deleted = 0
  for (;;) {
    const count = await tx.run(sql`DELETE FROM ${table}
      WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${condition} LIMIT ${ROWS_TOGETHER})`)
    deleted += count
    if (count < ROWS_TOGETHER) return deleted
  }
}
