import type { Caller } from '../../accounts/caller.ts'
import type { Bytes } from '../../base/units.ts'
import { findFile } from '../../files/file-records.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { DependencyCache } from '../../stores/dependency-cache.ts'
import type { Entry } from '../../model/entry.ts'
import type { EntryLoader } from '../entry-loader.ts'
import { sortableEntriesInList } from '../entry-records.ts'
import { listMembers } from '../list-records.ts'
import { isOwnOrder, type ListPage, type Order, type Paging, pageOf, sorted, titleOf } from '../../model/list-order.ts'
import type { ResponseBudget } from '../../model/response-budget.ts'
import { may, type EntryInContext } from '../../model/rights.ts'

/** Longer lists are returned in their own order, because sorting loads every member. */
const MAX_SORTED = 2000

/** Page size for a longer list that is requested without a limit. */
const MAX_PAGE = 500

/** Memory of the id of a member, about. */
const MEMBER_BYTES: Bytes = 40

interface Dependencies {
  readonly database: Database
  readonly cache: DependencyCache
  readonly loader: EntryLoader
}

/** Ids of the members in the requested order. */
export async function orderedMembers(
  queries: Queries,
  caller: Caller,
  list: EntryInContext,
  order: Order,
): Promise<readonly string[]> {
  const ids = await listMembers(queries, list.entry)
  return keepsOwnOrder(order, ids.length) ? ids : await sortedMembers(queries, caller, list, order)
}

const keepsOwnOrder = (order: Order, size: number): boolean => isOwnOrder(order) || size > MAX_SORTED

async function sortedMembers(
  queries: Queries,
  caller: Caller,
  list: EntryInContext,
  order: Order,
): Promise<readonly string[]> {
  const { contextEntry } = list
  const sortable = []
  for (const entry of await sortableEntriesInList(queries, list.entry)) {
    const isReadable = may(caller, 'readmetadata', { entry, contextEntry })
    sortable.push({
      id: entry.id,
      graphType: entry.graphType,
      // The position in the order must not reveal a title that the caller may not read.
      title: isReadable ? titleOf(entry, order.language) : undefined,
      created: entry.created,
      modified: entry.modified,
      size: order.sort === 'size' ? ((await findFile(queries, entry))?.size ?? 0) : 0,
    })
  }
  return sorted(sortable, order).map(({ id }) => id)
}

/** All members of a list, read once until the list changes. */
async function memberIds({ database, cache }: Dependencies, { context, id }: Entry): Promise<readonly string[]> {
  const cached = await cache.get(`list ${context}/${id}`, async () => {
    const value = await listMembers(database, { context, id })
    return { value, subjects: [`${context}/${id}`], bytes: MEMBER_BYTES * value.length }
  })
  return cached ?? (await listMembers(database, { context, id }))
}

export async function listPage(
  deps: Dependencies,
  caller: Caller,
  list: EntryInContext,
  asked: Paging,
  budget: ResponseBudget,
): Promise<ListPage<Entry>> {
  const { database, loader } = deps
  const allUnsorted = await memberIds(deps, list.entry)
  const size = allUnsorted.length
  const paging = asked.limit === 0 && size > MAX_PAGE ? { ...asked, limit: MAX_PAGE } : asked
  const { limit, offset } = paging
  const ids = keepsOwnOrder(paging, size)
    ? pageOf(allUnsorted, paging)
    : pageOf(await sortedMembers(database, caller, list, paging), paging)
  const children: Entry[] = []
  for (const id of ids) {
    const child = await loader.toShow({ context: list.entry.context, id }, budget)
    if (child) children.push(child)
  }
  return { children, size, limit, offset, allUnsorted }
}
