import { setImmediate } from 'node:timers/promises'
import { type Caller, isAdmin, isGuest } from '../accounts/caller.ts'
import { GUEST, USERS } from '../accounts/principals.ts'
import type { Bytes } from '../base/units.ts'
import type { Database } from '../stores/database.ts'
import { CONTEXTS, type EntryAddress, principalUri } from '../model/addresses.ts'
import { ResponseBudget } from '../model/response-budget.ts'
import { type Access, accessOf, type EntryInContext } from '../model/rights.ts'
import { requireAffordable } from './cost.ts'
import type { Facet, Finder, Reader, SearchRequest } from './engine.ts'
import type { HitSource } from './entry-source.ts'
import { sweep } from './index-records.ts'
import { PostgresFinder } from './postgres-finder.ts'
import { SqliteFinder } from './sqlite-finder.ts'
import { SqliteMerging } from './sqlite-merging.ts'

/** A hit, and what the caller may do with it: decided once, when the engine has found it. */
export interface Hit extends EntryInContext {
  readonly access: Access
}

export interface Found {
  /** The number of matching entries that the caller may read. */
  readonly total: number
  readonly hits: readonly Hit[]
  readonly facets: readonly Facet[]
}

const BATCH = 100

export interface SearchOptions {
  /** The memory for cached sets of entries; 32 MiB by default. PostgreSQL has its own cache. */
  readonly maxBytes?: Bytes
  /** Up to this number of entries, each is tested without indexes and sets; 2000 by default. */
  readonly scanThreshold?: number
  /**
   * The revision of the database at the beginning of a search, where it is known and the database asks the engine for each; otherwise the
   * search looks twice which changes the index has.
   */
  readonly revision?: () => number | undefined
}

/** Finds entries among those whose metadata the caller may read (W3.10). */
export class Search {
  readonly #database: Database
  readonly #hits: HitSource
  readonly #finder: Finder
  readonly #merging: SqliteMerging | undefined

  constructor(
    database: Database,
    hits: HitSource,
    { maxBytes = 32 * 2 ** 20, scanThreshold = 2000, revision = () => undefined }: SearchOptions = {},
  ) {
    this.#database = database
    this.#hits = hits
    this.#finder =
      database.engine === 'postgres'
        ? new PostgresFinder(database)
        : new SqliteFinder(database, { maxBytes, scanThreshold, revision })
    this.#merging = database.engine === 'sqlite' ? new SqliteMerging(database) : undefined
  }

  /** @param budget limits the size of the loaded hits. */
  async find(caller: Caller, request: SearchRequest, budget = ResponseBudget.forMany()): Promise<Found> {
    requireAffordable([request.query, ...request.filters])
    const { page, total, facets } = await this.#finder.answer(readerOf(caller), request)
    return { total, facets, hits: await this.#readable(caller, page, budget) }
  }

  /** Deletes what removed contexts left in the index, and merges what many writes left in parts. */
  async tidy(): Promise<void> {
    while (!(await this.#database.transaction(tx => sweep(tx, BATCH), { durability: 'relaxed' }))) await setImmediate()
    await this.#merging?.run()
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
