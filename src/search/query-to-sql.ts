import type { Queries } from '../stores/database.ts'
import { type Sql, sql, storableText } from '../stores/sql.ts'
import { GUEST } from '../accounts/principals.ts'
import { InvalidInput } from '../base/errors.ts'
import { RELATIVE } from '../graph/graph.ts'
import { principalUri } from '../model/addresses.ts'
import type { Bound, Dialect, FieldKey, Reader, LeafCondition } from './engine.ts'
import { type FieldKind, fieldName, kindOfField } from './fields.ts'
import { predicateHash, readDate, readInteger } from './index-fields.ts'
import { ANY, type Clauses, plainText, type Query, type Range, type Term, type TermPart } from './query.ts'

/** Turns queries into SQL conditions about an entry `e` of the index. */

/** Matches if every `must`, at least one `should` (when any) and no `mustNot` condition matches. */
export interface BooleanCondition {
  readonly kind: 'boolean'
  readonly must: readonly Condition[]
  readonly should: readonly Condition[]
  readonly mustNot: readonly Condition[]
}

export type Condition = LeafCondition | BooleanCondition

const EVERYTHING: Condition = { kind: 'boolean', must: [], should: [], mustNot: [] }
const NOTHING: Condition = { kind: 'leaf', test: sql`FALSE`, set: sql`SELECT doc FROM search_entries WHERE FALSE` }

/** Words that are too frequent to be searched for. */
const stopWords = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this ' +
    'to was will with'
  ).split(' '),
)

export interface Weight {
  readonly condition: Condition
  readonly weight: number
}

export interface Fields {
  /** `undefined` for a field that no entry has. */
  keyOf(field: string): FieldKey | undefined
}

/** The names of all fields in the queries. */
export function fieldNames(asked: readonly Query[]): Set<string> {
  const names = new Set<string>()
  const collect = (query: Query): void => {
    if (query.kind === 'clauses') for (const part of partsOf(query)) collect(part)
    else names.add(fieldName(query.field))
  }
  for (const query of asked) collect(query)
  return names
}

/**
 * The name in the index of a field that a query names by the hash of a predicate under the base address; `undefined` for
 * other fields. The index keeps such predicates as relative IRIs.
 * @param findUnder returns the fields whose names begin with a text
 */
export async function findRelative(
  name: string,
  findUnder: (start: string) => Promise<readonly string[]>,
  toAbsolute: (iri: string) => string,
): Promise<string | undefined> {
  const [, start, hash] = /^(metadata\.predicate\.[a-z_]+\.)([0-9a-f]{8})$/.exec(name) ?? []
  if (start === undefined) return undefined
  const relative = await findUnder(start + RELATIVE)
  return relative.find(field => predicateHash(toAbsolute(field.slice(start.length))) === hash)
}

const partsOf = ({ must, should, mustNot }: Clauses): Query[] => [...must, ...should, ...mustNot]

const named = (which: Sql): LeafCondition => ({
  kind: 'leaf',
  test: sql`EXISTS (SELECT 1 FROM search_strings WHERE doc = e.doc AND ${which})`,
  set: sql`SELECT doc FROM search_strings WHERE ${which}`,
})

export const hasValue = (field: FieldKey, value: string, { isOneOf }: Dialect): LeafCondition =>
  named(sql`field = ${field} AND ${isOneOf([value])}`)

/** The first distinct values of a field, without scanning all entries that have them. */
export async function firstValues(queries: Queries, field: FieldKey, most: number): Promise<string[]> {
  const next = (from: Sql): Sql => sql`(SELECT min(value) FROM search_strings WHERE field = ${field} ${from})`
  const rows = await queries.all<{ value: string }>(sql`
    WITH RECURSIVE v (value) AS (
      SELECT ${next(sql``)} UNION ALL SELECT ${next(sql`AND value > v.value`)} FROM v WHERE v.value IS NOT NULL
    ) SELECT value FROM v WHERE value IS NOT NULL LIMIT ${most}`)
  return rows.map(({ value }) => value)
}

/** Exact terms of one field become one condition, because clients list many URIs in one query. */
export function isValueList(parts: readonly Query[]): boolean {
  const [first] = parts
  return (
    parts.length > 1 &&
    parts.every(
      part =>
        part.kind === 'term' &&
        first?.kind === 'term' &&
        part.field === first.field &&
        part.boost === first.boost &&
        part.field !== 'lists' &&
        kindOfField(part.field) === 'uri' &&
        plainText(part) !== undefined,
    )
  )
}

/** Converts queries to conditions. */
export class Conditions {
  readonly #fields: Fields
  readonly #toRelative: (iri: string) => string
  readonly #dialect: Dialect

  /** @param toRelative returns the stored form of an IRI in a query. */
  constructor(fields: Fields, toRelative: (iri: string) => string, dialect: Dialect) {
    this.#fields = fields
    this.#toRelative = toRelative
    this.#dialect = dialect
  }

