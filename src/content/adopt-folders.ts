import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../model/addresses.ts'
import {
  type Acl,
  type EntryHead,
  givesAccess,
  givingAccess,
  isList,
  isOwnAcl,
  isSameAcl,
  ofContextOnly,
} from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { settleLists } from './access-scopes.ts'
import { headColumns, headColumnsOfE, headFromRow, type HeadRow } from './entry-columns.ts'

const WORK = 'folder-access'

/** What the start has turned around in a store of an earlier version. */
export interface Adopted {
  /** Number of folders that give access now. */
  readonly folders: number
  /** Number of entries that follow them now, and have no copy of their access list any more. */
  readonly following: number
}

interface Adoption {
  readonly tx: Queries
  /** Writes an access list and nothing else. */
  readonly write: (head: EntryHead, acl: Acl) => Promise<void>
}

/**
 * Earlier versions shared a folder by copies of its access list. From now on, entries with such a copy follow their folder; all others keep
 * the access that they have (D11.10). Does nothing if an earlier start has done this.
 */
export async function adoptFolders(adoption: Adoption): Promise<Adopted | undefined> {
  const { tx } = adoption
  if (!(await tx.get(sql`SELECT 1 AS pending FROM pending_work WHERE name = ${WORK}`))) return undefined
  const contexts = await tx.all<{ context: string }>(sql`SELECT DISTINCT context FROM list_members
    WHERE context NOT IN (${CONTEXTS}, ${PRINCIPALS})`)
  const adopted = { folders: 0, following: 0 }
  for (const { context } of contexts) {
    const folders = await outermostShared(tx, context)
    for (const folder of folders) adopted.following += await adopt(adoption, folder)
    adopted.folders += folders.length
    const updateHead = (): never => {
      throw new TypeError('the lists in a folder that gives access have been marked')
    }
    await settleLists({ tx, updateHead }, folders)
  }
  await tx.run(sql`DELETE FROM pending_work WHERE name = ${WORK}`)
  return adopted
}

/** The lists that have a member with a copy of their access list, and are not inside another one. */
async function outermostShared(tx: Queries, context: string): Promise<readonly EntryHead[]> {
  const rows = await tx.all<HeadRow>(sql`SELECT ${headColumns} FROM entries WHERE context = ${context}
    AND entry_type = 'Local' AND graph_type IN ('List', 'ResultList') ORDER BY id`)
  const shared = new Map<string, EntryHead>()
  for (const list of rows.map(headFromRow)) {
    if (!isOwnAcl(list.acl)) continue
    if ((await trustedMembers(tx, list)).some(({ acl }) => isSameAcl(acl, list.acl))) shared.set(list.id, list)
  }
  const outermost: EntryHead[] = []
  for (const list of shared.values()) if (!(await isInside(tx, list, shared))) outermost.push(list)
  return outermost
}

async function isInside(tx: Queries, list: EntryHead, shared: ReadonlyMap<string, unknown>): Promise<boolean> {
  const passed = new Set<string>()
  for (let id: string | undefined = list.id; id !== undefined && !passed.has(id); ) {
    passed.add(id)
    const above: { list: string } | undefined = await tx.get(sql`SELECT list FROM list_members
      WHERE context = ${list.context} AND member = ${id} AND trusted = 1`)
    id = above?.list
    if (id !== undefined && shared.has(id)) return true
  }
  return false
}

/** Makes the content of a folder follow the access list of the folder. Resolves to the number of entries that had a copy. */
async function adopt({ tx, write }: Adoption, folder: EntryHead): Promise<number> {
  await write(folder, givesAccess(folder) ? folder.acl : givingAccess(folder.acl))
  const passed = new Set([folder.id])
  const waiting = [folder]
  let following = 0
  for (let list = waiting.pop(); list; list = waiting.pop()) {
    for (const member of await trustedMembers(tx, list)) {
      if (passed.has(member.id)) continue
      passed.add(member.id)
      const isCopy = isOwnAcl(list.acl) && isSameAcl(member.acl, list.acl)
      if (isCopy) following++
      const acl = isCopy ? {} : isOwnAcl(member.acl) ? member.acl : ofContextOnly
      const marked = isList(member) && isOwnAcl(acl) && !givesAccess({ ...member, acl }) ? givingAccess(acl) : acl
      if (marked !== member.acl) await write(member, marked)
      if (isList(member)) waiting.push(member)
    }
  }
  return following
}

/** Without members that were added by people who did not administer them: no folder gives access to such members. */
async function trustedMembers(tx: Queries, { context, id }: EntryAddress): Promise<readonly EntryHead[]> {
  const rows = await tx.all<HeadRow>(sql`SELECT ${headColumnsOfE} FROM list_members m
    JOIN entries e ON e.context = m.context AND e.id = m.member
    WHERE m.context = ${context} AND m.list = ${id} AND m.trusted = 1 ORDER BY m.position`)
  return rows.map(headFromRow)
}
