import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'

/** Clears the fields of up to `most` entries that were removed with their context. Returns true when none are left. */
export async function sweepDiscarded(
  tx: Queries,
  most: number,
  clearFields: (tx: Queries, doc: number) => Promise<void>,
): Promise<boolean> {
  const rows = await tx.all<{ doc: number }>(sql`SELECT doc FROM search_discarded LIMIT ${most}`)
  for (const { doc } of rows) {
    await clearFields(tx, doc)
    await tx.run(sql`DELETE FROM search_discarded WHERE doc = ${doc}`)
  }
  return rows.length < most
}
