import { listed, type Sql, sql, storableText } from '../../stores/sql.ts'
import { GUEST, USERS } from '../../accounts/users.ts'
import { InvalidInput } from '../../base/errors.ts'
import { PRINCIPALS, principalUri } from '../../model/addresses.ts'
import type { Milliseconds } from '../../base/units.ts'
import { ANY, type Bound, type Dialect, type TermToken } from '../../search/engine.ts'
import type { Acquaintances, Order, Reader } from './request.ts'
import { isScanned } from './value-scan.ts'
import { comparable, type FieldKind, fieldName, kindOfField, wordsOf } from '../../search/fields.ts'
import {
  CONTEXT_OWNERS,
  CONTEXT_READERS,
  everybody,
  FOLDER_READERS,
  readDate,
  READERS,
  readInteger,
} from '../../search/index-fields.ts'
import { readDateMath } from './date-math.ts'
import { subqueriesOf, plainText, type Query, type Range, type Term } from './query.ts'

/** Turns queries into SQL conditions about an entry `e` of the index. */

const EVERYTHING = sql`TRUE`
const NOTHING = sql`FALSE`

/** Words that are too frequent to be searched for. */
const stopWords = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this ' +
    'to was will with'
  ).split(' '),
)

/** A hit gains the weight if it matches the condition. */
export interface Weight {
  readonly condition: Sql
  readonly weight: number
}

/** The names of all fields in the queries. */
export function fieldNames(asked: readonly Query[]): Set<string> {
  const names = new Set<string>()
  const collect = (query: Query): void => {
    if (query.kind === 'clauses') for (const one of subqueriesOf(query)) collect(one)
    else names.add(fieldName(query.field))
  }
  for (const query of asked) collect(query)
  return names
}

