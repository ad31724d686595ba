import { setImmediate } from 'node:timers/promises'
import { RE2JS } from 're2js'
import { type Caller, isAdmin, isGuest } from '../accounts/caller.ts'
import { GUEST, USERS } from '../accounts/principals.ts'
import { InvalidInput } from '../base/errors.ts'
import type { Database } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import { CONTEXTS, type EntryAddress, principalUri } from './addresses.ts'
import { findEntry } from './entry-records.ts'
import { may, type Placed } from './rights.ts'
import { fieldName, kindOfField } from './search-fields.ts'
import { malformed, type Query } from './search-query.ts'
import { indexEntry } from './search-records.ts'
import { type Condition, Conditions, type Fields, fieldsOf, joinedBy, valuesOf } from './search-select.ts'
import { type Reader, readableBy, sweep, unindexed } from './search-sql.ts'

export interface Order {
  /** A field, or `score`. */
  readonly field: string
  readonly descends: boolean
}

export interface FacetRequest {
  readonly fields: readonly string[]
  readonly minCount: number
  readonly limit: number
  /** Counts the hits without the field as well. */
  readonly missing: boolean
  /** A regular expression that a value must match as a whole. */
  readonly matches: string | undefined
}

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

export interface Facet {
  readonly name: string
  readonly isUri: boolean
  /** A value that is absent stands for the hits without the field. */
  readonly values: ReadonlyArray<{ readonly value: string | undefined; readonly count: number }>
}

export interface Found {
  /** How many entries there are that fit and that the caller may read. */
  readonly total: number
  readonly hits: readonly Placed[]
  readonly facets: readonly Facet[]
}

/** More hits than this are not put in order one by one where there is another way. */
const MANY = 2000
const BATCH = 100
const MOST_TEXT_TERMS = 32
/** Of so many values those are sought that match an expression. */
const MOST_MATCHED_VALUES = 10_000

/** Hits as a part of a statement: everything from FROM on, up to the order. */
interface Plan {
  readonly from: Sql
  /** The same from the entry changed last backwards, where that gives the first page without having seen all hits. */
  readonly backwards: Sql | undefined
}

/** Finding entries by what they say, out of those whose metadata the caller may read (wire facts 3.10). */
export class Search {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async find(caller: Caller, request: SearchRequest): Promise<Found> {
    const { query, filters, facets, order, limit, offset } = request
    requireBearable([query, ...filters])
    const named = [...facets.fields, ...order.map(({ field }) => field)]
    const fields = await fieldsOf(this.#database, [query, ...filters], named)
    const conditions = new Conditions(fields, request.inside)
    const parts = [query, ...filters].flatMap(part => conditions.conjunction(part))
    const plan = await this.#plan(parts, readableBy(readerOf(caller)))
    const score =
      order.length === 0 || order.some(({ field }) => field === 'score') ? conditions.score(query) : undefined
    const keys = orderOf(order, score, fields)
    const from = (keys === byChange ? plan.backwards : undefined) ?? plan.from
    const page = limit === 0 ? [] : await this.#page(from, keys, limit, offset)
    const isWhole = page.length < limit && (page.length > 0 || offset === 0)
    return {
      total: isWhole ? offset + page.length : await this.#count(plan),
      hits: await this.#readable(caller, page),
      facets: await Promise.all(facets.fields.map(field => this.#facet(plan, field, facets, fields))),
    }
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

  /** Begins with the rarest of the conditions, or without any where even that one is common. */
  async #plan(parts: readonly Condition[], readable: Sql): Promise<Plan> {
    let rarest: { readonly at: number; readonly set: Sql; readonly size: number } | undefined
    for (const [at, { set }] of parts.entries()) {
      if (!set) continue
      const row = await this.#database.get<{ size: number }>(
        sql`SELECT count(*) AS size FROM (SELECT 1 FROM (${set}) LIMIT ${MANY})`,
      )
      const size = row?.size ?? 0
      if (!rarest || size < rarest.size) rarest = { at, set, size }
    }
    const isBroad = !rarest || rarest.size >= MANY
    const all = joinedBy('AND', [...parts.map(({ test }) => test), readable])
    const canWalk = isBroad && parts.every(({ isProbe }) => isProbe)
    const backwards = canWalk
      ? sql`FROM search_entries e INDEXED BY search_entries_by_modified WHERE ${all}`
      : undefined
    if (!rarest) return { backwards, from: sql`FROM search_entries e WHERE ${all}` }
    const { at: first, set } = rarest
    const where = joinedBy('AND', [...parts.filter((_, at) => at !== first).map(({ test }) => test), readable])
    return { backwards, from: sql`FROM (${set}) found CROSS JOIN search_entries e ON e.doc = found.doc WHERE ${where}` }
  }

  async #page(from: Sql, order: Sql, limit: number, offset: number): Promise<EntryAddress[]> {
    return await this.#database.all<EntryAddress>(
      sql`SELECT e.context, e.id ${from} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`,
    )
  }

