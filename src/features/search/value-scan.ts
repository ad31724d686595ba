import { InvalidInput } from '../../base/errors.ts'
import type { Queries } from '../../stores/database.ts'
import { listed, type Sql, sql, storableText } from '../../stores/sql.ts'
import { BoundedPattern } from './bounded-pattern.ts'
import { isWithinDistance } from './distance.ts'
import { ANY, type Dialect, ONE } from '../../search/engine.ts'
import { comparable, fieldName, isNarrow, kindOfField, piecesOf, wordsOf } from '../../search/fields.ts'
import { valuesField } from '../../search/index-fields.ts'
import { type Fuzzy, subqueriesOf, type Pattern, type Query, type Term } from './query.ts'

/**
 * Queries that no index answers: regular expressions, fuzzy words, wildcards inside words. The index narrows the values of the field as far
 * as it can, these are compared here, and the statement of the search gets the matching values.
 */
export type ScannedQuery = Pattern | Fuzzy | Term

/** Maximum number of values that are compared for one term. */
const MAX_VALUES = 20_000

const TITLES = ['title', 'description', 'tag.literal']

/** Where the values of a field are, and where parts of them are looked up. */
interface Source {
  /** Fields of strings. */
  readonly values: readonly string[]
  /** Fields of parts of words: empty for values that are matched as a whole. */
  readonly parts: readonly string[]
}

/** @throws {InvalidInput} for a field whose values are not kept */
function sourceOf(query: ScannedQuery): Source {
  const field = fieldName(query.field)
  const kind = kindOfField(field)
  if ((kind === 'string' || kind === 'uri') && field !== 'lists') return { values: [field], parts: [] }
  if (field === 'all') return { values: TITLES.map(valuesField), parts: TITLES }
  const [, hash] = /^metadata\.predicate\.literal(?:_t)?\.(.+)$/s.exec(field) ?? []
  if (hash !== undefined)
    return { values: [`metadata.predicate.literal_s.${hash}`], parts: [`metadata.predicate.literal.${hash}`] }
  const [known] = /^(?:title|description|tag\.literal|name)/.exec(field) ?? []
  if (known !== undefined) return { values: [valuesField(field)], parts: [known] }
  const what = query.kind === 'pattern' ? 'regular expressions' : query.kind === 'fuzzy' ? 'words with ~' : 'wildcards'
  throw new InvalidInput('invalid-query', `The field "${query.field.slice(0, 80)}" cannot be searched with ${what}.`)
}

/** Terms of words that the index finds only by their beginning. */
export const isScanned = (query: Query): boolean =>
  query.kind === 'pattern' ||
  query.kind === 'fuzzy' ||
  (query.kind === 'term' && kindOfField(fieldName(query.field)) === 'text' && hasInnerWildcard(query))

const hasInnerWildcard = ({ parts }: Term): boolean =>
  parts.some((part, at) => part === ONE || (part === ANY && (at < parts.length - 1 || at === 0) && parts.length > 1))

/** The queries that are answered by {@link scan}. */
export function scannedIn(queries: readonly Query[]): ScannedQuery[] {
  return queries.flatMap(query =>
    query.kind === 'clauses'
      ? scannedIn(subqueriesOf(query))
      : query.kind !== 'range' && isScanned(query)
        ? [query]
        : [],
  )
}

/** The fields that the scans of these queries read. @throws {InvalidInput} */
export const scannedFields = (queries: readonly Query[]): string[] =>
  scannedIn(queries).flatMap(query => {
    const { values, parts } = sourceOf(query)
    return [...values, ...parts]
  })

interface Names {
  readonly keyOf: (field: string) => Sql
  readonly toAbsolute: (iri: string) => string
}

/** A condition about an entry `e` of the index for each of these queries. @throws {InvalidInput} */
export async function scan(
  queries: Queries,
  dialect: Dialect,
  names: Names,
  asked: readonly Query[],
): Promise<ReadonlyMap<Query, Sql>> {
  const conditions = new Map<Query, Sql>()
  for (const query of scannedIn(asked)) conditions.set(query, await conditionFor(queries, dialect, names, query))
  return conditions
}

async function conditionFor(queries: Queries, dialect: Dialect, names: Names, query: ScannedQuery): Promise<Sql> {
  const source = sourceOf(query)
  const fields = sql`field IN (${listed(source.values.map(names.keyOf))})`
  const { matches, needed } = matcherOf(query, source.parts.length > 0)
  if (source.parts.length > 0) {
    const isCandidate = needed.length === 0 ? sql`TRUE` : sql`s.doc IN (${docsWith(dialect, names, source, needed)})`
    const rows = await queries.all<{ doc: number; value: string }>(
      sql`SELECT s.doc, s.value FROM search_strings s WHERE s.${fields} AND ${isCandidate} LIMIT ${MAX_VALUES + 1}`,
    )
    requireFew(query, rows.length)
    const docs = new Set(rows.filter(({ value }) => matches(comparable(value))).map(({ doc }) => doc))
    return dialect.isDocIn(sql`e.doc`, [...docs])
  }
  const rows = await queries.all<{ value: string }>(
    sql`SELECT DISTINCT value FROM search_strings WHERE ${fields} LIMIT ${MAX_VALUES + 1}`,
  )
  requireFew(query, rows.length)
  const values = rows.map(({ value }) => value).filter(value => matches(names.toAbsolute(value)))
  return sql`e.doc IN (SELECT doc FROM search_strings WHERE ${fields} AND ${dialect.isOneOf(values)})`
}