/** Exact terms of one field become one condition, because clients list many URIs in one query. */
function isValueList(parts: readonly Query[]): boolean {
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

const isIn = (docs: Sql): Sql => sql`e.doc IN (${docs})`
const hasString = (which: Sql): Sql => isIn(sql`SELECT doc FROM search_strings WHERE ${which}`)

export const joined = (operator: 'AND' | 'OR', parts: readonly Sql[]): Sql =>
  parts.length === 0
    ? EVERYTHING
    : sql`(${parts.reduce((all, one) => (operator === 'AND' ? sql`${all} AND ${one}` : sql`${all} OR ${one}`))})`

interface Names {
  /** The conditions of the queries that the index cannot answer. */
  readonly scanned: ReadonlyMap<Query, Sql>
  readonly now: Milliseconds
  /** Returns the key of a field in the index. */
  readonly keyOf: (field: string) => Sql
  /** Returns the stored form of an IRI in a query. */
  readonly toRelative: (iri: string) => string
}

/** Converts queries to conditions. */
export class Conditions {
  readonly #dialect: Dialect
  readonly #names: Names

  constructor(dialect: Dialect, names: Names) {
    this.#dialect = dialect
    this.#names = names
  }

  of(query: Query): Sql {
    const scanned = this.#names.scanned.get(query)
    if (scanned) return scanned
    if (query.kind === 'pattern' || query.kind === 'fuzzy') return NOTHING
    if (query.kind === 'term') return this.#term(query)
    if (query.kind === 'range') return this.#range(query)
    const { must, should, mustNot } = query
    const oneOf = (parts: readonly Query[]): Sql[] =>
      isValueList(parts) ? [this.#oneOf(parts)] : parts.map(part => this.of(part))
    const either = must.length > 0 || should.length === 0 ? [] : [joined('OR', oneOf(should))]
    const none = oneOf(mustNot).map(condition => sql`NOT ${condition}`)
    return joined('AND', [...must.map(part => this.of(part)), ...either, ...none])
  }

  /** Empty when all hits have the same score. */
  weights(query: Query, factor = 1): Weight[] {
    if (query.kind !== 'clauses') return []
    const boost = factor * query.boost
    const parts = [...query.must, ...query.should].flatMap(part => this.weights(part, boost))
    const optional = query.should.length + Math.min(query.must.length, 1)
    if (optional <= 1 || isValueList(query.should)) return parts
    return [...query.should.map(part => ({ condition: this.of(part), weight: part.boost * boost })), ...parts]
  }

  #oneOf(parts: readonly Query[]): Sql {
    const [first] = parts
    if (first?.kind !== 'term') return NOTHING
    const values = parts.map(part => this.#names.toRelative(part.kind === 'term' ? (plainText(part) ?? '') : ''))
    return hasString(sql`field = ${this.#names.keyOf(first.field)} AND ${this.#dialect.isOneOf(values)}`)
  }

  #term(term: Term): Sql {
    const { field, parts } = term
    if (field === '*') return EVERYTHING
    const kind = kindOfField(fieldName(field))
    if (kind === undefined) return NOTHING
    if (kind === 'boolean') return this.#public(readBoolean(term))
    if (field === 'lists') return this.#lists(term)
    if (kind === 'date' || kind === 'integer') {
      const value = isOnlyAny(parts) ? undefined : this.#readNumber(kind, plainText(term) ?? '')
      return this.#numbers(field, value, value)
    }
    if (isOnlyAny(parts)) return hasString(sql`field = ${this.#names.keyOf(field)}`)
    if (kind === 'ngram') return this.#ngrams(term)
    if (kind === 'text') return this.#words(term)
    return this.#string(field, kind, parts)
  }

  #string(field: string, kind: FieldKind, parts: readonly TermToken[]): Sql {
    const [first, ...rest] = parts
    const { isOneOf, like } = this.#dialect
    const start = typeof first === 'string' ? first : ''
    const prefix = kind === 'uri' ? this.#names.toRelative(start) : start
    const isPlain = rest.length === 0 && typeof first === 'string'
    const value = isPlain ? isOneOf([prefix]) : like(typeof first === 'string' ? [prefix, ...rest] : parts)
    return hasString(sql`field = ${this.#names.keyOf(field)} AND ${value}`)
  }

  #public(wanted: boolean | undefined): Sql {
    if (wanted === undefined) return EVERYTHING
    return wanted ? isPublic(this.#dialect) : sql`NOT ${isPublic(this.#dialect)}`
  }

  /** Membership is read from the lists, which are not indexed. */
  #lists(term: Term): Sql {
    const uri = plainText(term)
    const [, context, id] =
      /^\.\/([^/]+)\/resource\/([^/]+)$/.exec(uri === undefined ? '' : this.#names.toRelative(uri)) ?? []
    if (isOnlyAny(term.parts)) return isIn(sql`SELECT m.doc FROM (${listMembers(sql`TRUE`)}) m`)
    if (context === undefined || id === undefined) return NOTHING
    return isIn(sql`SELECT m.doc FROM (${listMembers(sql`l.context = ${context} AND l.id = ${id}`)}) m`)
  }

  #range(range: Range): Sql {
    const { field, from, to, includesFrom, includesTo } = range
    const isOpen = from === undefined && to === undefined
    const kind = kindOfField(fieldName(field))
    if (isOpen && kind !== 'integer' && kind !== 'date') {
      return this.#term({ kind: 'term', field, parts: [ANY], isPhrase: false, boost: 1 })
    }
    if (kind === 'date' || kind === 'integer') {
      const low = from === undefined ? undefined : this.#readNumber(kind, from)
      const high = to === undefined ? undefined : this.#readNumber(kind, to)
      const first = low === undefined || includesFrom ? low : low + 1
      return this.#numbers(field, first, high === undefined || includesTo ? high : high - 1)
    }
    if ((kind !== 'string' && kind !== 'uri') || field === 'lists')
      throw invalid(`The field "${field.slice(0, 80)}" has no ranges.`)
    const bound = (text: string | undefined, isIncluded: boolean): Bound | undefined =>
      text === undefined ? undefined : { value: kind === 'uri' ? this.#names.toRelative(text) : text, isIncluded }
    const isBetween = this.#dialect.between(bound(from, includesFrom), bound(to, includesTo))
    return hasString(sql`field = ${this.#names.keyOf(field)} AND ${isBetween}`)
  }

  #readNumber(kind: 'date' | 'integer', text: string): number {
    const value =
      kind === 'date' ? (readDate(text) ?? readDateMath(text, this.#names.now, readDate)) : readInteger(text)
    if (value !== undefined) return value
    const what = kind === 'date' ? 'a date of ISO 8601, or one such as NOW-1DAY,' : 'a whole number'
    throw invalid(`The query has "${text.slice(0, 40)}" where ${what} is expected.`)
  }

  #numbers(field: string, low = Number.MIN_SAFE_INTEGER, high = Number.MAX_SAFE_INTEGER): Sql {
    return isIn(sql`SELECT doc FROM search_numbers
      WHERE field = ${this.#names.keyOf(field)} AND value BETWEEN ${low} AND ${high}`)
  }

  /** Matches parts of words: each word anywhere in the field, a phrase as a whole. */
  #ngrams(term: Term): Sql {
    const pieces = term.isPhrase
      ? [plainText(term) ?? '']
      : term.parts.flatMap(part => (typeof part === 'string' ? part.split(/\s+/) : []))
    const wanted = pieces
      .map(piece => comparable(storableText(piece)).replace(/\s+/g, ' ').trim())
      .filter(piece => piece !== '')
    return wanted.length === 0 ? NOTHING : isIn(this.#dialect.contains(this.#names.keyOf(term.field), wanted))
  }

  #words({ field, parts, isPhrase }: Term): Sql {
    const [first, ...rest] = parts
    const text = typeof first === 'string' ? first : ''
    const isPrefix = rest.length > 0
    const all = text.split(/\s+/).filter(word => !stopWords.has(word.toLowerCase()))
    const phrases = (isPhrase || isPrefix ? [text] : all).map(wordsOf).filter(words => words !== '')
    if (phrases.length === 0) return NOTHING
    return isIn(this.#dialect.matchesWords(this.#names.keyOf(field), phrases, isPrefix))
  }
}

