import { TooLarge } from '../base/errors.ts'
import type { EntryAddress } from '../model/addresses.ts'
import { type EntryHead, isList } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import type { HeadRow } from './entry-records.ts'

/**
 * Limit of the entries below a list that one request changes. Nobody else can write meanwhile, and the commit takes the longer the more of
 * them there are.
 */
export const MAX_DESCENDANTS = 10_000

/** The part of an entry that says what kind of resource it has. */
export type MemberBelow = Pick<EntryHead, 'context' | 'id' | 'entryType' | 'graphType'>

/**
 * All entries in a list and in the lists inside it, each list before its members. Those who change them read the rest of each when its
 * turn comes: together they may have gigabytes.
 * @param which `trusted` passes over what was added without the right to administer it, with all that is in it
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
