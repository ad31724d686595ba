import type { Queries } from './database.ts'
import { type Sql, sql } from './sql.ts'

/** A row may have megabytes, or cause others to be deleted. */
const ROWS_TOGETHER = 200

/**
 * Deletes all rows that match. SQLite runs a statement on the thread that answers, so it deletes some at a time: other requests run
 * between two statements.
 * @param table with row ids
 * @returns how many there were
 */
export async function deleteRows(tx: Queries, table: Sql, condition: Sql): Promise<number> {
  if (tx.engine === 'postgres') return await tx.run(sql`DELETE FROM ${table} WHERE ${condition}`)
  for (let deleted = 0; ; ) {
    const count = await tx.run(sql`DELETE FROM ${table}
      WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${condition} LIMIT ${ROWS_TOGETHER})`)
    deleted += count
    if (count < ROWS_TOGETHER) return deleted
  }
}
