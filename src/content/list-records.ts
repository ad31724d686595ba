import { Conflict, TooLarge } from '../base/errors.ts'
import { deleteRows, type Queries, UniqueViolation } from '../stores/database.ts'
import { listed, name, portionsOf, sql } from '../stores/sql.ts'
import type { EntryAddress } from '../model/addresses.ts'
import { type EntryHead, isList } from '../model/entry.ts'
import type { HeadRow } from './entry-columns.ts'

/** Ids of the members in their order. */
export async function listMembers(queries: Queries, { context, id }: EntryAddress): Promise<string[]> {
  // One text instead of one row per member, because a page of a list names all members. No id contains a slash. The index
  // supplies the order; an ORDER BY inside the aggregate would sort again.
  const row = await queries.get<{ members: string | null }>(
    sql`SELECT string_agg(member, '/') AS members
      FROM (SELECT member FROM list_members WHERE context = ${context} AND list = ${id} ORDER BY position) AS ordered`,
  )
  return row?.members?.split('/') ?? []
}

/** Ids of trusted members ({@link ListMember}), in their order. @param page which of them; by default all */
export async function trustedListMembers(
  queries: Queries,
  { context, id }: EntryAddress,
  page?: { readonly limit: number; readonly offset: number },
): Promise<string[]> {
  const some = page ? sql`LIMIT ${page.limit} OFFSET ${page.offset}` : sql``
  const rows = await queries.all<{ member: string }>(sql`SELECT member FROM list_members
    WHERE context = ${context} AND list = ${id} AND trusted = 1 ORDER BY position ${some}`)
  return rows.map(({ member }) => member)
}

