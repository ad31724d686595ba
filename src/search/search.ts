import { setImmediate } from 'node:timers/promises'
import { type Caller, isAdmin, isGuest } from '../accounts/caller.ts'
import { GUEST, USERS } from '../accounts/users.ts'
import type { Database } from '../stores/database.ts'
import { CONTEXTS, type EntryAddress, principalUri } from '../model/addresses.ts'
import type { Entry, EntryHead } from '../model/entry.ts'
import { ResponseBudget } from '../model/response-budget.ts'
import { type Access, accessOf, type EntryInContext } from '../model/rights.ts'
import type { Facet, Reader, SearchRequest } from './engine.ts'
import { Finder } from './finder.ts'
import { sweepIndex } from './index-records.ts'
import { requireAffordable } from './query-to-sql.ts'

/** Where the search reads its hits, to check each against its access list. `content/` implements it. */
interface HitSource {
  /** Without its graphs if they exceed the budget. */
  toShow(address: EntryAddress, budget: ResponseBudget): Promise<Entry | undefined>
  head(address: EntryAddress): Promise<EntryHead | undefined>
}

/** A hit, and what the caller may do with it: decided once, when the database has found it. */
export interface Hit extends EntryInContext {
  readonly access: Access
}

export interface Found {
  /** The number of matching entries that the caller may read. */
  readonly total: number
  readonly hits: readonly Hit[]
  readonly facets: readonly Facet[]
  /** False while entries are missing in the index. */
  readonly isComplete: boolean
}

/** Finds entries among those whose metadata the caller may read (W3.10). */
export class Search {
  readonly #database: Database
  readonly #hits: HitSource
  readonly #finder: Finder

  constructor(database: Database, hits: HitSource) {
    this.#database = database
    this.#hits = hits
    this.#finder = new Finder(database)
  }

  /** @param budget limits the size of the loaded hits. */
  async find(caller: Caller, request: SearchRequest, budget = ResponseBudget.forMany()): Promise<Found> {
    requireAffordable([request.query, ...request.filters])
    const { page, ...found } = await this.#finder.answer(readerOf(caller), request)
    return { ...found, hits: await this.#readable(caller, page, budget) }
  }

  /** Deletes what removed entries left in the index. */
  async tidy(): Promise<void> {
    while (await this.#database.transaction(sweepIndex, { durability: 'relaxed' })) await setImmediate()
  }

  /** Checks each hit of the index again with `rights.ts`. */
  async #readable(caller: Caller, addresses: readonly EntryAddress[], budget: ResponseBudget): Promise<Hit[]> {
    const hits: Hit[] = []
    const contexts = new Map<string, EntryInContext['contextEntry'] | undefined>()
    for (const address of addresses) {
      const entry = await this.#hits.toShow(address, budget)
      if (!contexts.has(address.context)) {
        const contextAddress = { context: CONTEXTS, id: address.context }
        contexts.set(address.context, await this.#hits.head(contextAddress))
      }
      const contextEntry = contexts.get(address.context)
      if (!entry || !contextEntry) continue
      const access = accessOf(caller, { entry, contextEntry })
      if (access.readsMetadata) hits.push({ entry, contextEntry, access })
    }
    return hits
  }
}

function readerOf(caller: Caller): Reader {
  const everybody = isGuest(caller) ? [GUEST] : [GUEST, USERS]
  const principals = [...everybody, caller.user.id, ...caller.groups].map(principalUri)
  const contexts = caller.grant?.contexts
  return { principals: isAdmin(caller) ? undefined : principals, userId: caller.user.id, contexts }
}
