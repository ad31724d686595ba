import { listed, name, type Sql, sql } from '../stores/sql.ts'
import {
  ANY,
  type Bound,
  type Dialect,
  type FieldTables,
  type IndexDocument,
  ONE,
  type TermToken,
  within,
} from './engine.ts'
import {
  headFields,
  type IndexFields,
  type IndexSection,
  MAX_CHARACTER,
  MAX_FIELDS_UNDER,
  sortKey,
} from './index-fields.ts'
import { counter, type Progress } from '../base/progress.ts'
import type { Database, Queries } from '../stores/database.ts'
import type { Bytes } from '../base/units.ts'
import { comparable, wordsOf } from './fields.ts'
import { postgresIndexes } from './tables.ts'

/** A longer name of a field does not fit into an index row beside the prefix of a value. */
const MAX_FIELD: Bytes = 512
/** The database's limit for the words of a text is 1 MiB, with their positions. */
const MAX_TEXT = 131_072

/** The fields of documents in PostgreSQL: rows with the names of the fields, so that writers share no row. */
export const postgresFields: FieldTables = { insert, replace, clear: (tx, doc) => clear(tx, doc, 'all'), fill }

/** All distinct trigrams. */
function trigramsOf(text: string): string[] {
  const characters = [...text]
  return [...new Set(characters.slice(2).map((last, at) => `${characters[at]}${characters[at + 1]}${last}`))]
}

async function insert(tx: Queries, documents: readonly IndexDocument[]): Promise<void> {
  const rows = <T, R extends readonly unknown[]>(
    of: (fields: IndexFields) => Iterable<readonly [string, T]>,
    stored: (value: T, name: string) => R,
  ): Array<readonly [number, string, ...R]> =>
    documents.flatMap(({ doc, fields }) =>
      [...of(fields)]
        .filter(([field]) => Buffer.byteLength(field) <= MAX_FIELD)
        .map(([field, value]) => [doc, field, ...stored(value, field)] as const),
    )
  const strings = rows(
    ({ strings }) => strings,
    value => [value],
  )
  // A full text has a row here too: for queries whether the field exists, and as its sort key.
  const keys = rows(
    ({ ngrams, texts }) => [...ngrams, ...texts],
    (text, field) => [sortKey(field, text)],
  )
  const numbers = rows(
    ({ numbers }) => numbers,
    value => [value],
  )
  const ngrams = rows(
    ({ ngrams }) => ngrams,
    text => {
      const value = comparable(text)
      // With two line breaks at the end, a trigram begins with each of the last two characters as well, so searches find them.
      return [value, trigramsOf(`${value}\n\n`)]
    },
  )
  const texts = rows(
    ({ texts }) => texts,
    // The cut may go through a character, and JSON text with half of one is refused.
    text => [wordsOf(text).slice(0, MAX_TEXT).toWellFormed()],
  )
  // One statement, because each waits for the server.
  await tx.run(sql`WITH
    strings AS (INSERT INTO search_strings (doc, field, value)
      SELECT DISTINCT CAST(r ->> 0 AS BIGINT), r ->> 1, r ->> 2 FROM ${rowsOf([...strings, ...keys])}),
    numbers AS (INSERT INTO search_numbers (doc, field, value)
      SELECT CAST(r ->> 0 AS BIGINT), r ->> 1, CAST(r ->> 2 AS BIGINT) FROM ${rowsOf(numbers)}),
    ngrams AS (INSERT INTO search_ngrams (doc, field, value, grams)
      SELECT CAST(r ->> 0 AS BIGINT), r ->> 1, r ->> 2,
        array_to_tsvector(ARRAY(SELECT json_array_elements_text(r -> 3))) FROM ${rowsOf(ngrams)})
    INSERT INTO search_texts (doc, field, words)
      SELECT CAST(r ->> 0 AS BIGINT), r ->> 1, to_tsvector('stowage', r ->> 2) FROM ${rowsOf(texts)}`)
}

const rowsOf = (rows: readonly unknown[]) => sql`json_array_elements(CAST(${JSON.stringify(rows)} AS JSON)) r`

async function replace(tx: Queries, documents: readonly IndexDocument[], section: IndexSection): Promise<void> {
  for (const { doc } of documents) await clear(tx, doc, section)
  await insert(tx, documents)
}

async function clear(tx: Queries, doc: number, section: IndexSection): Promise<void> {
  const isOfSection = section === 'all' ? sql`` : sql`AND field IN (${listed(headFields)})`
  await tx.run(sql`DELETE FROM search_strings WHERE doc = ${doc} ${isOfSection}`)
  await tx.run(sql`DELETE FROM search_numbers WHERE doc = ${doc} ${isOfSection}`)
  if (section !== 'all') return
  await tx.run(sql`DELETE FROM search_ngrams WHERE doc = ${doc}`)
  await tx.run(sql`DELETE FROM search_texts WHERE doc = ${doc}`)
}

/** Rows are only appended, and each database index is sorted once. */
async function fill(database: Database, progress: Progress, work: () => Promise<void>): Promise<void> {
  await database.run(sql`DROP INDEX ${listed(Object.keys(postgresIndexes).map(name))}`)
  await work()
  const statements = Object.values(postgresIndexes)
  const done = counter(progress, 'Sorting the search index', statements.length)
  for (const statement of statements) {
    await database.transaction(tx => tx.run(statement), { noTimeout: true })
    done()
  }
}

/** The SQL of PostgreSQL. */
export const postgresDialect: Dialect = {
  folders: sql`search_entries c`,
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
  isOneOfFew: values => sql`value IN (SELECT jsonb_array_elements_text(CAST(${JSON.stringify(values)} AS JSONB)))`,
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
  isDocIn: (column, docs) =>
    sql`${column} IN (SELECT CAST(v AS BIGINT) FROM jsonb_array_elements_text(CAST(${JSON.stringify(docs)} AS JSONB)) v)`,
  jsonArray: items => sql`json_build_array(${listed(items)})`,
  jsonRows: (columns, from) =>
    sql`(SELECT coalesce(json_agg(json_build_array(${listed(columns)})), json_build_array()) FROM ${from})`,
}

/** The database index holds the first 500 characters of values, which narrow the rows down; `within` compares whole values. */
function between(from: Bound | undefined, to: Bound | undefined): Sql {
  const start = from ? sql`left(value, 500) >= left(${from.value}, 500)` : sql`TRUE`
  const end = to ? sql`left(value, 500) <= left(${to.value}, 500)` : sql`TRUE`
  return sql`${start} AND ${end} AND ${within(from, to)}`
}

const patternOf = (token: TermToken): string =>
  token === ANY ? '%' : token === ONE ? '_' : token.replace(/[\\%_]/g, character => `\\${character}`)

const lexeme = (text: string): string => `'${text.replace(/['\\]/g, character => character + character)}'`