export async function countListMembers(queries: Queries, { context, id }: EntryAddress): Promise<number> {
  const row = await queries.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM list_members WHERE context = ${context} AND list = ${id}`,
  )
  return row?.count ?? 0
}

/** The id of the list that the entry is in, if any. */
export async function listHolding(queries: Queries, { context, id }: EntryAddress): Promise<string | undefined> {
  const row = await queries.get<{ list: string }>(
    sql`SELECT list FROM list_members WHERE context = ${context} AND member = ${id}`,
  )
  return row?.list
}

export interface ListMember {
  readonly id: string
  /**
   * Whether the person who added the member administered it at that time. A link to the list, or its access list, gives access to trusted
   * members only.
   */
  readonly isTrusted: boolean
}

/** The place of an entry in the list that contains it. */
export interface Membership extends Pick<ListMember, 'isTrusted'> {
  readonly list: string
  readonly position: number
}

/** The place in its list as columns, all null for an entry in no list. */
export interface MembershipRow {
  readonly list: string | null
  readonly position: number | null
  readonly trusted: number | null
}

export const membershipFromRow = ({ list, position, trusted }: MembershipRow): Membership | undefined =>
  list === null || position === null ? undefined : { list, position, isTrusted: trusted !== 0 }

/** The list that contains the entry, and its place there. */
export async function membershipOf(queries: Queries, { context, id }: EntryAddress): Promise<Membership | undefined> {
  const row = await queries.get<MembershipRow>(
    sql`SELECT list, position, trusted FROM list_members WHERE context = ${context} AND member = ${id}`,
  )
  return row && membershipFromRow(row)
}

/** Whether each member is trusted, by its id. */
export async function trustInMembers(queries: Queries, list: EntryAddress): Promise<ReadonlyMap<string, boolean>> {
  const rows = await queries.all<{ member: string; trusted: number }>(
    sql`SELECT member, trusted FROM list_members WHERE context = ${list.context} AND list = ${list.id}`,
  )
  return new Map(rows.map(({ member, trusted }) => [member, trusted !== 0]))
}

/** A member, and the folder that gives access to it. */
interface ScopedMember {
  readonly member: string
  readonly position: number
  readonly trusted: number
  readonly scope: string | null
}

const SCOPED_TOGETHER = 500

/** All members of a list in their order, some at a time. */
export async function* membersWithScope(
  tx: Queries,
  { context, id }: EntryAddress,
): AsyncGenerator<readonly ScopedMember[]> {
  let last: Pick<ScopedMember, 'member' | 'position'> = { member: '', position: Number.MIN_SAFE_INTEGER }
  for (;;) {
    const some = await tx.all<ScopedMember>(sql`SELECT member, position, trusted, scope FROM list_members
      WHERE context = ${context} AND list = ${id} AND (position, member) > (${last.position}, ${last.member})
      ORDER BY position, member LIMIT ${SCOPED_TOGETHER}`)
    yield some
    const next = some.at(-1)
    if (!next || some.length < SCOPED_TOGETHER) return
    last = next
  }
}

/**
 * Part of an import or a restore. The caller must check that the target is a list and that no list contains itself, and settle its folder then
 * (`access-scopes.ts`).
 */
export async function insertMembership(
  tx: Queries,
  { context, id }: EntryAddress,
  { list, position, isTrusted }: Membership,
): Promise<void> {
  await tx.run(sql`INSERT INTO list_members (context, member, list, position, trusted)
    VALUES (${context}, ${id}, ${list}, ${position}, ${Number(isTrusted)})`)
}

/**
 * Appends an entry of the same context. @param scope id of the folder that gives access to the content of the list
 * @throws {Conflict} when it is in a list or would contain itself
 */
export async function appendToList(tx: Queries, list: EntryAddress, member: ListMember, scope?: string): Promise<void> {
  await requireNoCircle(tx, list, [member.id])
  const row = await tx.get<{ last: number | null }>(
    sql`SELECT max(position) AS last FROM list_members WHERE context = ${list.context} AND list = ${list.id}`,
  )
  await insertMembers(tx, list, [{ ...member, position: (row?.last ?? 0) + 1 }], scope)
}

/**
 * Replaces the members, all of which must exist. @param scope id of the folder that gives access to what is in the list
 * @throws {Conflict} when one is in another list or would contain itself
 */
export async function replaceListMembers(
  tx: Queries,
  list: EntryAddress,
  members: readonly ListMember[],
  scope?: string,
): Promise<void> {
  await requireNoCircle(
    tx,
    list,
    members.map(({ id }) => id),
  )
  await forgetList(tx, list)
  let position = 0
  for (const some of portionsOf(members)) {
    await insertMembers(
      tx,
      list,
      some.map(member => ({ ...member, position: ++position })),
      scope,
    )
  }
}

/** Removes the entry from its list. */
export async function leaveList(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`DELETE FROM list_members WHERE context = ${context} AND member = ${id}`)
}

/** Removes all members of a list. */
export async function forgetList(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await deleteRows(tx, members, sql`context = ${context} AND list = ${id}`)
}

export async function forgetListsOf(tx: Queries, context: string): Promise<void> {
  await deleteRows(tx, members, sql`context = ${context}`)
}

const members = name('list_members')

/** The lists that entries of the context belong to, even if these lists do not exist. */
export async function listsWithMembers(queries: Queries, context: string): Promise<string[]> {
  const rows = await queries.all<{ list: string }>(
    sql`SELECT DISTINCT list FROM list_members WHERE context = ${context}`,
  )
  return rows.map(({ list }) => list)
}

interface PlacedMember extends ListMember {
  readonly position: number
}

async function insertMembers(
  tx: Queries,
  { context, id }: EntryAddress,
  some: readonly PlacedMember[],
  scope: string | undefined,
): Promise<void> {
  const elsewhere = await tx.get<{ member: string; list: string }>(
    sql`SELECT member, list FROM list_members
      WHERE context = ${context} AND member IN (${listed(some.map(member => member.id))}) LIMIT 1`,
  )
  if (elsewhere) throw inOtherList(elsewhere.member, elsewhere.list)
  const rows = some.map(
    member =>
      sql`(${context}, ${member.id}, ${id}, ${member.position}, ${Number(member.isTrusted)}, ${member.isTrusted ? (scope ?? null) : null})`,
  )
  try {
    await tx.run(sql`INSERT INTO list_members (context, member, list, position, trusted, scope) VALUES ${listed(rows)}`)
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error
    throw new Conflict('conflict', 'One of the entries is in another list. Remove it there first, or move it.', {
      cause: error,
    })
  }
}

const inOtherList = (member: string, list: string): Conflict =>
  new Conflict('conflict', `The entry "${member}" is in the list "${list}" already, and can be in one list only.`)

/** An entry has at most one list, so the lists that contain this one form a single chain. */
async function requireNoCircle(tx: Queries, list: EntryAddress, members: readonly string[]): Promise<void> {
  const chain = new Set<string>()
  for (
    let id: string | undefined = list.id;
    id !== undefined && !chain.has(id);
    id = await listHolding(tx, { context: list.context, id })
  ) {
    chain.add(id)
  }
  const inside = members.find(id => chain.has(id))
  if (inside !== undefined) throw new Conflict('conflict', `The list "${inside}" would be inside itself.`)
}

/**
 * Maximum number of entries below a list that one request changes. Nobody else can write during the change, and the commit takes longer
 * with each entry.
 */
export const MAX_DESCENDANTS = 10_000

/** The part of an entry that says what kind of resource it has. */
export type MemberBelow = Pick<EntryHead, 'context' | 'id' | 'entryType' | 'graphType'>

/**
 * All entries in a list and in the lists inside it, each list before its members. A caller that changes entries reads each of them in full
 * only when its turn comes: together they may have gigabytes.
 * @param which `trusted` leaves out members that were added without the right to administer them, with their content
 * @throws {TooLarge} `list-too-large` when there are more than {@link MAX_DESCENDANTS}
 */
export async function membersBelow(
  queries: Queries,
  list: EntryAddress,
  which: 'all' | 'trusted',
): Promise<readonly MemberBelow[]> {
  const passed = new Set([list.id])
  const found: MemberBelow[] = []
  const waiting = [list]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const member of await membersOf(queries, next, which)) {
      if (passed.has(member.id)) continue
      passed.add(member.id)
      found.push(member)
      if (found.length > MAX_DESCENDANTS) throw tooLarge(list)
      if (isList(member)) waiting.push(member)
    }
  }
  return found
}

/** The first entries that are members of a list, in its order. */
async function membersOf(
  queries: Queries,
  { context, id }: EntryAddress,
  which: 'all' | 'trusted',
): Promise<readonly MemberBelow[]> {
  const rows = await queries.all<
    Pick<HeadRow, 'id' | 'entry_type' | 'graph_type'>
  >(sql`SELECT e.id, e.entry_type, e.graph_type
    FROM list_members m JOIN entries e ON e.context = m.context AND e.id = m.member
    WHERE m.context = ${context} AND m.list = ${id} AND (m.trusted = 1 OR ${which} = 'all')
    ORDER BY m.position LIMIT ${MAX_DESCENDANTS + 1}`)
  return rows.map(row => ({ context, id: row.id, entryType: row.entry_type, graphType: row.graph_type }))
}

const tooLarge = ({ id }: EntryAddress): TooLarge =>
  new TooLarge(
    'list-too-large',
    `More than ${MAX_DESCENDANTS} entries are in the list "${id}" and the lists in it. Begin with the lists in it.`,
    { extra: { limit: MAX_DESCENDANTS } },
  )