const isOnlyAny = (parts: readonly TermToken[]): boolean => parts.length === 1 && parts[0] === ANY

const invalid = (detail: string): InvalidInput => new InvalidInput('invalid-query', detail)

function readBoolean(term: Term): boolean | undefined {
  if (isOnlyAny(term.parts)) return undefined
  return /^(true|t|1)$/i.test(plainText(term) ?? '')
}

/** The reader may read the metadata of `e`: the rule of `rights.ts`, for many entries at once. */
export function readableBy(reader: Reader, { fieldKey, isOneOf, isOneOfFew, folders: givers }: Dialect): Sql {
  const { principals, userId, contexts, acquaintances } = reader
  const isInScope =
    contexts &&
    joined(
      'OR',
      contexts.map(id => sql`e.context = ${id}`),
    )
  if (principals === undefined) return isInScope ?? EVERYTHING
  const names = (field: string): Sql => sql`field = ${fieldKey(field)} AND ${isOneOf(principals)}`
  const contextsThatName = (
    field: string,
  ): Sql => sql`SELECT c.id FROM search_strings s JOIN search_entries c ON c.doc = s.doc
    WHERE ${names(field)}`
  const inContext = sql`IN (${contextsThatName(CONTEXT_READERS)})`
  // The folders whose content the reader may read: folders whose access list names the reader, folders that let in the readers of the
  // context, and folders in such folders that add to their access. They are found once, and their number does not depend on their content.
  const folders = sql`(WITH RECURSIVE readable (context, id) AS (
      SELECT c.context, c.id FROM search_strings s JOIN search_entries c ON c.doc = s.doc WHERE ${names(FOLDER_READERS)}
      UNION SELECT c.context, c.id FROM ${givers} WHERE c.gives = 1
        AND (c.own_acl = 2 OR (c.own_acl = 3 AND c.scope IS NULL)) AND c.context ${inContext}
      UNION SELECT c.context, c.id FROM readable r JOIN ${givers} ON c.context = r.context AND c.scope = r.id
        AND c.gives = 1 AND c.own_acl = 3
    ) SELECT context, id FROM readable)`
  const isAmong = (column: Sql, ids: readonly string[]): Sql =>
    ids.length === 0 ? NOTHING : sql`EXISTS (SELECT 1 FROM (SELECT ${column} AS value) v WHERE ${isOneOf(ids)})`
  // Names of users and groups that everybody may read are found only if the reader may see these users and groups.
  const isKnown = ({ ids, groups }: Acquaintances): Sql => sql`(e.context <> ${PRINCIPALS} OR substr(e.id, 1, 1) = '_'
    OR ${isAmong(sql`e.id`, ids)} OR EXISTS (SELECT 1 FROM group_members m
      WHERE m.user_id = e.id AND ${isAmong(sql`m.group_id`, groups)}))`
  const persons = principals.filter(principal => !everybody.includes(principal))
  // An entry that is open to everybody has no other readers, and its own row says so.
  const isOpen = sql`e.open_to BETWEEN 1 AND ${principals.includes(principalUri(USERS)) ? 2 : 1}`
  const isListed =
    persons.length === 0
      ? isOpen
      : sql`(${isOpen} OR e.open_to = 0 AND EXISTS (SELECT 1 FROM search_strings
          WHERE doc = e.doc AND field = ${fieldKey(READERS)} AND ${isOneOfFew(persons)}))`
  const isListedInPerson = sql`EXISTS (SELECT 1 FROM search_strings WHERE doc = e.doc
    AND field IN (${listed(['acl.admin', 'acl.metadata.r', 'acl.metadata.rw'].map(fieldKey))}) AND ${isOneOfFew(persons)})`
  const isReadable = sql`(
    (e.own_acl <> 0 AND ${acquaintances ? sql`(${isKnown(acquaintances)} AND ${isListed} OR ${isListedInPerson})` : isListed})
    OR ((e.own_acl = 2 OR (e.own_acl <> 1 AND e.scope IS NULL)) AND e.context ${inContext})
    OR (e.own_acl IN (0, 3) AND e.scope IS NOT NULL AND (e.context, e.scope) IN ${folders})
    OR e.context IN (${contextsThatName(CONTEXT_OWNERS)})
    OR (e.context = '_principals' AND e.id = ${userId})
  )`
  return isInScope ? sql`${isReadable} AND ${isInScope}` : isReadable
}

