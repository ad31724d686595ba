import type { Queries } from '../stores/database.ts'
import type { Entry } from './entry.ts'
import { indexFieldsOf } from './search-index.ts'
import { findNames, writeIndex } from './search-sql.ts'

/** Brings the index up to an entry that has just been written, in the same transaction: the next search knows it. */
export async function indexEntry(tx: Queries, entry: Entry): Promise<void> {
  await writeIndex(tx, entry, indexFieldsOf(entry, await findNames(tx, entry)))
}
