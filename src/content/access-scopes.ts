import type { Queries } from '../stores/database.ts'
import { listed, sql } from '../stores/sql.ts'
import type { EntryAddress } from '../model/addresses.ts'
import { type EntryHead, givesAccess, givingAccess, isList, isOwnAcl } from '../model/entry.ts'
import { indexScopesOf } from '../search/index-records.ts'
import { findEntryHead, headsOf } from './entry-records.ts'
import {
  appendToList,
  forgetList,
  leaveList,
  type ListMember,
  listMembers,
  membersWithScope,
  replaceListMembers,
} from './list-records.ts'

/**
 * Records which folder gives access to each entry (adr: access-follows-folders): `list_members.scope` is the nearest list above the entry
 * that gives access to its content. The scope changes together with lists and their members, so only these functions change lists and
 * members.
 */

/** The part of an `EntryWriter` that is needed here. */
interface Writer {
  readonly tx: Queries
  updateHead(before: EntryHead, after: EntryHead): Promise<void>
}

/** Id of the folder that gives access to the members of a list, if any: itself or one above it. */
export const scopeInside = (list: EntryHead): string | undefined => (givesAccess(list) ? list.id : list.folders[0]?.id)

/** The folders whose access lists are for the members of a list, the nearest first. */
export const foldersInside = (list: EntryHead): EntryHead['folders'] =>
  givesAccess(list) ? [{ id: list.id, acl: list.acl }, ...list.folders] : list.folders

/**
 * Appends an entry of the same context to a list. @param entry as it was before, in no list any more
 * @throws {Conflict} when it is in a list or would contain itself
 */
export async function joinList(writer: Writer, list: EntryHead, entry: EntryHead, isTrusted: boolean): Promise<void> {
  const scope = scopeInside(list)
  await appendToList(writer.tx, list, { id: entry.id, isTrusted }, scope)
  if (entry.folders[0]?.id !== (isTrusted ? scope : undefined)) await follow(writer, entry)
}

/** Takes an entry out of its list, into none. */
export async function leaveItsList(writer: Writer, entry: EntryHead): Promise<void> {
  await leaveList(writer.tx, entry)
  if (entry.folders.length > 0) await follow(writer, entry)
}

/** Replaces the members, all of which must exist. @throws {Conflict} when one is in another list or would contain itself */
export async function setMembers(writer: Writer, list: EntryHead, members: readonly ListMember[]): Promise<void> {
  const { tx } = writer
  const scope = scopeInside(list)
  const before = scope === undefined ? [] : await listMembers(tx, list)
  await replaceListMembers(tx, list, members, scope)
  if (scope === undefined) return
  const [known, present] = [new Set(before), new Set(members.map(({ id }) => id))]
  const changed = [...before.filter(id => !present.has(id)), ...[...present].filter(id => !known.has(id))]
  for await (const entry of headsOf(tx, list.context, changed)) await follow(writer, entry)
}

/** Removes all members of a list; they stay in the context. */
export async function emptyList(writer: Writer, list: EntryAddress): Promise<void> {
  await settleMembers(writer, list, undefined)
  await forgetList(writer.tx, list)
}

/** Members have been added to these lists without their folders, and the lists themselves to others. */
export async function settleLists(writer: Writer, lists: Iterable<EntryAddress>): Promise<void> {
  for (const address of lists) {
    const list = await findEntryHead(writer.tx, address)
    if (list && isList(list)) await settleBelow(writer, list)
  }
}

/** The place of an entry has changed: the index follows, and everything in it. */
async function follow(writer: Writer, entry: EntryHead): Promise<void> {
  await indexScopesOf(writer.tx, entry.context, [entry.id])
  if (isList(entry)) await settleLists(writer, [entry])
}

/**
 * Updates the content of a list after its own folder is known. A list with its own access list gives access as soon as it is in a folder
 * that gives access.
 */
async function settleBelow(writer: Writer, list: EntryHead): Promise<void> {
  if (list.folders.length > 0 && isOwnAcl(list.acl) && !givesAccess(list)) {
    // This also updates the content of the list.
    await writer.updateHead(list, { ...list, acl: givingAccess(list.acl) })
  } else await settleMembers(writer, list, scopeInside(list))
}

/**
 * Sets the folder for the members of a list and for the content of the lists among them, except lists that give access themselves. A list
 * can have a hundred thousand members: other requests run between two statements.
 */
export async function settleMembers(writer: Writer, list: EntryAddress, scope: string | undefined): Promise<void> {
  const { tx } = writer
  const { context } = list
  const below: string[] = []
  for await (const members of membersWithScope(tx, list)) {
    const right = (trusted: number): string | null => (trusted === 1 ? (scope ?? null) : null)
    const wrong = members.filter(member => member.scope !== right(member.trusted))
    if (wrong.length === 0) continue
    for (const trusted of [1, 0]) {
      const ids = wrong.filter(member => member.trusted === trusted).map(({ member }) => member)
      if (ids.length === 0) continue
      await tx.run(sql`UPDATE list_members SET scope = ${right(trusted)}
        WHERE context = ${context} AND member IN (${listed(ids)})`)
      await indexScopesOf(tx, context, ids)
      const lists = await tx.all<{ id: string }>(sql`SELECT id FROM entries WHERE context = ${context}
        AND id IN (${listed(ids)}) AND entry_type = 'Local' AND graph_type IN ('List', 'ResultList')`)
      below.push(...lists.map(({ id }) => id))
    }
  }
  for (const id of below) {
    const entry = await findEntryHead(tx, { context, id })
    if (entry && !givesAccess(entry)) await settleBelow(writer, entry)
  }
}
