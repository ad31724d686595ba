import { isAdmin } from '../../accounts/caller-guards.ts'
import { type Caller, isGuest } from '../../accounts/caller.ts'
import { GUEST, USERS } from '../../accounts/users.ts'
import type { Database } from '../../stores/database.ts'
import { CONTEXTS, type EntryAddress, principalUri } from '../../model/addresses.ts'
import type { Entry, EntryHead } from '../../model/entry.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import type { Hit } from '../../content/entry-view.ts'
import { accessOf, type EntryInContext } from '../../model/rights.ts'
import { dialects } from '../../search/dialects.ts'
import type { Dialect } from '../../search/engine.ts'
import type { Facet, FacetRequest, Hits, Order, Reader, SearchRequest } from './request.ts'
import {
  Conditions,
  fieldNames,
  joined,
  readableBy,
  requireAffordable,
  requireFields,
  valuesOf,
  type Weight,
} from './query-to-sql.ts'
import { scan, scannedFields } from './value-scan.ts'
import { LRUCache } from 'lru-cache'
import type { Bytes } from '../../base/units.ts'
import { RELATIVE } from '../../graph/graph.ts'
import { listed, type Sql, sql } from '../../stores/sql.ts'
import { fieldName, kindOfField } from '../../search/fields.ts'
import { predicateHash } from '../../search/index-fields.ts'

/** The parts of a response, in JSON. */
interface Row {
  readonly total: number
  /** Pairs of context and id. */
  readonly page: string
  /** For each facet the hits without the field, and pairs of a value and its hits. */
  readonly facets: string
  readonly is_complete: number
}

/** The number of hits without a field, and pairs of a value and its number of hits. */
type Counts = readonly [missing: number, counts: ReadonlyArray<readonly [value: string | number, count: number]>]

/** Maximum number of values compared with a pattern. */
const MAX_MATCHED_VALUES = 10_000
const MAX_CACHE: Bytes = 4 * 2 ** 20

type KeyOf = (field: string) => Sql

