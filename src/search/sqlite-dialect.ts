import { listed, type Sql, sql } from '../stores/sql.ts'
import { type Dialect, within } from './engine.ts'
import { MAX_CHARACTER, MAX_FIELDS_UNDER } from './index-fields.ts'
import { ANY, ONE, type TermPart } from './query.ts'
import { firstRow } from './sqlite-index.ts'

/** The SQL of SQLite, with FTS5. */
export const sqliteDialect: Dialect = {
  fieldKey: name => sql`(SELECT number FROM search_fields WHERE name = ${name})`,
  fieldsUnder: start => sql`SELECT name FROM search_fields
    WHERE name >= ${start} AND name < ${start + MAX_CHARACTER} ORDER BY name LIMIT ${MAX_FIELDS_UNDER}`,
  isOneOf(values) {
    const [only] = values
    if (only !== undefined && values.length === 1) return sql`value = ${only}`
    return sql`value IN (SELECT value FROM json_each(${JSON.stringify(values)}))`
  },
  between: within,
  like(parts) {
    const start = typeof parts[0] === 'string' ? parts[0] : ''
    return sql`value >= ${start} AND value < ${start + MAX_CHARACTER} AND value GLOB ${parts.map(globOf).join('')}`
  },
  contains(field, texts) {
    const match = texts.map(matchOfPart).reduce((all, one) => sql`${all} || ' AND ' || ${one}`)
    return sql`SELECT rowid - ${firstRow(field)} AS doc FROM search_ngrams WHERE search_ngrams MATCH ${match}
      AND ${isOf(field)}`
  },
  matchesWords(field, phrases, isPrefix) {
    const match = phrases.map(quoted).join(' AND ') + (isPrefix ? ' *' : '')
    return sql`SELECT rowid - ${firstRow(field)} AS doc FROM search_texts WHERE search_texts MATCH ${match} AND ${isOf(field)}`
  },
  jsonArray: items => sql`json_array(${listed(items.map(item => sql`json(${item})`))})`,
  jsonRows: (columns, from) => sql`(SELECT json_group_array(json_array(${listed(columns)})) FROM ${from})`,
}

const globOf = (part: TermPart): string =>
  part === ANY ? '*' : part === ONE ? '?' : part.replace(/[[*?]/g, character => `[${character}]`)

/** A text of fewer than three characters is the beginning of some trigrams, which the vocabulary lists. */
function matchOfPart(text: string): Sql {
  if ([...text].length >= 3) return sql`${quoted(text)}`
  return sql`(SELECT '(' || coalesce(group_concat('"' || replace(term, '"', '""') || '"', ' OR '), '""') || ')'
    FROM search_ngram_terms WHERE term >= ${text} AND term < ${text + MAX_CHARACTER})`
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** The rows of a field lie together. */
const isOf = (field: Sql): Sql => sql`rowid BETWEEN ${firstRow(field)} AND ${firstRow(sql`(${field} + 1)`)} - 1`
