import { type Caller, denied } from '../accounts/caller.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Queries } from '../stores/database.ts'
import type { Acl } from '../model/acl.ts'
import { type Entry, type EntryHead, withModification } from '../model/entry.ts'
import { entriesInList, updateEntry } from './entry-records.ts'
import { isList } from './list-records.ts'
import { may } from '../model/rights.ts'

/** All that is in a list and in the lists inside it, each list before its members. */
export async function entriesBelow(queries: Queries, list: Entry): Promise<Entry[]> {
  const passed = new Set([list.id])
  const found: Entry[] = []
  const waiting = [list]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const entry of await entriesInList(queries, next)) {
      if (passed.has(entry.id)) continue
      passed.add(entry.id)
      found.push(entry)
      if (isList(entry)) waiting.push(entry)
    }
  }
  return found
}

/**
 * Gives all that is below a list the list's ACL (wire facts 3.3.2). Who may write to a list may put any entry in it, so that
 * each entry needs the right to administer it; one that lacks it refuses the whole.
 */
export async function applyAclBelow(
  tx: Queries,
  caller: Caller,
  { list, contextEntry, acl }: { readonly list: Entry; readonly contextEntry: EntryHead; readonly acl: Acl },
  now: Milliseconds,
): Promise<void> {
  if (!isList(list)) return
  for (const entry of await entriesBelow(tx, list)) {
    if (!may(caller, 'administer', { entry, contextEntry })) throw denied(caller, `administer the entry "${entry.id}"`)
    await updateEntry(tx, { ...withModification(entry, caller.user.id, now), acl })
  }
}
