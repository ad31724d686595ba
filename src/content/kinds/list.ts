import type { EntryAddress } from '../../model/addresses.ts'
import type { Caller } from '../../accounts/caller.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { Entry } from '../../model/entry.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import { type EntryInContext, letContextIn, may, requireMayLeave, requires } from '../../model/rights.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { DependencyCache } from '../../stores/dependency-cache.ts'
import { nameIn } from '../change-events.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import type { EntryLoader } from '../entry-loader.ts'
import { getContext } from '../contexts.ts'
import { headsOf, sortableEntriesInList } from '../entry-records.ts'
import { emptyList, foldersInside, setMembers } from '../access-scopes.ts'
import { type ListMember, listMembers, trustInMembers } from '../list-records.ts'
import type { EntryView, ResourceConditions, ResourceKind, ResourceReads } from '../resource-kind.ts'
import { type Read, requireDistinct, requireIds } from '../values.ts'
import type { Bytes } from '../../base/units.ts'
import { findFile } from '../../files/file-records.ts'
import { isOwnOrder, type ListPage, type Order, pageOf, type Paging, sorted, titleOf } from '../../model/list-order.ts'

export interface ListReadDependencies {
  readonly database: Database
  readonly cache: DependencyCache
  readonly loader: EntryLoader
}

const changing = requires('writeresource', 'change the members of this list')

/** @param options.showsMembers whether the JSON of the entry contains a page of its members */
export const listReads = (
  deps: ListReadDependencies,
  { showsMembers }: { readonly showsMembers: boolean },
): ResourceReads => ({
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
    return { form: 'members', isVersioned: true, read: order => orderedMembers(deps.database, caller, target, order) }
  },
})

/** An ordered list of entries of its context (W3.8.5). */
export function listKind(changes: Changes, reads: ResourceReads): ResourceKind {
  const put = async (
    caller: Caller,
    target: EntryInContext,
    read: Read<unknown>,
    { entry: precondition }: ResourceConditions,
  ): Promise<Entry> => {
    changing(caller, target)
    const members = requireDistinct(requireIds(await read()))
    const conditions = { check: changing, precondition }
    return await changes.change(caller, target, conditions, async (list, writer, { contextEntry }) => {
      const before = await listMembers(writer.tx, list)
      await requireMayRemove(writer, { entry: list, contextEntry }, members)
      const marked = await markMembers(writer, list, members)
      await setMembers(
        writer,
        list,
        members.map(id => marked.get(id) ?? missing(id)),
      )
      await recordMembers(writer, list, before, members)
      return list
    })
  }
  return {
    ...reads,
    isCreatable: true,
    /** A new list skips ids that are not entries of the context (W3.2.1). */
    async complete(writer, list, { resource }) {
      const own = list.id
      const ids = [...new Set(requireIds(resource ?? []))]
      const added = await markMembers(writer, list, ids)
      const members = ids.filter(id => id !== own).flatMap(id => added.get(id) ?? [])
      await setMembers(writer, list, members)
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
    async remove(writer, list) {
      await emptyList(writer, list)
    },
  }
}

/**
 * The existing members of a list, by their ids. An entry that is in the list already keeps its mark: a caller who sends the whole list
 * again does not vouch for members that others have added meanwhile.
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

/** An entry that leaves a closed folder may become readable for more people, so only users who administer the entry may remove it. */
async function requireMayRemove(
  { tx, caller }: EntryWriter,
  { entry: list, contextEntry }: EntryInContext,
  kept: readonly string[],
): Promise<void> {
  if (letContextIn(foldersInside(list))) return
  const staying = new Set(kept)
  const removed = (await listMembers(tx, list)).filter(id => !staying.has(id))
  for await (const entry of headsOf(tx, list.context, removed)) requireMayLeave(caller, { entry, contextEntry })
}

/** Of more entries that leave or join a list with one request, the audit log has only the number. */
const MAX_NAMED = 20

/** Writes to the audit log which entries have left a list, and which have joined it. */
async function recordMembers(
  writer: EntryWriter,
  list: Entry,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const { context, id } = list
  const [known, present] = [new Set(before), new Set(after)]
  const place = `${context}/${id}`
  const at = (ids: readonly string[]) => ids.map(id => ({ context, id }))
  const removed = at(before.filter(id => !present.has(id)))
  const added = at(after.filter(id => !known.has(id)))
  if (removed.length + added.length <= MAX_NAMED) {
    await writer.recordMoves(removed, place, context)
    await writer.recordMoves(added, context, place)
    return
  }
  const detail = { context, entry: id, ...nameIn(list), added: added.length, removed: removed.length }
  writer.record({ event: 'list-changed', detail })
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
  { database, cache }: Pick<ListReadDependencies, 'database' | 'cache'>,
  { context, id }: Entry,
): Promise<readonly string[]> {
  const cached = await cache.get(`list ${context}/${id}`, async () => {
    const value = await listMembers(database, { context, id })
    return { value, subjects: [`${context}/${id}`], bytes: MEMBER_BYTES * value.length }
  })
  return cached ?? (await listMembers(database, { context, id }))
}

export async function listPage(
  deps: ListReadDependencies,
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
