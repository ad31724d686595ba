import { listed, type Sql, sql } from '../stores/sql.ts'
import { type Bound, type Dialect, within } from './engine.ts'
import { MAX_CHARACTER, MAX_FIELDS_UNDER } from './index-fields.ts'
import { trigramsOf } from './postgres-index.ts'
import { ANY, ONE, type TermPart } from './query.ts'

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