const isPublic = (dialect: Dialect): Sql => readableBy({ principals: [principalUri(GUEST)], userId: GUEST }, dialect)

const listMembers = (which: Sql): Sql => sql`SELECT s.doc AS doc, './' || l.context || '/resource/' || l.id AS value
  FROM list_members m, entries l, search_entries s
  WHERE l.context = m.context AND l.id = m.list AND s.context = m.context AND s.id = m.member AND ${which}`

/** Pairs of `doc` and `value` of a field, for counting values; `undefined` for a field without values. */
export function valuesOf(field: string, key: Sql, dialect: Dialect): Sql | undefined {
  const kind = kindOfField(fieldName(field))
  if (field === 'lists') return listMembers(sql`TRUE`)
  if (kind === 'boolean')
    return sql`SELECT e.doc, CASE WHEN ${isPublic(dialect)} THEN 'true' ELSE 'false' END AS value FROM search_entries e`
  if (kind === 'string' || kind === 'uri') return sql`SELECT doc, value FROM search_strings WHERE field = ${key}`
  if (kind === 'integer' || kind === 'date') return sql`SELECT doc, value FROM search_numbers WHERE field = ${key}`
  return undefined
}

/**
 * Refuses a field that the index does not have: an empty result would hide the mistake.
 * @throws {InvalidInput} `invalid-query`, naming the field
 */
export function requireFields(queries: readonly Query[], facets: readonly string[], order: readonly Order[]): void {
  const require = (field: string, what: string, isKnown = kindOfField(fieldName(field)) !== undefined): void => {
    if (isKnown) return
    const hint = field.startsWith('related.') ? ' Fields of related entries are not indexed.' : ''
    throw invalid(`There is no field "${field.slice(0, 80)}" ${what}.${hint}`)
  }
  for (const field of fieldNames(queries)) if (field !== '*') require(field, 'to search')
  for (const query of queries) requireAnything(query)
  for (const field of facets) require(field, 'to count the values of')
  for (const { field } of order) {
    const isSorted = field !== 'lists' && field !== 'public' && kindOfField(fieldName(field)) !== undefined
    require(field, 'to sort by', field === 'score' || isSorted)
  }
}

/** `*:*` is every entry; no other value belongs to no field. */
function requireAnything(query: Query): void {
  if (query.kind === 'clauses') for (const one of subqueriesOf(query)) requireAnything(one)
  else if (query.field === '*' && !(query.kind === 'term' && isOnlyAny(query.parts)))
    throw invalid('The field * has no value but *: write *:*.')
}

/** A term that scans an index (words, parts of words, wildcards, ranges, lists) costs as much as eight exact terms. */
const SCAN = 8
const EXACT = 1
/** A facet, and a field whose values are looked up for the order. The most of both leave room for a query. */
const LOOKUP = 4
/** A term whose values are compared one by one. */
const COMPARE = 8 * SCAN
/** Maximum cost of the query, all filters, the facets and the order together: 32 terms that scan an index, or 256 exact terms. */
const MAX_COST = 32 * SCAN

/** @throws {InvalidInput} `query-too-costly` */
export function requireAffordable(queries: readonly Query[], facets: readonly string[], order: readonly Order[]): void {
  const lookups = facets.length + order.filter(({ field }) => !isInHits(field)).length
  const cost = queries.reduce((sum, query) => sum + costOf(query), lookups * LOOKUP)
  if (cost <= MAX_COST) return
  throw new InvalidInput(
    'query-too-costly',
    `The query and its filters may have ${MAX_COST / COMPARE} terms with /…/ or ~, or ${MAX_COST / SCAN} with words, wildcards or ranges, or ${MAX_COST} exact ` +
      'ones. A facet and a field of `sort` count as half a term with words. Many exact values of one field, joined with OR, count as one term.',
  )
}

/** Whether the order by this field needs no look-up. */
const isInHits = (field: string): boolean => field === 'score' || field === 'created' || field === 'modified'

function costOf(query: Query): number {
  if (query.kind === 'pattern' || query.kind === 'fuzzy' || isScanned(query)) return COMPARE
  if (query.kind === 'range') return SCAN
  if (query.kind === 'term') return isExact(query) ? EXACT : SCAN
  return [query.must, query.should, query.mustNot]
    .map(parts => (isValueList(parts) ? EXACT : parts.reduce((sum, part) => sum + costOf(part), 0)))
    .reduce((sum, cost) => sum + cost, 0)
}

function isExact(term: Extract<Query, { kind: 'term' }>): boolean {
  if (term.field === '*' && term.parts[0] === ANY) return true
  const kind = kindOfField(fieldName(term.field))
  const isFullText = kind === 'ngram' || kind === 'text'
  return plainText(term) !== undefined && !isFullText && term.field !== 'lists'
}
