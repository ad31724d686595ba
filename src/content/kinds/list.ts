import type { EntryAddress } from '../../model/addresses.ts'
import type { Caller } from '../../accounts/caller.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { Entry } from '../../model/entry.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import { type EntryInContext, may, requires } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import type { DependencyCache } from '../../stores/dependency-cache.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import type { CreationBody } from '../creation-request.ts'
import type { EntryLoader } from '../entry-loader.ts'
import { getContext } from '../contexts.ts'
import { headsOf } from '../entry-records.ts'
import { forgetList, type ListMember, replaceListMembers, trustInMembers } from '../list-records.ts'
import type {
  EntryView,
  ViewContext,
  ResourceBody,
  ResourceConditions,
  ResourceContent,
  ResourceKind,
  ResourceView,
  Written,
} from '../resource-kind.ts'
import { type Read, requireDistinct, requireIds } from '../values.ts'
import { listPage, orderedMembers } from './list-view.ts'

interface Dependencies {
  readonly database: Database
  readonly cache: DependencyCache
  readonly loader: EntryLoader
  readonly changes: Changes
}

const changing = requires('writeresource', 'change the members of this list')

/** An ordered list of entries of its context (W3.8.5). */
export class ListKind implements ResourceKind {
  readonly isCreatable = true
  readonly #deps: Dependencies
  readonly #showsMembers: boolean

  /** @param options.showsMembers whether the JSON of the entry contains a page of its members */
  constructor(deps: Dependencies, { showsMembers }: { readonly showsMembers: boolean }) {
    this.#deps = deps
    this.#showsMembers = showsMembers
  }

  /** A new list skips ids that are not entries of the context (W3.2.1). */
  async complete(writer: EntryWriter, { context, id: own }: Entry, { resource }: CreationBody): Promise<void> {
    const { tx } = writer
    const ids = [...new Set(requireIds(resource ?? []))]
    const list = { context, id: own }
    const added = await markMembers(writer, list, ids)
    const members = ids.filter(id => id !== own).flatMap(id => added.get(id) ?? [])
    await replaceListMembers(tx, list, members)
  }

  async view(caller: Caller, target: EntryInContext, { presenter, paging }: ViewContext): Promise<ResourceView> {
    if (!this.#showsMembers) return { form: 'value', value: {} }
    const { contextEntry } = target
    const budget = ResponseBudget.forMany()
    const page = await listPage(this.#deps, caller, target, paging, budget)
    const children: EntryView[] = []
    for (const entry of page.children) children.push(await presenter.member(caller, { entry, contextEntry }, budget))
    return { form: 'list', page: { ...page, children } }
  }

  async content(caller: Caller, target: EntryInContext): Promise<ResourceContent> {
    const { database } = this.#deps
    return { form: 'members', isVersioned: true, read: order => orderedMembers(database, caller, target, order) }
  }

  /** The body contains the new members in their new order. */
  async write(
    caller: Caller,
    target: EntryInContext,
    body: ResourceBody,
    conditions: ResourceConditions,
  ): Promise<Written> {
    return { entry: await this.#put(caller, target, () => body.json(), conditions) }
  }

  /** Removes all members; they stay in the context. */
  async clear(caller: Caller, target: EntryInContext, conditions: ResourceConditions): Promise<Entry> {
    return await this.#put(caller, target, async () => [], conditions)
  }

  /** The members stay in the context. */
  async remove({ tx }: EntryWriter, list: EntryAddress): Promise<void> {
    await forgetList(tx, list)
  }

  async #put(
    caller: Caller,
    target: EntryInContext,
    read: Read<unknown>,
    { entry: precondition }: ResourceConditions,
  ): Promise<Entry> {
    changing(caller, target)
    const members = requireDistinct(requireIds(await read()))
    const conditions = { check: changing, precondition }
    return await this.#deps.changes.change(caller, target, conditions, async (list, writer) => {
      const marked = await markMembers(writer, list, members)
      await replaceListMembers(
        writer.tx,
        list,
        members.map(id => marked.get(id) ?? missing(id)),
      )
      return list
    })
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
