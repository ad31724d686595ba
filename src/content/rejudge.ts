import { type Caller, guestFrom, isGuest } from '../accounts/caller.ts'
import { groupsOf } from '../accounts/groups.ts'
import { findUser } from '../accounts/users.ts'
import { NotFound } from '../base/errors.ts'
import type { Queries } from '../stores/database.ts'
import { CONTEXTS } from './addresses.ts'
import type { Entry } from './entry.ts'
import { findEntry } from './entry-records.ts'
import { type Placed, requireRight, type Right } from './rights.ts'

/**
 * Judges a right once more inside the transaction that uses it: a body may have come for hours since it was first judged,
 * and entry, access list and caller may not be what they were. Resolves to the entry as it is now.
 * @throws {NotFound} also when another entry has taken the id meanwhile @throws {Unauthenticated | Forbidden}
 */
export async function rejudge(
  tx: Queries,
  caller: Caller,
  placed: Placed,
  { right, what }: { readonly right: Right; readonly what: string },
): Promise<Entry> {
  const entry = await findEntry(tx, placed.entry)
  const contextEntry = await findEntry(tx, { context: CONTEXTS, id: placed.entry.context })
  if (!entry || !contextEntry || entry.created !== placed.entry.created) {
    throw new NotFound('not-found', 'The entry has been deleted meanwhile.')
  }
  requireRight(await presentCaller(tx, caller), right, { entry, contextEntry }, what)
  return entry
}

/** The caller with his groups of now; nobody any more when he is gone or disabled. */
async function presentCaller(tx: Queries, caller: Caller): Promise<Caller> {
  if (isGuest(caller)) return caller
  const user = await findUser(tx, caller.user.id)
  if (!user || user.disabled) return guestFrom(caller.client)
  return { ...caller, user, groups: new Set(await groupsOf(tx, user.id)) }
}