  async #count(plan: Plan): Promise<number> {
    return (await this.#database.get<{ n: number }>(sql`SELECT count(*) AS n ${plan.from}`))?.n ?? 0
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

  async #facet(plan: Plan, field: string, request: FacetRequest, fields: Fields): Promise<Facet> {
    const kind = kindOfField(fieldName(field))
    const pairs = valuesOf(field, fields)
    const named = { name: field, isUri: kind === 'uri' }
    const hits = sql`SELECT e.doc ${plan.from}`
    const shown = request.matches === undefined ? request.limit : MOST_MATCHED_VALUES
    const rows = pairs
      ? await this.#database.all<{ value: string | number; count: number }>(sql`SELECT v.value, count(*) AS count
          FROM (${hits}) h JOIN (${pairs}) v ON v.doc = h.doc
          GROUP BY v.value HAVING count(*) >= ${Math.max(request.minCount, 1)}
          ORDER BY count DESC, v.value LIMIT ${shown}`)
      : []
    const values = rows
      .map(({ value, count }) => ({ value: kind === 'date' ? new Date(value).toISOString() : String(value), count }))
      .filter(matching(request.matches))
      .slice(0, request.limit)
    if (!request.missing) return { ...named, values }
    const row = await this.#database.get<{ n: number }>(
      pairs
        ? sql`SELECT count(*) AS n FROM (${hits}) WHERE doc NOT IN (SELECT doc FROM (${pairs}))`
        : sql`SELECT count(*) AS n FROM (${hits})`,
    )
    return { ...named, values: [...values, { value: undefined, count: row?.n ?? 0 }] }
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

function matching(expression: string | undefined): (of: { readonly value: string }) => boolean {
  if (expression === undefined) return () => true
  try {
    const compiled = RE2JS.compile(expression)
    return ({ value }) => compiled.matches(value)
  } catch (error) {
    throw new InvalidInput('invalid-query', '`facetMatches` is not a regular expression.', { cause: error })
  }
}

function readerOf(caller: Caller): Reader {
  const everybody = isGuest(caller) ? [GUEST] : [GUEST, USERS]
  const principals = [...everybody, caller.user.id, ...caller.groups].map(principalUri)
  return { principals: isAdmin(caller) ? undefined : principals, userId: caller.user.id }
}

/** What has changed last comes first. */
const byChange = sql`e.modified DESC, e.doc DESC`

function orderOf(order: readonly Order[], score: Sql | undefined, fields: Fields): Sql {
  const asked: readonly Order[] = order.length === 0 ? [{ field: 'score', descends: true }] : order
  const keys = asked.flatMap(({ field, descends }) => {
    const key = field === 'score' ? score : sortKeyOf(field, fields)
    if (!key || (field === 'modified' && descends && asked.length === 1)) return []
    // Entries without the field stand last in either direction.
    return [descends ? sql`${key} DESC NULLS LAST` : sql`${key} ASC NULLS LAST`]
  })
  return keys.length === 0 ? byChange : joinedBy(',', [...keys, byChange])
}

function sortKeyOf(field: string, fields: Fields): Sql | undefined {
  if (field === 'modified') return sql`e.modified`
  const kind = kindOfField(fieldName(field))
  const number = fields.numberOf(field)
  if (number === undefined || kind === undefined) return undefined
  return kind === 'date' || kind === 'integer'
    ? sql`(SELECT min(value) FROM search_numbers WHERE doc = e.doc AND field = ${number})`
    : sql`(SELECT min(value) FROM search_strings WHERE doc = e.doc AND field = ${number})`
}
