import type { Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import { GUEST } from '../accounts/principals.ts'
import { InvalidInput } from '../base/errors.ts'
import { principalUri } from './addresses.ts'
import { type FieldKind, fieldName, kindOfField } from './search-fields.ts'
import { readDate, readInteger } from './search-index.ts'
import { ANY, type Clauses, ONE, plainText, type Query, type Range, type Term, type TermPart } from './search-query.ts'
import { FIELD_BITS, FIELD_MASK, findFields, readableBy } from './search-sql.ts'

/** Queries as SQL; like `search-sql.ts` in the words of one engine. Conditions speak of an entry `e` of the index. */

/** What a condition is told as: whether `e` fulfils it, and where it can be asked the other way round, who does. */
export interface Condition {
  readonly test: Sql
  /** The test is but a look into an index, and takes as long as there are entries to test. */
  readonly isProbe?: boolean
  /** A statement that gives `doc`, each once. */
  readonly set?: Sql
}

const EVERYTHING: Condition = { test: sql`TRUE`, isProbe: true }
const NOTHING: Condition = { test: sql`FALSE`, set: sql`SELECT doc FROM search_entries WHERE FALSE` }
const LARGEST_CHARACTER = '\u{10FFFF}'

/** Words that stand in every text and find nothing. */
const stopWords = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this ' +
    'to was will with'
  ).split(' '),
)

export interface Fields {
  numberOf(field: string): number | undefined
}

/** Looks up all fields that the queries and `others` name. */
export async function fieldsOf(queries: Queries, asked: readonly Query[], others: readonly string[]): Promise<Fields> {
  const names = new Set(others.map(fieldName))
  const collect = (query: Query): void => {
    if (query.kind === 'clauses') for (const part of partsOf(query)) collect(part)
    else names.add(fieldName(query.field))
  }
  for (const query of asked) collect(query)
  const numbers = await findFields(queries, [...names])
  return { numberOf: field => numbers.get(fieldName(field)) }
}

const partsOf = ({ every, some, none }: Clauses): Query[] => [...every, ...some, ...none]

export const joinedBy = (operator: 'AND' | 'OR' | '+' | ',' | 'UNION', parts: readonly Sql[]): Sql => {
  const texts: string[] = ['']
  const values: Sql['values'][number][] = []
  parts.forEach((part, index) => {
    const [first = '', ...rest] = part.parts
    texts[texts.length - 1] += `${index === 0 ? '' : ` ${operator} `}${first}`
    texts.push(...rest)
    values.push(...part.values)
  })
  return { parts: texts, values }
}

const allOf = (parts: readonly Sql[]): Sql => (parts.length === 0 ? sql`TRUE` : sql`(${joinedBy('AND', parts)})`)
const notIn = ({ test, isProbe = false }: Condition): Condition => ({ isProbe, test: sql`NOT ${test}` })
const anyOf = (parts: readonly Sql[]): Sql => (parts.length === 0 ? sql`FALSE` : sql`(${joinedBy('OR', parts)})`)

/** Turns queries into conditions. */
export class Conditions {
  readonly #fields: Fields
  readonly #inside: (iri: string) => string

  /** @param inside gives the stored form of an IRI that somebody wrote. */
  constructor(fields: Fields, inside: (iri: string) => string) {
    this.#fields = fields
    this.#inside = inside
  }

