import type { EntryAddress } from '../../model/addresses.ts'
import type { Caller } from '../../accounts/caller.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { Entry } from '../../model/entry.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import { type EntryInContext, requires } from '../../model/rights.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { DependencyCache } from '../../stores/dependency-cache.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import type { CreationBody } from '../creation-request.ts'
import type { EntryLoader } from '../entry-loader.ts'
import { presentIds } from '../entry-records.ts'
import { forgetList, replaceListMembers } from '../list-records.ts'
import type {
  EntryView,
  Presentation,
  ResourceBody,
  ResourceConditions,
  ResourceContent,
  ResourceKind,
  ResourceView,
  Written,
} from '../resource-kind.ts'
import { distinct, type Read, requireDistinct, requireIds } from '../values.ts'
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
  async complete({ tx }: EntryWriter, { context, id: own }: Entry, { resource }: CreationBody): Promise<void> {
    const ids = [...(await distinct(await requireIds(resource ?? [])))]
    const present = await presentIds(tx, context, ids)
    const members = ids.filter(id => id !== own && present.has(id))
    await replaceListMembers(tx, { context, id: own }, members)
  }

  async view(caller: Caller, target: EntryInContext, { presenter, paging }: Presentation): Promise<ResourceView> {
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
    const members = await requireDistinct(await requireIds(await read()))
    const conditions = { check: changing, precondition }
    return await this.#deps.changes.change(caller, target, conditions, async (list, { tx }) => {
      await requirePresent(tx, list.context, members)
      await replaceListMembers(tx, list, members)
      return list
    })
  }
}

async function requirePresent(tx: Queries, context: string, ids: readonly string[]): Promise<void> {
  const present = await presentIds(tx, context, ids)
  const missing = ids.find(id => !present.has(id))
  if (missing !== undefined) throw new InvalidInput('invalid-member', `There is no entry "${missing}" in this context.`)
}
