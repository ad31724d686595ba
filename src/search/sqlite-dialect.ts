import { type Sql, sql } from '../stores/sql.ts'
import type { Bound, Dialect, FieldKey, LeafCondition } from './engine.ts'
import { ANY, ONE, type TermPart } from './query.ts'
import { MAX_CHARACTER } from './index-fields.ts'
import { firstRowOf, lastRowOf } from './sqlite-fields.ts'
import { readableBy } from './sqlite-index.ts'

function isOneOf(values: readonly string[]): Sql {
  const [only] = values
  if (only !== undefined && values.length === 1) return sql`value = ${only}`
  return sql`value IN (SELECT value FROM json_each(${JSON.stringify(values)}))`
}

function between(from: Bound | undefined, to: Bound | undefined): Sql {
  const lower = !from ? sql`TRUE` : from.isIncluded ? sql`value >= ${from.value}` : sql`value > ${from.value}`
  const upper = !to ? sql`TRUE` : to.isIncluded ? sql`value <= ${to.value}` : sql`value < ${to.value}`
  return sql`${lower} AND ${upper}`
}

function like(parts: readonly TermPart[]): Sql {
  const start = typeof parts[0] === 'string' ? parts[0] : ''
  return sql`value >= ${start} AND value < ${start + MAX_CHARACTER} AND value GLOB ${parts.map(globOf).join('')}`
}

const globOf = (part: TermPart): string =>
  part === ANY ? '*' : part === ONE ? '?' : part.replace(/[[*?]/g, character => `[${character}]`)

const contains = (field: FieldKey, text: string): LeafCondition => fullText('search_ngrams', field, matchOfPart(text))

/** Fewer than three characters match the beginning of a trigram; the vocabulary table lists these trigrams. */
function matchOfPart(piece: string): Sql {
  if ([...piece].length >= 3) return sql`${quoted(piece)}`
  const start = piece.toLowerCase()
  return sql`(SELECT coalesce(group_concat('"' || replace(term, '"', '""') || '"', ' OR '), '""')
    FROM search_ngram_terms WHERE term >= ${start} AND term < ${start + MAX_CHARACTER})`
}

const matchesWords = (field: FieldKey, phrases: readonly string[], isPrefix: boolean): LeafCondition =>
  fullText('search_texts', field, sql`${phrases.map(quoted).join(' AND ') + (isPrefix ? ' *' : '')}`)

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

function fullText(table: 'search_ngrams' | 'search_texts', field: FieldKey, match: Sql): LeafCondition {
  const from = table === 'search_ngrams' ? sql`search_ngrams WHERE search_ngrams` : sql`search_texts WHERE search_texts`
  const first = firstRowOf(field)
  return {
    kind: 'leaf',
    isSlow: true,
    test: sql`EXISTS (SELECT 1 FROM ${from} MATCH ${match} AND rowid = ${first} + e.doc)`,
    set: sql`SELECT rowid - ${first} AS doc FROM ${from} MATCH ${match}
      AND rowid BETWEEN ${first} AND ${lastRowOf(field)}`,
  }
}

/** The SQL of SQLite, with FTS5. */
export const sqliteDialect: Dialect = { isOneOf, between, like, contains, matchesWords, readableBy }
