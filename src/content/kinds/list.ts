import type { EntryAddress } from '../../model/addresses.ts'
import type { Caller } from '../../accounts/caller.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { Entry } from '../../model/entry.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import { type EntryInContext, may, requires } from '../../model/rights.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { DependencyCache } from '../../stores/dependency-cache.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import type { EntryLoader } from '../entry-loader.ts'
import { getContext } from '../contexts.ts'
import { headsOf, sortableEntriesInList } from '../entry-records.ts'
import { forgetList, type ListMember, listMembers, replaceListMembers, trustInMembers } from '../list-records.ts'
import type { EntryView, ResourceConditions, ResourceKind } from '../resource-kind.ts'
import { type Read, requireDistinct, requireIds } from '../values.ts'
import type { Bytes } from '../../base/units.ts'
import { findFile } from '../../files/file-records.ts'
import { isOwnOrder, type ListPage, type Order, pageOf, type Paging, sorted, titleOf } from '../../model/list-order.ts'

export interface ListDependencies {
  readonly database: Database
  readonly cache: DependencyCache
  readonly loader: EntryLoader
  readonly changes: Changes
}

const changing = requires('writeresource', 'change the members of this list')

/**
 * An ordered list of entries of its context (W3.8.5).
 * @param options.showsMembers whether the JSON of the entry contains a page of its members
 */
export function listKind(deps: ListDependencies, { showsMembers }: { readonly showsMembers: boolean }): ResourceKind {
  const { database, changes } = deps
  const put = async (
    caller: Caller,
    target: EntryInContext,
    read: Read<unknown>,
    { entry: precondition }: ResourceConditions,
  ): Promise<Entry> => {
    changing(caller, target)
    const members = requireDistinct(requireIds(await read()))
    const conditions = { check: changing, precondition }
    return await changes.change(caller, target, conditions, async (list, writer) => {
      const marked = await markMembers(writer, list, members)
      await replaceListMembers(
        writer.tx,
        list,
        members.map(id => marked.get(id) ?? missing(id)),
      )
      return list
    })
  }
  return {
    isCreatable: true,
    /** A new list skips ids that are not entries of the context (W3.2.1). */
    async complete(writer, { context, id: own }, { resource }) {
      const ids = [...new Set(requireIds(resource ?? []))]
      const list = { context, id: own }
      const added = await markMembers(writer, list, ids)
      const members = ids.filter(id => id !== own).flatMap(id => added.get(id) ?? [])
      await replaceListMembers(writer.tx, list, members)
    },
    async view(caller, target, { presenter, paging }) {
      if (!showsMembers) return { form: 'value', value: {} }
      const { contextEntry } = target
      const budget = ResponseBudget.forMany()
      const page = await listPage(deps, caller, target, paging, budget)
      const children: EntryView[] = []
      for (const entry of page.children) children.push(await presenter.member(caller, { entry, contextEntry }, budget))
      return { form: 'list', page: { ...page, children } }
    },
    async content(caller, target) {
      return { form: 'members', isVersioned: true, read: order => orderedMembers(database, caller, target, order) }
    },
    /** The body contains the new members in their new order. */
    async write(caller, target, body, conditions) {
      return { entry: await put(caller, target, () => body.json(), conditions) }
    },
    /** Removes all members; they stay in the context. */
    async clear(caller, target, conditions) {
      return await put(caller, target, async () => [], conditions)
    },
    /** The members stay in the context. */
    async remove({ tx }, list) {
      await forgetList(tx, list)
    },
  }
}

/**
 * The members of a list that exist, by their ids. One that is there already keeps its mark: who sends the whole list again does not answer
 * for what others have put in meanwhile.
 */
async function markMembers(
  { tx, caller }: EntryWriter,
  list: EntryAddress,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ListMember>> {
  const { entry: contextEntry } = await getContext(tx, list.context)
  const marked = new Map<string, ListMember>()
  for (const [id, isTrusted] of await trustInMembers(tx, list)) marked.set(id, { id, isTrusted })
  const added = ids.filter(id => !marked.has(id))
  for await (const entry of headsOf(tx, list.context, added)) {
    const { id } = entry
    marked.set(id, { id, isTrusted: may(caller, 'administer', { entry, contextEntry }) })
  }
  return marked
}

function missing(id: string): never {
  throw new InvalidInput('invalid-member', `There is no entry "${id}" in this context.`)
}

/** Longer lists are returned in their own order, because sorting loads every member. */
const MAX_SORTED = 2000

/** Page size for a longer list that is requested without a limit. */
const MAX_PAGE = 500

/** Memory of the id of a member, about. */
const MEMBER_BYTES: Bytes = 40

/** Ids of the members in the requested order. */
async function orderedMembers(
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
async function memberIds(
  { database, cache }: Pick<ListDependencies, 'database' | 'cache'>,
  { context, id }: Entry,
): Promise<readonly string[]> {
  const cached = await cache.get(`list ${context}/${id}`, async () => {
    const value = await listMembers(database, { context, id })
    return { value, subjects: [`${context}/${id}`], bytes: MEMBER_BYTES * value.length }
  })
  return cached ?? (await listMembers(database, { context, id }))
}

export async function listPage(
  deps: Pick<ListDependencies, 'database' | 'cache' | 'loader'>,
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
