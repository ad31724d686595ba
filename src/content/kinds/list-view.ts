import type { Caller } from '../../accounts/caller.ts'
import { findFile } from '../../files/file-records.ts'
import type { Queries } from '../../stores/database.ts'
import type { Entry } from '../../model/entry.ts'
import { sortableEntriesInList, findEntryToShow } from '../entry-records.ts'
import { listMembers } from '../list-records.ts'
import { isOwnOrder, type ListPage, type Order, type Paging, pageOf, sorted, titleOf } from '../../model/list-order.ts'
import type { ResponseBudget } from '../../model/response-budget.ts'
import { may, type EntryInContext } from '../../model/rights.ts'

/** Longer lists are returned in their own order, because sorting loads every member. */
const MAX_SORTED = 2000

/** Page size for a longer list that is requested without a limit. */
const MAX_PAGE = 500

/** Ids of the members in the requested order. */
export async function orderedMembers(
  queries: Queries,
  caller: Caller,
  list: EntryInContext,
  order: Order,
): Promise<readonly string[]> {
  return await inOrder(queries, caller, list, order, await listMembers(queries, list.entry))
}

async function inOrder(
  queries: Queries,
  caller: Caller,
  list: EntryInContext,
  order: Order,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (isOwnOrder(order) || ids.length > MAX_SORTED) return ids
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

export async function listPage(
  queries: Queries,
  caller: Caller,
  list: EntryInContext,
  asked: Paging,
  budget: ResponseBudget,
): Promise<ListPage<Entry>> {
  const allUnsorted = await listMembers(queries, list.entry)
  const isTooLong = asked.limit === 0 && allUnsorted.length > MAX_PAGE
  const paging = isTooLong ? { ...asked, limit: MAX_PAGE } : asked
  const ordered = await inOrder(queries, caller, list, paging, allUnsorted)
  const children: Entry[] = []
  for (const id of pageOf(ordered, paging)) {
    const child = await findEntryToShow(queries, { context: list.entry.context, id }, budget)
    if (child) children.push(child)
  }
  const { limit, offset } = paging
  return { children, size: allUnsorted.length, limit, offset, allUnsorted }
}
