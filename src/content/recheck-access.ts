import type { Caller } from '../accounts/caller.ts'
import { presentCaller } from '../accounts/present-caller.ts'
import { NotFound } from '../base/errors.ts'
import type { Queries } from '../stores/database.ts'
import { CONTEXTS } from '../model/addresses.ts'
import { findEntry, findEntryHead } from './entry-records.ts'
import type { AccessCheck, EntryInContext } from '../model/rights.ts'

/** An entry and who asks for it, as they are inside a transaction. */
export interface Present extends EntryInContext {
  readonly caller: Caller
}

/**
 * Judges once more inside the transaction that makes the change: a body may have come for hours since it was first judged,
 * and entry, access list and caller may not be what they were.
 * @throws {NotFound} also when another entry has taken the id meanwhile @throws {Unauthenticated | Forbidden}
 */
export async function recheckAccess(
  tx: Queries,
  caller: Caller,
  placed: EntryInContext,
  judge: AccessCheck,
): Promise<Present> {
  const entry = await findEntry(tx, placed.entry)
  const contextEntry = await findEntryHead(tx, { context: CONTEXTS, id: placed.entry.context })
  if (!entry || !contextEntry || entry.created !== placed.entry.created) {
    const { context, id } = placed.entry
    throw new NotFound('not-found', `The entry "${id}" in context ${context} has just been deleted.`)
  }
  const present = { entry, contextEntry, caller: await presentCaller(tx, caller) }
  judge(present.caller, present)
  return present
}
