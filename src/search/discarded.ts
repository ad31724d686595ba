import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'

type ClearFields = (tx: Queries, doc: number) => Promise<void>

/** Deleting the fields of an entry with more strings takes so long that nobody should wait for it. */
const MANY_STRINGS = 500

async function hasManyStrings(tx: Queries, doc: number): Promise<boolean> {
  return !!(await tx.get(sql`SELECT 1 AS found FROM search_strings WHERE doc = ${doc} LIMIT 1 OFFSET ${MANY_STRINGS}`))
}

/** Deletes the fields of a removed entry, or leaves them to {@link sweepDiscarded} if they are many: no search finds them any more. */
export async function clearOrDiscard(tx: Queries, doc: number, clearFields: ClearFields): Promise<void> {
  if (await hasManyStrings(tx, doc)) await discard(tx, doc)
  else await clearFields(tx, doc)
}

export async function discard(tx: Queries, doc: number): Promise<void> {
  await tx.run(sql`INSERT INTO search_discarded (doc) VALUES (${doc})`)
}

/** Deletes the fields of up to `most` discarded entries, or of fewer large ones. Returns true when none are left. */
export async function sweepDiscarded(tx: Queries, most: number, clearFields: ClearFields): Promise<boolean> {
  const rows = await tx.all<{ doc: number }>(sql`SELECT doc FROM search_discarded LIMIT ${most}`)
  for (const { doc } of rows) {
    const isLarge = await hasManyStrings(tx, doc)
    await clearFields(tx, doc)
    await tx.run(sql`DELETE FROM search_discarded WHERE doc = ${doc}`)
    if (isLarge) return false
  }
  return rows.length < most
}
