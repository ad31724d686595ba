import { realSystem } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Queries } from './database.ts'
import { type Sql, sql } from './sql.ts'

const FIRST = 4
const MOST_TOGETHER = 1000
/** A row may have megabytes, or cause others to be deleted: as long as a statement takes less, the next one deletes twice as many. */
const SHORT: Milliseconds = 5

/**
 * Deletes all rows that match. SQLite runs a statement on the thread that answers, so it deletes some at a time: other requests have their
 * turn between two statements.
 * @param table with row ids
 * @returns how many there were
 */
export async function deleteRows(tx: Queries, table: Sql, condition: Sql): Promise<number> {
  if (tx.engine === 'postgres') return await tx.run(sql`DELETE FROM ${table} WHERE ${condition}`)
  for (let [deleted, together] = [0, FIRST]; ; ) {
    const begun = realSystem.monotonic()
    const count = await tx.run(sql`DELETE FROM ${table}
      WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${condition} LIMIT ${together})`)
    deleted += count
    if (count < together) return deleted
    const isShort = realSystem.monotonic() - begun < SHORT
    together = isShort ? Math.min(2 * together, MOST_TOGETHER) : Math.max(1, Math.floor(together / 2))
  }
}
