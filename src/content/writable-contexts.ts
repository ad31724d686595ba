import type { Caller } from '../accounts/caller.ts'
import { CONTEXTS } from '../model/addresses.ts'
import { may, type EntryInContext } from '../model/rights.ts'
import { findWritableContexts } from '../search/writable-contexts.ts'
import type { Database } from '../stores/database.ts'
import { findEntry, findEntryHead } from './entry-records.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

/** Contexts that the caller may write to, by name, and how many there are; for an administrator all but those of the system. */
export async function writableContexts(
  database: Database,
  caller: Caller,
  page: Page,
): Promise<{ readonly total: number; readonly contexts: readonly EntryInContext[] }> {
  const { total, ids } = await findWritableContexts(database, caller, page)
  const contextEntry = await findEntryHead(database, { context: CONTEXTS, id: CONTEXTS })
  const contexts: EntryInContext[] = []
  for (const id of ids) {
    const entry = await findEntry(database, { context: CONTEXTS, id })
    const placed = entry && contextEntry && { entry, contextEntry }
    if (placed && may(caller, 'writeresource', placed)) contexts.push(placed)
  }
  return { total, contexts }
}
