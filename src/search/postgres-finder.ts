import type { Database } from '../stores/database.ts'
import { listed, type Sql, sql } from '../stores/sql.ts'
import type { EntryAddress } from '../model/addresses.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { findFieldsUnder, hasField } from './postgres-index.ts'
import type { FacetRequest, Finder, Hits, Order, Reader, SearchRequest } from './engine.ts'
import { type Counts, describeFacet, MAX_MATCHED_VALUES } from './facets.ts'
import { fieldName } from './fields.ts'
import { sortKey } from './order.ts'
import {
  type Condition,
  Conditions,
  fieldNames,
  type Fields,
  findRelative,
  readable,
  valuesOf,
  type Weight,
} from './query-to-sql.ts'

interface Row {
  readonly total: number
  /** JSON: pairs of context and id. The facets are JSON too. */
  readonly page: string | null
  readonly facets: string
}

/** Answers with one statement: page, count and facets reflect the same state, and the hits are computed once. */
export class PostgresFinder implements Finder {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async answer(reader: Reader, request: SearchRequest): Promise<Hits> {
    const { query, filters, toRelative, order, limit, offset, facets } = request
    const fields = await this.#fields(request)
    const conditions = new Conditions(fields, toRelative, postgresDialect)
    const parts = [readable(reader, postgresDialect), ...[query, ...filters].map(part => conditions.of(part))]
    const keys = order.length === 0 ? [{ field: 'score', descends: true }] : order
    const weights = keys.some(({ field }) => field === 'score') ? conditions.weights(query) : []
    const row = await this.#database.get<Row>(sql`WITH hits AS MATERIALIZED (
        SELECT e.doc, e.context, e.id, e.modified, ${scoreOf(weights)} AS score
        FROM search_entries e WHERE ${joined('AND', parts.map(testOf))}
      )
      SELECT (SELECT count(*) FROM hits) AS total,
        (SELECT json_agg(json_build_array(p.context, p.id) ORDER BY p.place) FROM (
          SELECT e.context, e.id, row_number() OVER (ORDER BY ${orderOf(keys, fields)}) AS place
          FROM hits e ORDER BY place LIMIT ${limit} OFFSET ${offset}
        ) p) AS page,
        json_build_array(${listed(facets.fields.map(field => countsOf(field, fields, facets)))}) AS facets`)
    if (!row) throw new Error('the search returned no row')
    const page = JSON.parse(row.page ?? '[]') as ReadonlyArray<readonly [string, string]>
    const counts = JSON.parse(row.facets) as readonly Counts[]
    return {
      total: row.total,
      page: page.map(([context, id]): EntryAddress => ({ context, id })),
      facets: facets.fields.map((field, at) => describeFacet(field, facets, counts[at] ?? { counted: [], missing: 0 })),
    }
  }

  /** The key of a field is its name, whether or not any entry has it. */
  async #fields({ query, filters, facets, order, toAbsolute }: SearchRequest): Promise<Fields> {
    const others = [...facets.fields, ...order.map(({ field }) => field)].map(fieldName)
    const relative = new Map<string, string>()
    for (const name of [...fieldNames([query, ...filters]), ...others]) {
      const meant = await findRelative(name, start => findFieldsUnder(this.#database, start), toAbsolute)
      if (meant !== undefined && !(await hasField(this.#database, name))) relative.set(name, meant)
    }
    return { keyOf: field => relative.get(fieldName(field)) ?? fieldName(field) }
  }
}

/** Whether `e` matches the condition. */
function testOf(condition: Condition): Sql {
  if (condition.kind === 'leaf') return condition.test
  const { must, should, mustNot } = condition
  const either = should.length === 0 ? [] : [sql`(${joined('OR', should.map(testOf))})`]
  return sql`(${joined('AND', [...must.map(testOf), ...either, ...mustNot.map(part => sql`NOT ${testOf(part)}`)])})`
}

const joined = (operator: 'AND' | 'OR', parts: readonly Sql[]): Sql =>
  parts.length === 0
    ? sql`TRUE`
    : parts.reduce((all, one) => (operator === 'AND' ? sql`${all} AND ${one}` : sql`${all} OR ${one}`))

const scoreOf = (weights: readonly Weight[]): Sql =>
  weights
    .map(
      ({ condition, weight }) =>
        sql`CASE WHEN ${testOf(condition)} THEN CAST(${weight} AS DOUBLE PRECISION) ELSE 0 END`,
    )
    .reduce((sum, one) => sql`${sum} + ${one}`, sql`CAST(0 AS DOUBLE PRECISION)`)

function orderOf(order: readonly Order[], fields: Fields): Sql {
  const keys = order.flatMap(({ field, descends }) => {
    const key = field === 'score' ? sql`e.score` : sortKey({ field, descends }, fields)
    // Entries without the field come last in either direction.
    if (!key) return []
    return [descends ? sql`${key} DESC NULLS LAST` : sql`${key} ASC NULLS LAST`]
  })
  return listed([...keys, sql`e.modified DESC`, sql`e.doc DESC`])
}

/** A {@link Counts} as JSON. */
function countsOf(field: string, fields: Fields, { limit, minCount, matches, missing }: FacetRequest): Sql {
  const pairs = valuesOf(field, fields, postgresDialect)
  const all = sql`(SELECT count(*) FROM hits)`
  if (!pairs) return sql`json_build_object('counted', json_build_array(), 'missing', ${all})`
  const without = missing
    ? sql`${all} - (SELECT count(DISTINCT h.doc) FROM hits h JOIN (${pairs}) v ON v.doc = h.doc)`
    : sql`0`
  return sql`json_build_object(
    'counted', (SELECT coalesce(json_agg(json_build_object('value', c.value, 'count', c.count)), json_build_array()) FROM (
      SELECT v.value, count(*) AS count FROM hits h JOIN (${pairs}) v ON v.doc = h.doc
      GROUP BY v.value HAVING count(*) >= ${Math.max(minCount, 1)}
      ORDER BY count(*) DESC, v.value LIMIT ${matches === undefined ? limit : MAX_MATCHED_VALUES}
    ) c),
    'missing', ${without})`
}