function requireFew(query: ScannedQuery, count: number): void {
  if (count <= MAX_VALUES) return
  throw new InvalidInput(
    'query-too-costly',
    `More than ${MAX_VALUES} values of "${query.field.slice(0, 80)}" would have to be compared with "${shown(query)}": ` +
      'write more letters that every hit has.',
  )
}

const shown = (query: ScannedQuery): string => {
  if (query.kind === 'pattern') return `/${query.source}/`
  if (query.kind === 'fuzzy') return `${query.text}~${query.distance}`
  return query.parts.map(part => (part === ANY ? '*' : part === ONE ? '?' : part)).join('')
}

/** The documents that match one of these alternatives in a field. An alternative is a list of texts that must all occur in the field. */
const docsWith = (dialect: Dialect, { keyOf }: Names, { parts }: Source, needed: readonly (readonly string[])[]): Sql =>
  parts
    .flatMap(field => needed.map(texts => dialect.contains(keyOf(field), texts)))
    .reduce((all, one) => sql`${all} UNION ${one}`)

interface Matcher {
  readonly matches: (value: string) => boolean
  /** Alternatives of texts, one of which a value must contain to match. Empty: every value is compared. */
  readonly needed: readonly (readonly string[])[]
}

/** @param isText words are compared without regard to case and accents, parts of words too; else the value as a whole */
function matcherOf(query: ScannedQuery, isText: boolean): Matcher {
  if (query.kind === 'fuzzy') return fuzzyMatcher(query, isText)
  const isWords = kindOfField(fieldName(query.field)) === 'text'
  if (query.kind === 'term') return wildcardMatcher(query)
  const source = isText ? withoutAccents(query.source) : query.source
  const expression = new BoundedPattern(isText ? `(?i)${source}` : source, `/${query.source}/`)
  if (!isText) return { matches: value => expression.matches(value), needed: [] }
  const matches = isWords
    ? (value: string): boolean =>
        wordsOf(value)
          .split(' ')
          .some(word => expression.matches(word))
    : (value: string): boolean => expression.finds(value)
  const needed = literalsOf(source)
  return { matches, needed: needed.length === 0 ? [] : [needed] }
}

/** In texts, Latin letters are compared without accents. */
const withoutAccents = (source: string): string =>
  source
    .normalize('NFD')
    .replace(/(?<=[A-Za-z])\p{Mn}+/gu, '')
    .normalize('NFC')

const MIN_LITERAL = 3

/** Runs of characters that occur in whatever matches the expression. Where that is hard to say, none. */
export function literalsOf(source: string): string[] {
  if (source.includes('|') || source.includes('(?')) return []
  const plain = source
    // A run of fixed characters ends at a character that may vary or be missing.
    .replaceAll(/\\[bBdDsSwW\p{P}\p{S}]/gu, ' ')
    .replaceAll(/\[\^?\]?(?:\[:\^?\w+:\]|[^\]])*\]/g, ' ')
    .replaceAll(/[^\s(){}*?]?(?:[*?]|\{[^}]*\})/gu, ' ')
  // A group may be optional, and the other escapes have different lengths.
  if (/[(\\]/.test(plain)) return []
  return plain
    .split(/[^\p{L}\p{N}]+/u)
    .map(comparable)
    .filter(text => [...text].length >= MIN_LITERAL)
}

/** Matches whole words with wildcards, one after another. */
function wildcardMatcher(query: Term): Matcher {
  const pattern = query.parts
    .map(part => (part === ANY ? '[^ ]*' : part === ONE ? '[^ ]' : quoted(wordsOf(part))))
    .join('')
  const expression = new BoundedPattern(`(?:^| )${pattern}(?: |$)`, `"${shown(query)}"`)
  const needed = query.parts.flatMap(part => (typeof part === 'string' ? piecesOf(part).filter(isNarrow) : []))
  return { matches: value => expression.finds(wordsOf(value)), needed: needed.length === 0 ? [] : [needed] }
}

const quoted = (text: string): string => text.replaceAll(/[^\p{L}\p{N}\p{M} ]/gu, '\\$&')

function fuzzyMatcher({ text, distance }: Fuzzy, isText: boolean): Matcher {
  if (!isText) return { matches: value => isWithinDistance(text, value, distance), needed: [] }
  const word = wordsOf(storableText(text))
  if (word === '' || word.includes(' '))
    throw new InvalidInput('invalid-query', `"${text.slice(0, 40)}~" is not one word.`)
  const [piece = ''] = piecesOf(storableText(text))
  return {
    matches: value =>
      wordsOf(value)
        .split(' ')
        .some(other => isWithinDistance(word, other, distance)),
    // The word of an emoji is not in the text.
    needed: (piece === word ? alternativesOf(word, distance) : [piece]).map(one => [one]),
  }
}

/**
 * Texts of which every word within this distance contains at least one: pieces of the word, because each change touches only one piece. An
 * exchange of two characters may touch two pieces: a longer word is cut into one piece more, and for a shorter word with a single change,
 * each exchange is an alternative of its own.
 */
export function alternativesOf(word: string, distance: number): string[] {
  const characters = [...word]
  const { length } = characters
  const count = Math.max(distance + 1, Math.min(distance + 2, Math.floor(length / 2)))
  const pieces: string[] = []
  if (distance === 1 && count === 2) {
    const at = Math.floor(length / 2)
    const [before = '', after = ''] = characters.slice(at - 1)
    pieces.push([...characters.slice(0, at - 1), after, before, ...characters.slice(at + 1)].join(''))
  }
  for (let piece = 0; piece < count; piece++) {
    const from = Math.floor((piece * length) / count)
    const to = Math.floor(((piece + 1) * length) / count)
    if (to > from) pieces.push(characters.slice(from, to).join(''))
  }
  return pieces
}