  /** What a hit must all fulfil, as far apart as possible, so that the rarest can be asked first. */
  conjunction(query: Query): Condition[] {
    if (query.kind !== 'clauses') return [this.of(query)]
    const { every, some, none } = query
    const optional = every.length === 0 && some.length > 0 ? [this.#alternatives(some)] : []
    return [...every.flatMap(part => this.conjunction(part)), ...optional, ...none.map(part => notIn(this.of(part)))]
  }

  of(query: Query): Condition {
    if (query.kind === 'term') return this.#term(query)
    if (query.kind === 'range') return this.#range(query)
    const [first, ...rest] = this.conjunction(query)
    if (!first) return EVERYTHING
    if (rest.length === 0) return first
    const isProbe = [first, ...rest].every(part => part.isProbe)
    const test = allOf([first.test, ...rest.map(part => part.test)])
    if (!first.set) return { test, isProbe }
    const others = allOf(rest.map(part => part.test))
    const set = sql`SELECT e.doc FROM (${first.set}) f CROSS JOIN search_entries e ON e.doc = f.doc WHERE ${others}`
    return { test, isProbe, set }
  }

  /** How well `e` fits: its matching alternatives, by their boosts. `undefined` when all hits fit alike. */
  score(query: Query): Sql | undefined {
    if (query.kind !== 'clauses') return undefined
    const optional = query.some.length + Math.min(query.every.length, 1)
    const parts = [...query.every, ...query.some].map(part => this.score(part)).filter(part => part !== undefined)
    const own =
      optional > 1 && !this.#isOneField(query.some)
        ? query.some.map(part => sql`(${this.of(part).test}) * ${part.boost}`)
        : []
    const all = [...own, ...parts]
    return all.length === 0 ? undefined : sql`(${joinedBy('+', all)}) * ${query.boost}`
  }

  #alternatives(parts: readonly Query[]): Condition {
    if (this.#isOneField(parts)) {
      const values = JSON.stringify(
        parts.map(part => this.#inside(part.kind === 'term' ? (plainText(part) ?? '') : '')),
      )
      const field = parts[0]?.kind === 'term' ? this.#fields.numberOf(parts[0].field) : undefined
      if (field === undefined) return NOTHING
      const named = sql`field = ${field} AND value IN (SELECT value FROM json_each(${values}))`
      return {
        isProbe: true,
        test: sql`EXISTS (SELECT 1 FROM search_strings WHERE ${named} AND doc = e.doc)`,
        set: sql`SELECT DISTINCT doc FROM search_strings WHERE ${named}`,
      }
    }
    const conditions = parts.map(part => this.of(part))
    const sets = conditions.map(({ set }) => set).filter(set => set !== undefined)
    const test = anyOf(conditions.map(condition => condition.test))
    const isProbe = conditions.every(condition => condition.isProbe)
    if (sets.length < conditions.length) return { test, isProbe }
    return {
      test,
      isProbe,
      set: joinedBy(
        'UNION',
        sets.map(set => sql`SELECT doc FROM (${set})`),
      ),
    }
  }

  /** Exact terms of one field are asked for in one go, as clients do with many URIs. */
  #isOneField(parts: readonly Query[]): boolean {
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

  #term(term: Term): Condition {
    if (term.field === '*') return isOnlyAny(term.parts) ? EVERYTHING : NOTHING
    const kind = kindOfField(fieldName(term.field))
    if (kind === undefined) return NOTHING
    if (kind === 'boolean') return publicIs(readBoolean(term))
    if (term.field === 'lists') return this.#lists(term)
    const field = this.#fields.numberOf(term.field)
    if (kind === 'date' || kind === 'integer') {
      const bound = isOnlyAny(term.parts) ? undefined : readNumber(kind, plainText(term) ?? '')
      return field === undefined ? NOTHING : numbersBetween(field, bound, bound)
    }
    if (field === undefined) return NOTHING
    if (isOnlyAny(term.parts)) return hasField(field)
    if (kind === 'ngram') return ngrams(field, term)
    if (kind === 'text') return words(field, term)
    return this.#string(field, kind, term.parts)
  }

  #string(field: number, kind: FieldKind, parts: readonly TermPart[]): Condition {
    const [first, ...rest] = parts
    const start = typeof first === 'string' ? first : ''
    const prefix = kind === 'uri' ? this.#inside(start) : start
    if (rest.length === 0 && typeof first === 'string') {
      const named = sql`field = ${field} AND value = ${prefix}`
      return {
        isProbe: true,
        test: sql`EXISTS (SELECT 1 FROM search_strings WHERE ${named} AND doc = e.doc)`,
        set: sql`SELECT doc FROM search_strings WHERE ${named}`,
      }
    }
    const pattern = (typeof first === 'string' ? [prefix, ...rest] : parts).map(globOf).join('')
    const set = sql`SELECT DISTINCT doc FROM search_strings WHERE field = ${field}
      AND value >= ${prefix} AND value < ${prefix + LARGEST_CHARACTER} AND value GLOB ${pattern}`
    return { test: sql`e.doc IN (${set})`, set }
  }

  /** Membership is told from the lists themselves. */
  #lists(term: Term): Condition {
    const uri = plainText(term)
    const [, context, id] = /^\.\/([^/]+)\/resource\/([^/]+)$/.exec(uri === undefined ? '' : this.#inside(uri)) ?? []
    if (!isOnlyAny(term.parts) && (context === undefined || id === undefined)) return NOTHING
    const named = isOnlyAny(term.parts) ? sql`TRUE` : sql`l.context = ${context ?? ''} AND l.id = ${id ?? ''}`
    const set = sql`SELECT DISTINCT m.doc FROM (${listMembers(named)}) m`
    return { test: sql`e.doc IN (${set})`, set }
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
    const field = this.#fields.numberOf(range.field)
    if (field === undefined) return NOTHING
    if (isNumber) {
      const first = low === undefined || includesFrom ? low : low + 1
      return numbersBetween(field, first, high === undefined || includesTo ? high : high - 1)
    }
    if (kind !== 'string' && kind !== 'uri') return NOTHING
    const bound = (text: string): string => (kind === 'uri' ? this.#inside(text) : text)
    const lower =
      from === undefined ? sql`TRUE` : includesFrom ? sql`value >= ${bound(from)}` : sql`value > ${bound(from)}`
    const upper = to === undefined ? sql`TRUE` : includesTo ? sql`value <= ${bound(to)}` : sql`value < ${bound(to)}`
    const set = sql`SELECT DISTINCT doc FROM search_strings WHERE field = ${field} AND ${lower} AND ${upper}`
    return { test: sql`e.doc IN (${set})`, set }
  }
}

const isOnlyAny = (parts: readonly TermPart[]): boolean => parts.length === 1 && parts[0] === ANY

