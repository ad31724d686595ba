import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { DocBitmap, numbersOf } from './doc-bitmap.ts'
import type { Facet, FacetRequest } from './engine.ts'
import { fieldName, kindOfField } from './fields.ts'
import { type Fields, firstValues, hasValue, valuesOf } from './query-to-sql.ts'
import type { ConditionSets } from './condition-sets.ts'
import { sqliteDialect } from './sqlite-dialect.ts'

/** At most this number of values is compared with a pattern. */
export const MAX_MATCHED_VALUES = 10_000

/** No sets are cached for a field with more values than this. */
const MAX_SETS = 100

export interface Counted {
  readonly value: string | number
  readonly count: number
}

/** What counting needs. */
export interface Counting {
  readonly queries: Queries
  readonly sets: ConditionSets
  readonly fields: Fields
  readonly scanThreshold: number
  readonly generation: number
}

/** Counts the values of a field over all hits. */
export async function facetOf(
  hits: DocBitmap,
  field: string,
  request: FacetRequest,
  counting: Counting,
): Promise<Facet> {
  const counts = (await countBySets(hits, field, counting)) ?? (await countByRows(hits, field, counting))
  return describeFacet(field, request, counts)
}

/** The facet as it is returned: the values that the request asks for, the most frequent first. */
export function describeFacet(field: string, request: FacetRequest, { counted, missing }: Counts): Facet {
  const kind = kindOfField(fieldName(field))
  const values = counted
    .filter(({ count }) => count >= Math.max(request.minCount, 1))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .map(({ value, count }) => ({ value: kind === 'date' ? new Date(value).toISOString() : String(value), count }))
  const shown: Facet['values'][number][] = []
  for (const value of request.matches === undefined ? values : values.slice(0, MAX_MATCHED_VALUES)) {
    if (shown.length === request.limit) break
    if (request.matches?.matches(value.value) ?? true) shown.push(value)
  }
  if (request.missing) shown.push({ value: undefined, count: missing })
  return { name: field, isUri: kind === 'uri', values: shown }
}

export interface Counts {
  readonly counted: readonly Counted[]
  /** Hits without the field. */
  readonly missing: number
}

/** For many hits and few values: the set of entries with each value is cached. */
async function countBySets(
  hits: DocBitmap,
  field: string,
  { queries, sets, fields, scanThreshold, generation }: Counting,
): Promise<Counts | undefined> {
  const number = fields.keyOf(field)
  const kind = kindOfField(fieldName(field))
  if (hits.size <= scanThreshold || number === undefined || (kind !== 'string' && kind !== 'uri')) return undefined
  const values = await firstValues(queries, number, MAX_SETS + 1)
  if (values.length > MAX_SETS) return undefined
  const counted: Counted[] = []
  let rest = hits
  for (const value of values) {
    const having = await sets.narrow(hits, hasValue(number, value, sqliteDialect), generation)
    if (having.size > 0) counted.push({ value, count: having.size })
    rest = rest.without(having)
  }
  return { counted, missing: rest.size }
}

async function countByRows(
  hits: DocBitmap,
  field: string,
  { queries, fields, scanThreshold }: Counting,
): Promise<Counts> {
  const pairs = valuesOf(field, fields, sqliteDialect)
  if (!pairs) return { counted: [], missing: hits.size }
  // For a few hits their values are looked up; for many, a scan of all values is faster.
  const asked =
    hits.size > scanThreshold
      ? pairs
      : sql`SELECT v.doc, v.value FROM json_each(${JSON.stringify(hits.docs())}) h
          CROSS JOIN (${pairs}) v ON v.doc = h.value`
  const rows = await queries.all<{ value: string | number; docs: string }>(
    sql`SELECT value, group_concat(doc) AS docs FROM (${asked}) GROUP BY value`,
  )
  const having: number[] = []
  const counted: Counted[] = []
  for (const { value, docs } of rows) {
    const before = having.length
    for (const doc of numbersOf(docs)) if (hits.has(doc)) having.push(doc)
    if (having.length > before) counted.push({ value, count: having.length - before })
  }
  return { counted, missing: hits.size - DocBitmap.of(having).size }
}
