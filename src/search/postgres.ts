import { listed, type Sql, sql } from '../stores/sql.ts'
import { type Bound, type Dialect, type FieldTables, within } from './engine.ts'
import {
  headFields,
  type IndexFields,
  type IndexPart,
  MAX_CHARACTER,
  MAX_FIELDS_UNDER,
  sortKey,
} from './index-fields.ts'
import { ANY, ONE, type TermPart } from './query.ts'
import type { Queries } from '../stores/database.ts'
import type { Bytes } from '../base/units.ts'
import { comparable, wordsOf } from './fields.ts'

/** The fields of documents in PostgreSQL: rows with the names of the fields, so that writers share no row. */

/** A longer name does not fit into an index row beside the prefix of a value. */
const MAX_FIELD: Bytes = 512
/** The database's limit for the words of a text is 1 MiB, with their positions. */
const MAX_TEXT = 131_072

export const postgresFields: FieldTables = { insert, replace, clear: (tx, doc) => clear(tx, doc, 'all') }

/** All distinct trigrams. */
function trigramsOf(text: string): string[] {
  const characters = [...text]
  return [...new Set(characters.slice(2).map((last, at) => `${characters[at]}${characters[at + 1]}${last}`))]
}

async function insert(tx: Queries, doc: number, fields: IndexFields): Promise<void> {
  const short = <T>(pairs: Iterable<readonly [string, T]>): Array<readonly [string, T]> =>
    [...pairs].filter(([field]) => Buffer.byteLength(field) <= MAX_FIELD)
  const [ngrams, texts] = [short(fields.ngrams), short(fields.texts)]
  // A full text has a row here too: for queries whether the field exists, and as its sort key.
  const keys = [...ngrams, ...texts].map(([field, text]) => [field, sortKey(field, text)] as const)
  await tx.run(sql`INSERT INTO search_strings (doc, field, value)
    SELECT DISTINCT CAST(${doc} AS BIGINT), r ->> 0, r ->> 1 FROM ${rowsOf([...short(fields.strings), ...keys])}`)
  await tx.run(sql`INSERT INTO search_numbers (doc, field, value)
    SELECT ${doc}, r ->> 0, CAST(r ->> 1 AS BIGINT) FROM ${rowsOf(short(fields.numbers))}`)
  if (ngrams.length > 0) {
    const rows = ngrams.map(([field, text]) => {
      const value = comparable(text)
      // With an end from which the last two characters are found as well: a trigram begins with each of them.
      return [field, value, trigramsOf(`${value}\n\n`)]
    })
    await tx.run(sql`INSERT INTO search_ngrams (doc, field, value, grams)
      SELECT ${doc}, r ->> 0, r ->> 1, array_to_tsvector(ARRAY(SELECT json_array_elements_text(r -> 2))) FROM ${rowsOf(rows)}`)
  }
  if (texts.length > 0) {
    const rows = texts.map(([field, text]) => [field, wordsOf(text).slice(0, MAX_TEXT)])
    await tx.run(sql`INSERT INTO search_texts (doc, field, words)
      SELECT ${doc}, r ->> 0, to_tsvector('stowage', r ->> 1) FROM ${rowsOf(rows)}`)
  }
}

const rowsOf = (rows: readonly unknown[]) => sql`json_array_elements(CAST(${JSON.stringify(rows)} AS JSON)) r`

async function replace(tx: Queries, doc: number, part: IndexPart, fields: IndexFields): Promise<void> {
  await clear(tx, doc, part)
  await insert(tx, doc, fields)
}

async function clear(tx: Queries, doc: number, part: IndexPart): Promise<void> {
  const isOfPart = part === 'all' ? sql`` : sql`AND field IN (${listed(headFields)})`
  await tx.run(sql`DELETE FROM search_strings WHERE doc = ${doc} ${isOfPart}`)
  await tx.run(sql`DELETE FROM search_numbers WHERE doc = ${doc} ${isOfPart}`)
  if (part !== 'all') return
  await tx.run(sql`DELETE FROM search_ngrams WHERE doc = ${doc}`)
  await tx.run(sql`DELETE FROM search_texts WHERE doc = ${doc}`)
}

/** The SQL of PostgreSQL. */
export const postgresDialect: Dialect = {
  fieldKey: name => sql`${name}`,
  fieldsUnder(start) {
    const isUnder = sql`field >= ${start} AND field < ${start + MAX_CHARACTER}`
    return sql`SELECT field AS name FROM search_strings WHERE ${isUnder}
      UNION SELECT field FROM search_numbers WHERE ${isUnder} ORDER BY name LIMIT ${MAX_FIELDS_UNDER}`
  },
  isOneOf(values) {
    const [only] = values
    if (only !== undefined && values.length === 1) return sql`left(value, 500) = left(${only}, 500) AND value = ${only}`
    const all = sql`ARRAY(SELECT jsonb_array_elements_text(CAST(${JSON.stringify(values)} AS JSONB)))`
    return sql`left(value, 500) IN (SELECT left(v, 500) FROM unnest(${all}) v) AND value = ANY (${all})`
  },
  between,
  like(parts) {
    const start = typeof parts[0] === 'string' ? parts[0] : ''
    const from = { value: start, isIncluded: true }
    const to = { value: start + MAX_CHARACTER, isIncluded: false }
    return sql`${between(from, to)} AND value LIKE ${parts.map(patternOf).join('')}`
  },
  contains(field, texts) {
    const grams = texts.flatMap(text => {
      const runs = trigramsOf(text)
      // A text of fewer than three characters is the beginning of some trigrams.
      return runs.length === 0 ? [`${lexeme(text)}:*`] : runs.map(lexeme)
    })
    const isIn = texts.map(text => sql`strpos(value, ${text}) > 0`).reduce((all, one) => sql`${all} AND ${one}`)
    return sql`SELECT doc FROM search_ngrams WHERE field = ${field} AND grams @@ CAST(${grams.join(' & ')} AS TSQUERY) AND ${isIn}`
  },
  /** The words of a phrase follow one another. */
  matchesWords(field, phrases, isPrefix) {
    const query = phrases.map(phrase => phrase.split(' ').join(' <-> ')).join(' & ') + (isPrefix ? ':*' : '')
    return sql`SELECT doc FROM search_texts WHERE field = ${field} AND words @@ to_tsquery('stowage', ${query})`
  },
  jsonArray: items => sql`json_build_array(${listed(items)})`,
  jsonRows: (columns, from) =>
    sql`(SELECT coalesce(json_agg(json_build_array(${listed(columns)})), json_build_array()) FROM ${from})`,
}

/** The index holds prefixes of values, which sort in the same order. */
function between(from: Bound | undefined, to: Bound | undefined): Sql {
  const start = from ? sql`left(value, 500) >= left(${from.value}, 500)` : sql`TRUE`
  const end = to ? sql`left(value, 500) <= left(${to.value}, 500)` : sql`TRUE`
  return sql`${start} AND ${end} AND ${within(from, to)}`
}

const patternOf = (part: TermPart): string =>
  part === ANY ? '%' : part === ONE ? '_' : part.replace(/[\\%_]/g, character => `\\${character}`)

const lexeme = (text: string): string => `'${text.replace(/['\\]/g, character => character + character)}'`
