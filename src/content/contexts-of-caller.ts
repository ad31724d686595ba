import type { Caller } from '../accounts/caller.ts'
import { CONTEXTS } from '../model/addresses.ts'
import { may, type EntryInContext } from '../model/rights.ts'
import { type ContextAccess, findContextsOfCaller } from '../search/contexts-of-caller.ts'
import type { Database } from '../stores/database.ts'
import { findEntry, findEntryHead } from './entry-records.ts'

interface Wanted {
  readonly access: ContextAccess
  readonly limit: number
  readonly offset: number
}

/** The contexts to which the caller has this access, ordered by name, and their total number. */
export async function contextsOfCaller(
  database: Database,
  caller: Caller,
  wanted: Wanted,
): Promise<{ readonly total: number; readonly contexts: readonly EntryInContext[] }> {
  const { total, ids } = await findContextsOfCaller(database, caller, wanted)
  const right = wanted.access === 'write' ? 'writeresource' : 'readresource'
  const contextEntry = await findEntryHead(database, { context: CONTEXTS, id: CONTEXTS })
  const contexts: EntryInContext[] = []
  for (const id of ids) {
    const entry = await findEntry(database, { context: CONTEXTS, id })
    const placed = entry && contextEntry && { entry, contextEntry }
    if (placed && may(caller, right, placed)) contexts.push(placed)
  }
  return { total, contexts }
}
