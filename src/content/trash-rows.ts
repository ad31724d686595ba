import type { Bytes, Milliseconds } from '../base/units.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { Entry, EntryHead } from '../model/entry.ts'
import { deleteRows, type Queries } from '../stores/database.ts'
import { name, sql } from '../stores/sql.ts'
import {
  entryFromRow,
  type EntryRow,
  headFromRow,
  type HeadRow,
  storedColumns,
  storedColumnsOfE,
  trashedColumns,
  trashedHeadColumns,
} from './entry-columns.ts'
import { at } from './entry-records.ts'
import { type Membership, membershipFromRow, type MembershipRow } from './list-records.ts'
import { forEachRevision, revisionColumns } from './revisions.ts'

/** Reads and writes the rows of the trash. Only `changes.ts` calls the functions that write. */

interface Trashing {
  /** The entry that the user moves to the trash; the others are in it. */
  readonly root: string
  readonly time: Milliseconds
  /** Id of a user. */
  readonly by: string
}

/** Copies an entry with its revisions and its place in a list to the trash. */
export async function copyToTrash(
  tx: Queries,
  { context, id }: EntryAddress,
  { root, time, by }: Trashing,
): Promise<void> {
  await tx.run(sql`INSERT INTO trashed_entries (root, deleted, deleted_by, list, position, trusted, scope, ${storedColumns})
    SELECT CAST(${root} AS TEXT), CAST(${time} AS BIGINT), CAST(${by} AS TEXT), m.list, m.position,
      COALESCE(m.trusted, 1), m.scope, ${storedColumnsOfE}
    FROM entries e LEFT JOIN list_members m ON m.context = e.context AND m.member = e.id
    WHERE e.context = ${context} AND e.id = ${id}`)
  await forEachRevision({ context, id }, one =>
    tx.run(sql`INSERT INTO trashed_revisions (${revisionColumns})
      SELECT ${revisionColumns} FROM metadata_revisions WHERE ${one}`),
  )
}

/** Removes one entry and its revisions from the trash. */
export async function deleteTrashRow(tx: Queries, address: EntryAddress): Promise<void> {
  // Deleting the row would delete its revisions too, but all of them in one step.
  await forEachRevision(address, one => tx.run(sql`DELETE FROM trashed_revisions WHERE ${one}`))
  await tx.run(sql`DELETE FROM trashed_entries WHERE ${at(address)}`)
}

/** Removes all entries of a context from the trash. */
export async function deleteTrashRowsOf(tx: Queries, context: string): Promise<void> {
  await deleteRows(tx, name('trashed_revisions'), sql`context = ${context}`)
  await deleteRows(tx, name('trashed_entries'), sql`context = ${context}`)
}

/** When, by whom and from which list an entry was moved to the trash. */
interface TrashNote {
  readonly deleted: Milliseconds
  /** Id of a user. */
  readonly deletedBy: string
  /** Id of the list that held it. */
  readonly list: string | undefined
}

type NoteRow = Omit<TrashNote, 'list'> & { readonly list: string | null }

const noteColumns = sql`deleted, deleted_by AS "deletedBy", list`

const noteFromRow = ({ deleted, deletedBy, list }: NoteRow): TrashNote => ({
  deleted,
  deletedBy,
  list: list ?? undefined,
})

/** An entry that a user has moved to the trash, without its graphs. */
export interface TrashedHead extends TrashNote {
  readonly entry: EntryHead
}

/** More entries than this in the trash of a context are not listed: the latest come first. */
const MAX_LISTED = 10_000

/** The entries that users moved to the trash of a context, the latest first; without the entries inside them. */
export async function trashedHeads(queries: Queries, context: string): Promise<TrashedHead[]> {
  const rows = await queries.all<HeadRow & NoteRow>(sql`SELECT ${trashedHeadColumns}, ${noteColumns}
    FROM trashed_entries WHERE context = ${context} AND id = root ORDER BY deleted DESC, length(id) DESC, id DESC
    LIMIT ${MAX_LISTED}`)
  return rows.map(row => ({ entry: headFromRow(row), ...noteFromRow(row) }))
}

/** The next entries that users have moved to the trash of a context, in the order of their ids. */
export async function trashedHeadsAfter(
  queries: Queries,
  { context, id }: EntryAddress,
  most: number,
): Promise<EntryHead[]> {
  const rows = await queries.all<HeadRow>(sql`SELECT ${trashedHeadColumns} FROM trashed_entries
    WHERE context = ${context} AND id > ${id} AND id = root ORDER BY id LIMIT ${most}`)
  return rows.map(headFromRow)
}

/** An entry with everything that is in the trash because of it. */
interface TrashedSize {
  readonly entries: number
  readonly bytes: Bytes
}

/** By the id of the entry that was moved to the trash. */
export async function trashedSizes(queries: Queries, context: string): Promise<ReadonlyMap<string, TrashedSize>> {
  const rows = await queries.all<{ root: string; entries: number; bytes: number }>(sql`SELECT t.root,
      COUNT(*) AS entries, CAST(COALESCE(SUM(f.size), 0) AS BIGINT) AS bytes
    FROM trashed_entries t LEFT JOIN files f ON f.context = t.context AND f.entry = t.id
    WHERE t.context = ${context} GROUP BY t.root`)
  return new Map(rows.map(({ root, entries, bytes }) => [root, { entries, bytes }]))
}

/** An entry that a user moved to the trash; `undefined` for an entry inside such an entry. */
export async function findTrashed(
  queries: Queries,
  address: EntryAddress,
): Promise<(TrashNote & { readonly entry: Entry }) | undefined> {
  const row = await queries.get<EntryRow & NoteRow>(sql`SELECT ${trashedColumns}, ${noteColumns}
    FROM trashed_entries WHERE ${at(address)} AND id = root`)
  return row && { entry: entryFromRow(row), ...noteFromRow(row) }
}

/** Any entry in the trash. */
export async function findTrashedEntry(queries: Queries, address: EntryAddress): Promise<Entry | undefined> {
  const row = await queries.get<EntryRow>(sql`SELECT ${trashedColumns} FROM trashed_entries WHERE ${at(address)}`)
  return row && entryFromRow(row)
}

/** An entry in the trash, and its place in a list that is in the trash with it, or that held the whole. */
export interface TrashedMember {
  readonly entry: EntryHead
  readonly membership: Membership | undefined
}

/** The entry that was moved to the trash, then all that lay in it. */
export async function trashedWith(queries: Queries, { context, id }: EntryAddress): Promise<TrashedMember[]> {
  const rows = await queries.all<HeadRow & MembershipRow>(sql`SELECT ${trashedHeadColumns}, list, position, trusted
    FROM trashed_entries WHERE context = ${context} AND root = ${id}
    ORDER BY CASE WHEN id = root THEN 0 ELSE 1 END, list, position`)
  return rows.map(row => ({
    entry: headFromRow(row),
    membership: membershipFromRow(row),
  }))
}

/** Some entries that were moved to the trash before this moment, the oldest first. */
export async function trashedBefore(queries: Queries, time: Milliseconds, most: number): Promise<EntryAddress[]> {
  return await queries.all<EntryAddress>(sql`SELECT context, id FROM trashed_entries
    WHERE id = root AND deleted < ${time} ORDER BY deleted LIMIT ${most}`)
}
