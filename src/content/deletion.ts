import { forgetHomeContext } from '../accounts/groups.ts'
import { deletePrincipal, findUser, type User } from '../accounts/users.ts'
import { Forbidden } from '../base/errors.ts'
import { removeFilesOf } from '../files/file-records.ts'
import type { Files } from '../files/files.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { CONTEXTS, isSystemEntry, PRINCIPALS } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { EntryWriter } from './changes.ts'
import { deleteContextRow } from './contexts.ts'
import { findEntry } from './entry-records.ts'
import { forgetList, forgetListsOf, leaveList, listHolding } from './list-records.ts'

interface Dependencies {
  readonly files: Files
  readonly ledger: Ledger
}

/**
 * Deletes entries with everything that belongs to them: files, memberships, accounts; a context with all its entries. The
 * list that contains the first of them changes too. Resolves to the users among them. Part of a change whose right has been
 * checked.
 * @throws {Forbidden} for system entries
 */
export async function deleteEntries(
  writer: EntryWriter,
  entries: readonly Entry[],
  deps: Dependencies,
): Promise<User[]> {
  if (entries.some(isSystemEntry)) throw new Forbidden('not-allowed', 'System entries cannot be deleted.')
  const [first] = entries
  if (first) await touchHoldingList(writer, first)
  const users: User[] = []
  for (const entry of entries) {
    const user = entry.context === PRINCIPALS ? await findUser(writer.tx, entry.id) : undefined
    await deleteOne(writer, entry, deps)
    if (!user) continue
    users.push(user)
    writer.record({ event: 'user-deleted', userId: user.id, userName: user.name })
  }
  return users
}

async function deleteOne(writer: EntryWriter, entry: Entry, deps: Dependencies): Promise<void> {
  const { tx } = writer
  if (entry.context === CONTEXTS) await deleteContext(writer, entry.id, deps)
  if (entry.context === PRINCIPALS) {
    await deletePrincipal(tx, entry.id)
    await writer.retireId(entry)
  }
  await deps.files.remove(tx, entry)
  await leaveList(tx, entry)
  await forgetList(tx, entry)
  await writer.delete(entry)
}

async function touchHoldingList(writer: EntryWriter, { context, id }: Entry): Promise<void> {
  const holding = await listHolding(writer.tx, { context, id })
  const list = holding === undefined ? undefined : await findEntry(writer.tx, { context, id: holding })
  if (list) await writer.update(list, list)
}

async function deleteContext(writer: EntryWriter, id: string, { ledger }: Dependencies): Promise<void> {
  const { tx } = writer
  await removeFilesOf(tx, id)
  await forgetListsOf(tx, id)
  await writer.deleteAllOf(id)
  await forgetHomeContext(tx, id)
  await ledger.close(tx, id)
  await deleteContextRow(tx, id)
  await writer.retireId({ context: CONTEXTS, id })
}
