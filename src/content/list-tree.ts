import { denied } from '../accounts/caller.ts'
import type { Queries } from '../stores/database.ts'
import type { Acl } from '../model/acl.ts'
import type { Entry, EntryHead } from '../model/entry.ts'
import type { EntryWriter } from './changes.ts'
import { entriesInList } from './entry-records.ts'
import { isList } from '../model/entry.ts'
import { may } from '../model/rights.ts'

/** All entries in a list and in the lists inside it, each list before its members. */
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
 * Gives all entries below a list the list's access list (W3.3.2). Users who may write to a list may put any entry
 * into it, so this requires the right to administer each entry; if the caller lacks it for one, the whole change is
 * rejected.
 */
export async function applyAclBelow(
  writer: EntryWriter,
  { list, contextEntry, acl }: { readonly list: Entry; readonly contextEntry: EntryHead; readonly acl: Acl },
): Promise<void> {
  if (!isList(list)) return
  const { caller } = writer
  for (const entry of await entriesBelow(writer.tx, list)) {
    if (!may(caller, 'administer', { entry, contextEntry })) throw denied(caller, `administer the entry "${entry.id}"`)
    await writer.update(entry, { ...entry, acl })
  }
}