/** Answers requests from the index with one statement, so that all parts reflect the same state. */
class Finder {
  readonly #database: Database
  readonly #dialect: Dialect
  /** The responses to the latest statements, which are good until anything is committed. */
  readonly #latest = new LRUCache<string, Row>({
    maxSize: MAX_CACHE,
    sizeCalculation: ({ page, facets }, key) => 2 * (key.length + page.length + facets.length),
  })
  #revision: number | undefined

  constructor(database: Database) {
    this.#database = database
    this.#dialect = dialects[database.engine]
  }

  async answer(reader: Reader, request: SearchRequest): Promise<Hits> {
    const { query, filters, toRelative, toAbsolute, limit, offset, facets, now } = request
    const keyOf = await this.#keys(request)
    const scanned = await scan(this.#database, this.#dialect, { keyOf, toAbsolute }, [query, ...filters])
    const conditions = new Conditions(this.#dialect, { keyOf, toRelative, scanned, now })
    const isHit = [readableBy(reader, this.#dialect), ...[query, ...filters].map(part => conditions.of(part))]
    const order = request.order.length === 0 ? [{ field: 'score', descends: true }] : request.order
    const weights = order.some(({ field }) => field === 'score') ? conditions.weights(query) : []
    const page = sql`(SELECT e.context, e.id FROM hits e ORDER BY ${orderOf(order, keyOf)} LIMIT ${limit} OFFSET ${offset}) p`
    const counts = facets.fields.map(field => this.#counts(field, keyOf, facets))
    const row = await this.#ask(sql`WITH hits AS MATERIALIZED (
        SELECT e.doc, e.context, e.id, e.created, e.modified, ${scoreOf(weights)} AS score
        FROM search_entries e WHERE ${joined('AND', isHit)}
      )
      SELECT (SELECT count(*) FROM hits) AS total,
        ${this.#dialect.jsonRows([sql`p.context`, sql`p.id`], page)} AS page,
        ${this.#dialect.jsonArray(counts)} AS facets,
        (SELECT is_complete FROM search_state) AS is_complete`)
    if (!row) throw new Error('the search returned no row')
    const addresses = JSON.parse(row.page) as ReadonlyArray<readonly [string, string]>
    const counted = JSON.parse(row.facets) as readonly Counts[]
    return {
      total: row.total,
      page: addresses.map(([context, id]): EntryAddress => ({ context, id })),
      facets: facets.fields.map((field, at) => describeFacet(field, facets, counted[at] ?? [0, []])),
      isComplete: row.is_complete === 1,
    }
  }

  /** On PostgreSQL the revision does not count the commits of other nodes. */
  async #ask(statement: Sql): Promise<Row | undefined> {
    const { engine, revision } = this.#database
    if (engine !== 'sqlite' || revision === undefined) return await this.#database.get<Row>(statement)
    if (revision !== this.#revision) this.#latest.clear()
    this.#revision = revision
    const key = `${statement.parts.join('?')} ${JSON.stringify(statement.values)}`
    const known = this.#latest.get(key)
    if (known) return known
    const row = await this.#database.get<Row>(statement)
    if (row && this.#database.revision === revision) this.#latest.set(key, row)
    return row
  }

  /**
   * A query names a predicate by the hash of its IRI. The index keeps IRIs under the base address in relative form, because otherwise their
   * hash would change with that address.
   */
  async #keys({ query, filters, facets, order, toAbsolute }: SearchRequest): Promise<KeyOf> {
    const relative = new Map<string, string>()
    const asked = [query, ...filters]
    const others = [...facets.fields, ...order.map(({ field }) => field), ...scannedFields(asked)].map(fieldName)
    for (const name of new Set([...fieldNames(asked), ...others])) {
      const [, start, hash] = /^(metadata\.predicate\.[a-z_]+\.)([0-9a-f]{8})$/.exec(name) ?? []
      if (start === undefined) continue
      const rows = await this.#database.all<{ name: string }>(this.#dialect.fieldsUnder(start + RELATIVE))
      const meant = rows.find(({ name }) => predicateHash(toAbsolute(name.slice(start.length))) === hash)
      if (meant) relative.set(name, meant.name)
    }
    return field => this.#dialect.fieldKey(relative.get(fieldName(field)) ?? fieldName(field))
  }

  /** The number of hits without the field, and pairs of a value and its number of hits. */
  #counts(field: string, keyOf: KeyOf, { limit, minCount, matches, missing }: FacetRequest): Sql {
    const { jsonArray, jsonRows } = this.#dialect
    const all = sql`(SELECT count(*) FROM hits)`
    const values = valuesOf(field, keyOf(field), this.#dialect)
    if (!values) return jsonArray([all, jsonArray([])])
    // A join, because PostgreSQL expects few different values in a subquery, and would look up each hit by itself.
    const ofHits = sql`FROM (${values}) v JOIN hits h ON h.doc = v.doc`
    const counts = sql`(SELECT v.value, count(*) AS count ${ofHits}
      GROUP BY v.value HAVING count(*) >= ${Math.max(minCount, 1)}
      ORDER BY count(*) DESC, v.value LIMIT ${matches === undefined ? limit : MAX_MATCHED_VALUES}) c`
    const without = missing ? sql`${all} - (SELECT count(DISTINCT v.doc) ${ofHits})` : sql`0`
    return jsonArray([without, jsonRows([sql`c.value`, sql`c.count`], counts)])
  }
}

const scoreOf = (weights: readonly Weight[]): Sql =>
  weights
    .map(({ condition, weight }) => sql`CASE WHEN ${condition} THEN CAST(${weight} AS DOUBLE PRECISION) ELSE 0 END`)
    .reduce((sum, one) => sql`${sum} + ${one}`, sql`CAST(0 AS DOUBLE PRECISION)`)

function orderOf(order: readonly Order[], keyOf: KeyOf): Sql {
  const keys = order.flatMap(({ field, descends }) => {
    const key = field === 'score' ? sql`e.score` : sortKeyOf({ field, descends }, keyOf)
    // Entries without the field come last in either direction.
    if (!key) return []
    return [descends ? sql`${key} DESC NULLS LAST` : sql`${key} ASC NULLS LAST`]
  })
  return listed([...keys, sql`e.modified DESC`, sql`e.doc DESC`])
}

/** For an entry with several values, the value that comes first in this direction. */
function sortKeyOf({ field, descends }: Order, keyOf: KeyOf): Sql | undefined {
  if (field === 'created') return sql`e.created`
  if (field === 'modified') return sql`e.modified`
  const kind = kindOfField(fieldName(field))
  if (field === 'lists' || kind === undefined) return undefined
  const one = descends ? sql`max(value)` : sql`min(value)`
  const table = kind === 'date' || kind === 'integer' ? sql`search_numbers` : sql`search_strings`
  return sql`(SELECT ${one} FROM ${table} WHERE field = ${keyOf(field)} AND doc = e.doc)`
}

/** The facet as it is returned: the values that the request asks for, the most frequent first. */
function describeFacet(field: string, { limit, matches, ...request }: FacetRequest, [missing, counts]: Counts): Facet {
  const kind = kindOfField(fieldName(field))
  const shown: Facet['values'][number][] = []
  for (const [value, count] of counts) {
    const text = kind === 'date' ? new Date(value).toISOString() : String(value)
    if (shown.length === limit) break
    if (matches?.matches(text) ?? true) shown.push({ value: text, count })
  }
  if (request.missing) shown.push({ value: undefined, count: missing })
  return { name: field, isUri: kind === 'uri', values: shown }
}

/** Where the search reads its hits, to check each against its access list. */
interface HitSource {
  /** Without its graphs if they exceed the budget. */
  toShow(address: EntryAddress, budget: ResponseBudget): Promise<Entry | undefined>
  head(address: EntryAddress): Promise<EntryHead | undefined>
}

export interface Found extends Omit<Hits, 'page'> {
  readonly hits: readonly Hit[]
}

/** Finds entries among those whose metadata the caller may read (W3.10). */
export class Search {
  readonly #hits: HitSource
  readonly #finder: Finder

  constructor(database: Database, hits: HitSource) {
    this.#hits = hits
    this.#finder = new Finder(database)
  }

  /** @param budget limits the size of the loaded hits. */
  async find(caller: Caller, request: SearchRequest, budget = ResponseBudget.forMany()): Promise<Found> {
    const { page, ...found } = await this.findAddresses(caller, request)
    return { ...found, hits: await this.#readable(caller, page, budget) }
  }

  /** Only where the hits are. Rights on each are checked again when it is used. */
  async findAddresses(caller: Caller, request: SearchRequest): Promise<Hits> {
    const { query, filters, facets, order } = request
    requireFields([query, ...filters], facets.fields, order)
    requireAffordable([query, ...filters], facets.fields, order)
    return await this.#finder.answer(readerOf(caller), request)
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
  const principals = [...new Set([...everybody, caller.user.id, ...caller.groups])].map(principalUri)
  const contexts = caller.grant?.contexts
  const known = caller.acquaintances && [...caller.acquaintances]
  const acquaintances = known && { ids: [...known, ...caller.groups], groups: known }
  return { principals: isAdmin(caller) ? undefined : principals, userId: caller.user.id, contexts, acquaintances }
}
