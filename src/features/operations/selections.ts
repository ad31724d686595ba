import type { Caller } from '../../accounts/caller.ts'
import { InvalidInput, Overloaded, TooLarge } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { headsOf } from '../../content/entry-records.ts'
import { countListMembers, listMembers, membersBelow, trustedListMembers } from '../../content/list-records.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import { RELATIVE } from '../../graph/graph.ts'
import { type EntryHead, isList } from '../../model/entry.ts'
import { may, requireRight } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import { parseQuery, type Query } from '../search/query.ts'
import type { Search } from '../search/search.ts'
import { type Action, MAX_ENTRIES, type Selection } from './operation.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly search: Search
  readonly system: System
  readonly address: { readonly base: BaseAddress }
}

interface Asked {
  readonly context: string
  readonly contextEntry: EntryHead
  readonly action: Action
  readonly selection: Selection
}

/** Finds the entries of an operation. Whether the caller may change each is checked when its turn comes. */
export class Selections {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * The ids of the entries, each with the copied list that it is in. A copied list comes before what is in it.
   * @throws {TooLarge} `operation-too-large`
   */
  async find(caller: Caller, asked: Asked): Promise<ReadonlyArray<readonly [id: string, list?: string]>> {
    const except = new Set(asked.selection.except)
    const ids = [...new Set(await this.#selected(caller, asked))].filter(id => !except.has(id))
    requireFewer(ids.length)
    return asked.action === 'copy' ? await this.#withMembers(caller, asked, ids) : ids.map(id => [id] as const)
  }

  async #selected(caller: Caller, { context, action, selection }: Asked): Promise<readonly string[]> {
    const { entries, list, query } = selection
    if (entries) return entries
    if (query !== undefined) return await this.#found(caller, context, query)
    const { database, loader } = this.#deps
    const target = await loader.get({ context, entry: list ?? '' })
    requireRight(caller, 'readresource', target, 'read this list')
    if (!isList(target.entry)) throw new InvalidInput('invalid-member', `The entry "${target.entry.id}" is no list.`)
    requireFewer(await countListMembers(database, target.entry))
    // What is in the lists among the members goes with them; but each has tags of its own.
    if (action === 'tag') return (await membersBelow(database, target.entry, 'all')).map(({ id }) => id)
    return await listMembers(database, target.entry)
  }

  async #found(caller: Caller, context: string, text: string): Promise<readonly string[]> {
    const { search, system, address } = this.#deps
    const place = address.base.toAbsolute(RELATIVE + context)
    const inContext: Query = { kind: 'term', field: 'context', parts: [place], isPhrase: true, boost: 1 }
    const { page, total, isComplete } = await search.findAddresses(caller, {
      query: parseQuery(text),
      filters: [inContext],
      limit: MAX_ENTRIES,
      offset: 0,
      order: [{ field: 'modified', descends: true }],
      facets: { fields: [], minCount: 1, limit: 0, missing: false, matches: undefined },
      toRelative: iri => address.base.toRelative(iri),
      toAbsolute: iri => address.base.toAbsolute(iri),
      now: system.now(),
    })
    if (!isComplete)
      throw new Overloaded('The search index is being built, so entries could be missed. Try again later.', 60)
    requireFewer(total)
    return page.map(({ id }) => id)
  }

  /**
   * With all that is in the lists among them, as far as the caller may read these. What somebody added who does not administer it is left
   * out: other people may read the copy.
   */
  async #withMembers(
    caller: Caller,
    { context, contextEntry }: Asked,
    ids: readonly string[],
  ): Promise<ReadonlyArray<readonly [id: string, list?: string]>> {
    const { database } = this.#deps
    const lists = new Map<string, string | undefined>(ids.map(id => [id, undefined]))
    for (let level = ids; level.length > 0; ) {
      const below: string[] = []
      for await (const entry of headsOf(database, context, level)) {
        if (!isList(entry) || !may(caller, 'readresource', { entry, contextEntry })) continue
        for (const member of await trustedListMembers(database, entry)) {
          // What is selected beside the list that it is in is copied once, within that list.
          if (!lists.has(member)) below.push(member)
          lists.set(member, entry.id)
        }
        requireFewer(lists.size)
      }
      level = below
    }
    const depths = new Map<string, number>()
    const depthOf = (id: string): number => {
      const list = lists.get(id)
      const depth = depths.get(id) ?? (list === undefined ? 0 : 1 + depthOf(list))
      depths.set(id, depth)
      return depth
    }
    return [...lists]
      .map(([id, list]) => ({
        depth: depthOf(id),
        entry: list === undefined ? ([id] as const) : ([id, list] as const),
      }))
      .sort((a, b) => a.depth - b.depth)
      .map(({ entry }) => entry)
  }
}

function requireFewer(entries: number): void {
  if (entries <= MAX_ENTRIES) return
  const detail = `${entries} entries are more than the ${MAX_ENTRIES} that one operation changes.`
  throw new TooLarge('operation-too-large', detail, { extra: { limit: MAX_ENTRIES } })
}
