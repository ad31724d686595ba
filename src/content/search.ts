import { setImmediate } from 'node:timers/promises'
import { type Caller, isAdmin, isGuest } from '../accounts/caller.ts'
import { GUEST, USERS } from '../accounts/principals.ts'
import type { Bytes } from '../base/units.ts'
import type { Database } from '../stores/database.ts'
import { CONTEXTS, type EntryAddress, principalUri } from './addresses.ts'
import { findEntry } from './entry-records.ts'
import type { EntrySet } from './entry-set.ts'
import { may, type Placed } from './rights.ts'
import { type Facet, type FacetRequest, facetOf } from './search-facets.ts'
import { fieldName, kindOfField } from './search-fields.ts'
import { type Order, pageOf, type Scores } from './search-order.ts'
import { malformed, type Query } from './search-query.ts'
import { indexEntry } from './search-records.ts'
import { Conditions, fieldsOf, readable, type Weight } from './search-select.ts'
import { SearchSets } from './search-sets.ts'
import { latestGeneration, type Reader, sweep, unindexed } from './search-sql.ts'

export interface SearchRequest {
  readonly query: Query
  readonly filters: readonly Query[]
  readonly limit: number
  readonly offset: number
  /** Empty: what fits best first, then what has changed last. */
  readonly order: readonly Order[]
  readonly facets: FacetRequest
  /** Gives the stored form of an IRI that somebody wrote. */
  readonly inside: (iri: string) => string
}

export interface Found {
  /** How many entries there are that fit and that the caller may read. */
  readonly total: number
  readonly hits: readonly Placed[]
  readonly facets: readonly Facet[]
}

const BATCH = 100
const MOST_TEXT_TERMS = 32
/** How often a search begins anew because somebody writes meanwhile. */
const MOST_ATTEMPTS = 3

export interface SearchOptions {
  /** The memory for what searches may use again; 32 MiB by default. */
  readonly room?: Bytes
  /** So few entries are looked at one by one rather than through indexes and sets; 2000 by default. */
  readonly few?: number
}

interface Answer {
  readonly total: number
  readonly page: readonly EntryAddress[]
  readonly facets: readonly Facet[]
}

/** Finding entries by what they say, out of those whose metadata the caller may read (wire facts 3.10). */
export class Search {
  readonly #database: Database
  readonly #sets: SearchSets

  readonly #few: number

  constructor(database: Database, { room = 32 * 2 ** 20, few = 2000 }: SearchOptions = {}) {
    this.#database = database
    this.#few = few
    this.#sets = new SearchSets(database, { room, few })
  }

  async find(caller: Caller, request: SearchRequest): Promise<Found> {
    requireBearable([request.query, ...request.filters])
    for (let attempt = 1; ; attempt++) {
      const generation = await latestGeneration(this.#database)
      const { page, ...answer } = await this.#answer(caller, request, generation)
      // All parts of an answer are of the same time.
      if (attempt < MOST_ATTEMPTS && (await latestGeneration(this.#database)) !== generation) continue
      return { ...answer, hits: await this.#readable(caller, page) }
    }
  }

  async #answer(caller: Caller, request: SearchRequest, generation: number): Promise<Answer> {
    const { query, filters, facets, limit, offset } = request
    const named = ['modified', ...facets.fields, ...request.order.map(({ field }) => field)]
    const fields = await fieldsOf(this.#database, [query, ...filters], named)
    const conditions = new Conditions(fields, request.inside)
    const parts = [readable(readerOf(caller)), ...[query, ...filters].map(part => conditions.of(part))]
    const found = await this.#sets.fulfilling(parts, generation)
    const few = this.#few
    const order = request.order.length === 0 ? [{ field: 'score', descends: true }] : request.order
    const isScored = limit > 0 && order.some(({ field }) => field === 'score')
    const scores = await this.#scores(found, isScored ? conditions.weights(query) : [], generation)
    return {
      total: found.size,
      page: await pageOf(this.#database, found, few, { order, scores, fields, page: { limit, offset } }),
      facets: await Promise.all(
        facets.fields.map(field => facetOf(this.#database, found, field, { request: facets, fields, few })),
      ),
    }
  }

  async #scores(found: EntrySet, weights: readonly Weight[], generation: number): Promise<Scores> {
    const scores: Scores = new Float64Array(weights.length === 0 ? 0 : found.last + 1)
    for (const { condition, weight } of weights) {
      const fitting = await this.#sets.narrow(found, condition, generation)
      for (const doc of fitting.docs()) scores[doc] = (scores[doc] ?? 0) + weight
    }
    return scores
  }

  /** Indexes what the index lacks; before the service answers for the first time. */
  async catchUp(): Promise<void> {
    for (;;) {
      const addresses = await unindexed(this.#database, BATCH)
      if (addresses.length === 0) return
      await this.#database.transaction(async tx => {
        for (const address of addresses) {
          const entry = await findEntry(tx, address)
          if (entry) await indexEntry(tx, entry)
        }
      })
    }
  }

  /** Clears away what deleted contexts have left in the index. */
  async tidy(): Promise<void> {
    while (!(await this.#database.transaction(tx => sweep(tx, BATCH), { durability: 'relaxed' }))) await setImmediate()
  }

  /** What the index says is judged once more by the rules themselves, entry by entry. */
  async #readable(caller: Caller, addresses: readonly EntryAddress[]): Promise<Placed[]> {
    const hits: Placed[] = []
    const contexts = new Map<string, Placed['contextEntry'] | undefined>()
    for (const address of addresses) {
      const entry = await findEntry(this.#database, address)
      if (!contexts.has(address.context)) {
        contexts.set(address.context, await findEntry(this.#database, { context: CONTEXTS, id: address.context }))
      }
      const contextEntry = contexts.get(address.context)
      if (entry && contextEntry && may(caller, 'readmetadata', { entry, contextEntry })) {
        hits.push({ entry, contextEntry })
      }
    }
    return hits
  }
}

/** Each text that is sought may be in every entry; nobody else is served while many such are looked through. */
function requireBearable(queries: readonly Query[]): void {
  const count = (query: Query): number => {
    if (query.kind !== 'clauses') return ['ngram', 'text'].includes(kindOfField(fieldName(query.field)) ?? '') ? 1 : 0
    return [...query.every, ...query.some, ...query.none].reduce((sum, part) => sum + count(part), 0)
  }
  const terms = queries.reduce((sum, query) => sum + count(query), 0)
  if (terms > MOST_TEXT_TERMS) throw malformed(`seeks words or parts of words in more than ${MOST_TEXT_TERMS} terms`)
}

function readerOf(caller: Caller): Reader {
  const everybody = isGuest(caller) ? [GUEST] : [GUEST, USERS]
  const principals = [...everybody, caller.user.id, ...caller.groups].map(principalUri)
  return { principals: isAdmin(caller) ? undefined : principals, userId: caller.user.id }
}
