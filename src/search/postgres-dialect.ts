import { type Sql, sql } from '../stores/sql.ts'
import { MAX_CHARACTER } from './index-fields.ts'
import type { Bound, Dialect, FieldKey, Reader, LeafCondition } from './engine.ts'
import { ANY, ONE, type TermPart } from './query.ts'
import { folded, trigramsOf, wordsOf } from './words.ts'

function isOneOf(values: readonly string[]): Sql {
  const [only] = values
  if (only !== undefined && values.length === 1) return sql`left(value, 500) = left(${only}, 500) AND value = ${only}`
  const all = elementsOf(values)
  return sql`left(value, 500) IN (SELECT left(v, 500) FROM unnest(${all}) v) AND value = ANY (${all})`
}

const elementsOf = (values: readonly string[]): Sql =>
  sql`ARRAY(SELECT jsonb_array_elements_text(CAST(${JSON.stringify(values)} AS JSONB)))`

/** The index holds prefixes of values, which sort in the same order. */
function between(from: Bound | undefined, to: Bound | undefined): Sql {
  const start = from ? sql`left(value, 500) >= left(${from.value}, 500)` : sql`TRUE`
  const end = to ? sql`left(value, 500) <= left(${to.value}, 500)` : sql`TRUE`
  const lower = !from ? sql`TRUE` : from.isIncluded ? sql`value >= ${from.value}` : sql`value > ${from.value}`
  const upper = !to ? sql`TRUE` : to.isIncluded ? sql`value <= ${to.value}` : sql`value < ${to.value}`
  return sql`${start} AND ${end} AND ${lower} AND ${upper}`
}

function like(parts: readonly TermPart[]): Sql {
  const start = typeof parts[0] === 'string' ? parts[0] : ''
  const from = { value: start, isIncluded: true }
  const to = { value: start + MAX_CHARACTER, isIncluded: false }
  return sql`${between(from, to)} AND value LIKE ${parts.map(patternOf).join('')}`
}

const patternOf = (part: TermPart): string =>
  part === ANY ? '%' : part === ONE ? '_' : part.replace(/[\\%_]/g, character => `\\${character}`)

/** Fewer than three characters match the beginning of a trigram. */
function contains(field: FieldKey, text: string): LeafCondition {
  const sought = folded(text)
  const runs = trigramsOf(text)
  if (runs.length === 0) return withLexemes('search_ngrams', sql`field = ${field} AND grams @@ ${beginning(sought)}`)
  const all = queryOf(runs.map(lexeme).join(' & '))
  return withLexemes('search_ngrams', sql`field = ${field} AND grams @@ ${all} AND strpos(value, ${sought}) > 0`)
}

/** The words of a phrase follow one another. */
function matchesWords(field: FieldKey, phrases: readonly string[], isPrefix: boolean): LeafCondition {
  const conditions = phrases.map((phrase, at) => {
    const words = wordsOf(phrase)
    const last = words.pop()
    // A phrase without words matches nothing.
    if (last === undefined) return sql`FALSE`
    const goesOn = isPrefix && at === phrases.length - 1
    const all = queryOf([...words.map(lexeme), goesOn ? `${lexeme(last)}:*` : lexeme(last)].join(' & '))
    if (words.length === 0) return sql`words @@ ${all}`
    const text = ` ${[...words, last].join(' ')}${goesOn ? '' : ' '}`
    return sql`words @@ ${all} AND strpos(value, ${text}) > 0`
  })
  return withLexemes(
    'search_texts',
    sql`field = ${field} AND ${conditions.reduce((all, one) => sql`${all} AND ${one}`)}`,
  )
}

const lexeme = (text: string): string => `'${text.replace(/['\\]/g, character => character + character)}'`
const queryOf = (text: string): Sql => sql`CAST(${text} AS TSQUERY)`
const beginning = (text: string): Sql => queryOf(`${lexeme(text)}:*`)

function withLexemes(table: 'search_ngrams' | 'search_texts', which: Sql): LeafCondition {
  const from = table === 'search_ngrams' ? sql`search_ngrams` : sql`search_texts`
  return {
    kind: 'leaf',
    test: sql`EXISTS (SELECT 1 FROM ${from} WHERE doc = e.doc AND ${which})`,
    set: sql`SELECT doc FROM ${from} WHERE ${which}`,
  }
}

function readableBy({ principals, userId }: Reader): Sql {
  if (principals === undefined) return sql`TRUE`
  const named = elementsOf(principals)
  return sql`(
    (e.readers IS NOT NULL AND e.readers && ${named})
    OR (e.readers IS NULL AND e.context IN (SELECT context FROM search_context_readers WHERE principal = ANY (${named})))
    OR e.context IN (SELECT context FROM search_context_readers WHERE principal = ANY (${named}) AND owns = 1)
    OR (e.context = '_principals' AND e.id = ${userId})
  )`
}

/** The SQL of PostgreSQL. */
export const postgresDialect: Dialect = { isOneOf, between, like, contains, matchesWords, readableBy }