  of(query: Query): Condition {
    if (query.kind === 'term') return this.#term(query)
    if (query.kind === 'range') return this.#range(query)
    const { must, should, mustNot } = query
    const all = (parts: readonly Query[]): Condition[] => parts.map(part => this.of(part))
    const oneOf = (parts: readonly Query[]): Condition[] => (isValueList(parts) ? [this.#oneOf(parts)] : all(parts))
    return { kind: 'boolean', must: all(must), should: must.length > 0 ? [] : oneOf(should), mustNot: oneOf(mustNot) }
  }

  /** Score contributions: a hit gains `weight` for each condition that it matches. Empty when all hits have the same score. */
  weights(query: Query, factor = 1): Weight[] {
    if (query.kind !== 'clauses') return []
    const boost = factor * query.boost
    const parts = [...query.must, ...query.should].flatMap(part => this.weights(part, boost))
    const optional = query.should.length + Math.min(query.must.length, 1)
    if (optional <= 1 || isValueList(query.should)) return parts
    return [...query.should.map(part => ({ condition: this.of(part), weight: part.boost * boost })), ...parts]
  }

  #oneOf(parts: readonly Query[]): Condition {
    const [first] = parts
    const field = first?.kind === 'term' ? this.#fields.keyOf(first.field) : undefined
    if (field === undefined) return NOTHING
    const values = parts.map(part => this.#toRelative(part.kind === 'term' ? (plainText(part) ?? '') : ''))
    return named(sql`field = ${field} AND ${this.#dialect.isOneOf(values)}`)
  }

  #term(term: Term): Condition {
    if (term.field === '*') return isOnlyAny(term.parts) ? EVERYTHING : NOTHING
    const kind = kindOfField(fieldName(term.field))
    if (kind === undefined) return NOTHING
    if (kind === 'boolean') return publicIs(readBoolean(term), this.#dialect)
    if (term.field === 'lists') return this.#lists(term)
    const field = this.#fields.keyOf(term.field)
    if (kind === 'date' || kind === 'integer') {
      const bound = isOnlyAny(term.parts) ? undefined : readNumber(kind, plainText(term) ?? '')
      return field === undefined ? NOTHING : numbersBetween(field, bound, bound)
    }
    if (field === undefined) return NOTHING
    if (isOnlyAny(term.parts)) return hasField(field)
    if (kind === 'ngram') return ngrams(field, term, this.#dialect)
    if (kind === 'text') return words(field, term, this.#dialect)
    return this.#string(field, kind, term.parts)
  }

  #string(field: FieldKey, kind: FieldKind, parts: readonly TermPart[]): Condition {
    const [first, ...rest] = parts
    const start = typeof first === 'string' ? first : ''
    const prefix = kind === 'uri' ? this.#toRelative(start) : start
    if (rest.length === 0 && typeof first === 'string') return hasValue(field, prefix, this.#dialect)
    const { like } = this.#dialect
    return named(sql`field = ${field} AND ${like(typeof first === 'string' ? [prefix, ...rest] : parts)}`)
  }

  /** Membership is read from the lists, which are not indexed. */
  #lists(term: Term): Condition {
    const uri = plainText(term)
    const [, context, id] =
      /^\.\/([^/]+)\/resource\/([^/]+)$/.exec(uri === undefined ? '' : this.#toRelative(uri)) ?? []
    if (!isOnlyAny(term.parts) && (context === undefined || id === undefined)) return NOTHING
    const which = isOnlyAny(term.parts) ? sql`TRUE` : sql`l.context = ${context ?? ''} AND l.id = ${id ?? ''}`
    const set = sql`SELECT m.doc FROM (${listMembers(which)}) m`
    return { kind: 'leaf', test: sql`e.doc IN (${set})`, set, dependsOn: 'lists' }
  }

  #range(range: Range): Condition {
    const { from, to, includesFrom, includesTo } = range
    const isOpen = from === undefined && to === undefined
    const kind = kindOfField(fieldName(range.field))
    if (isOpen && kind !== 'integer' && kind !== 'date') {
      return this.#term({ kind: 'term', field: range.field, parts: [ANY], isPhrase: false, boost: 1 })
    }
    const isNumber = kind === 'date' || kind === 'integer'
    const low = isNumber && from !== undefined ? readNumber(kind, from) : undefined
    const high = isNumber && to !== undefined ? readNumber(kind, to) : undefined
    const field = this.#fields.keyOf(range.field)
    if (field === undefined) return NOTHING
    if (isNumber) {
      const first = low === undefined || includesFrom ? low : low + 1
      return numbersBetween(field, first, high === undefined || includesTo ? high : high - 1)
    }
    if (kind !== 'string' && kind !== 'uri') return NOTHING
    const bound = (text: string | undefined, isIncluded: boolean): Bound | undefined =>
      text === undefined ? undefined : { value: kind === 'uri' ? this.#toRelative(text) : text, isIncluded }
    const { between } = this.#dialect
    return named(sql`field = ${field} AND ${between(bound(from, includesFrom), bound(to, includesTo))}`)
  }
}

const isOnlyAny = (parts: readonly TermPart[]): boolean => parts.length === 1 && parts[0] === ANY

const hasField = (field: FieldKey): Condition => named(sql`field = ${field}`)

function numbersBetween(field: FieldKey, low: number | undefined, high: number | undefined): Condition {
  const which = sql`field = ${field} AND value BETWEEN ${low ?? Number.MIN_SAFE_INTEGER} AND ${high ?? Number.MAX_SAFE_INTEGER}`
  return {
    kind: 'leaf',
    test: sql`EXISTS (SELECT 1 FROM search_numbers WHERE doc = e.doc AND ${which})`,
    set: sql`SELECT doc FROM search_numbers WHERE ${which}`,
  }
}

function readNumber(kind: 'date' | 'integer', text: string): number {
  const value = kind === 'date' ? readDate(text) : readInteger(text)
  if (value !== undefined) return value
  const what = kind === 'date' ? 'a date of ISO 8601' : 'a whole number'
  throw new InvalidInput('invalid-query', `The query has "${text.slice(0, 40)}" where ${what} is expected.`)
}

function readBoolean(term: Term): boolean | undefined {
  if (isOnlyAny(term.parts)) return undefined
  return /^(true|t|1)$/i.test(plainText(term) ?? '')
}

/** The entries whose metadata the reader may read; for administrators, all entries. */
export function readable(reader: Reader, { readableBy }: Dialect): LeafCondition {
  const { contexts } = reader
  const test = contexts
    ? sql`(${readableBy(reader)} AND (${contexts.reduce((any, id) => sql`${any} OR e.context = ${id}`, sql`FALSE`)}))`
    : readableBy(reader)
  return { kind: 'leaf', test, set: sql`SELECT e.doc FROM search_entries e WHERE ${test}`, dependsOn: 'readers' }
}

const isPublic = (dialect: Dialect): LeafCondition =>
  readable({ principals: [principalUri(GUEST)], userId: GUEST }, dialect)

function publicIs(wanted: boolean | undefined, dialect: Dialect): Condition {
  if (wanted === undefined) return EVERYTHING
  return wanted ? isPublic(dialect) : { kind: 'boolean', must: [], should: [], mustNot: [isPublic(dialect)] }
}

const listMembers = (which: Sql): Sql => sql`SELECT s.doc AS doc, './' || l.context || '/resource/' || l.id AS value
  FROM list_members m, entries l, search_entries s
  WHERE l.context = m.context AND l.id = m.list AND s.context = m.context AND s.id = m.member AND ${which}`

/** Pairs of `doc` and `value` of a field, for counting values. */
export function valuesOf(field: string, fields: Fields, dialect: Dialect): Sql | undefined {
  const kind = kindOfField(fieldName(field))
  if (field === 'lists') return listMembers(sql`TRUE`)
  if (kind === 'boolean')
    return sql`SELECT e.doc, CASE WHEN ${isPublic(dialect).test} THEN 'true' ELSE 'false' END AS value
    FROM search_entries e`
  const number = fields.keyOf(field)
  if (number === undefined) return undefined
  if (kind === 'string' || kind === 'uri') return sql`SELECT doc, value FROM search_strings WHERE field = ${number}`
  if (kind === 'integer' || kind === 'date') return sql`SELECT doc, value FROM search_numbers WHERE field = ${number}`
  return undefined
}

/** Matches parts of words: each word anywhere in the field, a phrase as a whole. */
function ngrams(field: FieldKey, term: Term, { contains }: Dialect): Condition {
  const pieces = term.isPhrase
    ? [plainText(term) ?? '']
    : term.parts.flatMap(part => (typeof part === 'string' ? part.split(/\s+/) : []))
  const wanted = pieces.map(piece => piece.replace(/\s+/g, ' ').trim()).filter(piece => piece !== '')
  const must = wanted.map(piece => contains(field, storableText(piece)))
  return must.length > 1 ? { kind: 'boolean', must, should: [], mustNot: [] } : (must[0] ?? NOTHING)
}

function words(field: FieldKey, term: Term, { matchesWords }: Dialect): Condition {
  const [first, ...rest] = term.parts
  const text = typeof first === 'string' ? first : ''
  const isPrefix = rest.length > 0
  if (!/[\p{L}\p{N}]/u.test(text)) return NOTHING
  const all = text.split(/\s+/).filter(word => word !== '')
  const kept = all.filter(word => !stopWords.has(word.toLowerCase()))
  const wanted = term.isPhrase || isPrefix ? [text] : kept
  return wanted.length === 0 ? NOTHING : matchesWords(field, wanted.map(storableText), isPrefix)
}
