import { Forbidden } from '../base/errors.ts'
import type { Files } from '../files/files.ts'
import { CONTEXTS, type EntryAddress, isSystemEntry, PRINCIPALS } from '../model/addresses.ts'
import type { EntryWriter } from './changes.ts'
import { findEntryHead } from './entry-records.ts'
import { leaveList, listHolding } from './list-records.ts'
import type { MemberBelow } from './descendants.ts'
import type { Kinds } from './resource-kind.ts'

interface Dependencies {
  readonly files: Files
  readonly kinds: Kinds
}

/**
 * Deletes entries with everything that belongs to them: their file, their place in a list, and what their kind of resource keeps
 * elsewhere. The list that contains the first of them changes too. Part of a change whose right has been checked.
 * @throws {Forbidden} for system entries
 */
export async function deleteEntries(
  writer: EntryWriter,
  entries: readonly MemberBelow[],
  { files, kinds }: Dependencies,
): Promise<void> {
  if (entries.some(isSystemEntry)) throw new Forbidden('not-allowed', 'System entries cannot be deleted.')
  const [first] = entries
  if (first) await touchHoldingList(writer, first)
  for (const entry of entries) {
    await kinds.of(entry).remove?.(writer, entry)
    if (entry.context === CONTEXTS || entry.context === PRINCIPALS) await writer.retireId(entry)
    await files.remove(writer.tx, entry)
    await leaveList(writer.tx, entry)
    await writer.delete(entry)
  }
}

/** Gives the list that contains the entry, if any, a later modification time: its members change. */
export async function touchHoldingList(writer: EntryWriter, { context, id }: EntryAddress): Promise<void> {
  const holding = await listHolding(writer.tx, { context, id })
  const list = holding === undefined ? undefined : await findEntryHead(writer.tx, { context, id: holding })
  if (list) await writer.updateHead(list, list)
}