const globOf = (part: TermPart): string =>
  part === ANY ? '*' : part === ONE ? '?' : part.replace(/[[*?]/g, character => `[${character}]`)

const hasField = (field: number): Condition => ({
  isProbe: true,
  test: sql`EXISTS (SELECT 1 FROM search_strings WHERE doc = e.doc AND field = ${field})`,
  set: sql`SELECT DISTINCT doc FROM search_strings WHERE field = ${field}`,
})

function numbersBetween(field: number, low: number | undefined, high: number | undefined): Condition {
  const named = sql`field = ${field} AND value BETWEEN ${low ?? Number.MIN_SAFE_INTEGER} AND ${high ?? Number.MAX_SAFE_INTEGER}`
  return {
    isProbe: true,
    test: sql`EXISTS (SELECT 1 FROM search_numbers WHERE doc = e.doc AND ${named})`,
    set: sql`SELECT doc FROM search_numbers WHERE ${named}`,
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

const isPublic = readableBy({ principals: [principalUri(GUEST)], userId: GUEST })

const publicIs = (wanted: boolean | undefined): Condition =>
  wanted === undefined ? EVERYTHING : { isProbe: true, test: wanted ? isPublic : sql`NOT ${isPublic}` }

const listMembers = (which: Sql): Sql => sql`SELECT s.doc AS doc, './' || l.context || '/resource/' || l.id AS value
  FROM list_members m, entries l, search_entries s
  WHERE l.context = m.context AND l.id = m.list AND s.context = m.context AND s.id = m.member AND ${which}`

/** Pairs of `doc` and `value` of a field, for counting values. */
export function valuesOf(field: string, fields: Fields): Sql | undefined {
  const kind = kindOfField(fieldName(field))
  if (field === 'lists') return listMembers(sql`TRUE`)
  if (kind === 'boolean')
    return sql`SELECT e.doc, CASE WHEN ${isPublic} THEN 'true' ELSE 'false' END AS value
    FROM search_entries e`
  const number = fields.numberOf(field)
  if (number === undefined) return undefined
  if (kind === 'string' || kind === 'uri') return sql`SELECT doc, value FROM search_strings WHERE field = ${number}`
  if (kind === 'integer' || kind === 'date') return sql`SELECT doc, value FROM search_numbers WHERE field = ${number}`
  return undefined
}

/** Parts of words: each of the words somewhere in the field, a phrase as it stands. */
function ngrams(field: number, term: Term): Condition {
  const pieces = term.isPhrase
    ? [plainText(term) ?? '']
    : term.parts.flatMap(part => (typeof part === 'string' ? part.split(/\s+/) : []))
  const wanted = pieces.map(piece => piece.replace(/\s+/g, ' ').trim()).filter(piece => piece !== '')
  if (wanted.length === 0) return NOTHING
  const sets = wanted.map(piece => fullText('search_ngrams', field, matchOfPart(piece)))
  const [only] = sets
  if (only && sets.length === 1) return { test: sql`e.doc IN (${only})`, set: only }
  const set = sql`SELECT doc FROM (${only ?? sql``}) WHERE ${allOf(sets.slice(1).map(next => sql`doc IN (${next})`))}`
  return { test: sql`e.doc IN (${set})`, set }
}

/** Less than three characters are the beginning of trigrams; the vocabulary tells of which. */
function matchOfPart(piece: string): Sql {
  if ([...piece].length >= 3) return sql`${quoted(piece)}`
  const start = piece.toLowerCase()
  return sql`(SELECT coalesce(group_concat('"' || replace(term, '"', '""') || '"', ' OR '), '""')
    FROM search_ngram_terms WHERE term >= ${start} AND term < ${start + LARGEST_CHARACTER})`
}

function words(field: number, term: Term): Condition {
  const [first, ...rest] = term.parts
  const text = typeof first === 'string' ? first : ''
  const isPrefix = rest.length > 0
  if (!/[\p{L}\p{N}]/u.test(text)) return NOTHING
  const all = text.split(/\s+/).filter(word => word !== '')
  const kept = all.filter(word => !stopWords.has(word.toLowerCase()))
  const wanted = term.isPhrase || isPrefix ? [text] : kept
  if (wanted.length === 0) return NOTHING
  const set = fullText('search_texts', field, sql`${wanted.map(quoted).join(' AND ') + (isPrefix ? ' *' : '')}`)
  return { test: sql`e.doc IN (${set})`, set }
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""').replaceAll('\0', ' ').toWellFormed()}"`

const fullText = (table: 'search_ngrams' | 'search_texts', field: number, match: Sql): Sql =>
  table === 'search_ngrams'
    ? sql`SELECT rowid >> ${FIELD_BITS} AS doc FROM search_ngrams
        WHERE search_ngrams MATCH ${match} AND (rowid & ${FIELD_MASK}) = ${field}`
    : sql`SELECT rowid >> ${FIELD_BITS} AS doc FROM search_texts
        WHERE search_texts MATCH ${match} AND (rowid & ${FIELD_MASK}) = ${field}`
