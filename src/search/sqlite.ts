import { listed, name, portionsOf, type Sql, sql } from '../stores/sql.ts'
import { ANY, type Dialect, type FieldTables, type IndexDocument, ONE, type TermToken, within } from './engine.ts'
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
import { comparable, wordsOf } from './fields.ts'
import { stringsByDoc } from './tables.ts'

/** The fields of documents in SQLite. Fields have numbers, because their names are long. */

/** A row id in the full-text tables is the number of the field times this, plus the number of the document: a search reads one field. */
const DOCS_OF_FIELD = 2 ** 32

const firstRow = (field: Sql): Sql => sql`${field} * ${DOCS_OF_FIELD}`

/** The maximum that one statement writes or deletes, which takes some milliseconds. */
const MAX_CHARACTERS = 65_536
const MAX_DELETED = 2000
/** Documents of which one statement finds what they do not have any more. */
const CLEARED_TOGETHER = 20

type Row<T> = readonly [field: number, value: T, doc: number]

async function insert(tx: Queries, documents: readonly IndexDocument[]): Promise<void> {
  await insertRows(tx, await rowsOf(tx, documents))
}

async function replace(tx: Queries, documents: readonly IndexDocument[], section: IndexSection): Promise<void> {
  const rows = await rowsOf(tx, documents)
  for (const some of portionsOf(documents, CLEARED_TOGETHER)) {
    const docs = new Set(some.map(({ doc }) => doc))
    const isOfSome = ([, , doc]: Row<unknown>): boolean => docs.has(doc)
    const { strings, ngrams, texts } = rows
    await clearSection(tx, docs, section, {
      strings: strings.filter(isOfSome),
      texts: [...ngrams, ...texts].filter(isOfSome),
    })
  }
  await insertRows(tx, rows)
}

/** @param kept the rows that are written again */
async function clearSection(
  tx: Queries,
  docs: ReadonlySet<number>,
  section: IndexSection,
  kept: { readonly strings: ReadonlyArray<Row<string>>; readonly texts: ReadonlyArray<Row<string>> },
): Promise<void> {
  const isOfDocs = sql`doc IN (SELECT value FROM json_each(${JSON.stringify([...docs])}))`
  const isOfSection =
    section === 'all'
      ? isOfDocs
      : sql`${isOfDocs} AND field IN (SELECT number FROM search_fields
    WHERE name IN (SELECT value FROM json_each(${JSON.stringify(headFields)})))`
  // Most strings are as before. Among very many it takes too long to find out which.
  const isMany = partsOf(kept.strings).length > 1
  await clearStrings(
    tx,
    isMany ? isOfSection : sql`${isOfSection} AND (field, value, doc) NOT IN (${triples(kept.strings)})`,
    section === 'all' ? new Set(kept.texts.map(([field, , doc]) => field * DOCS_OF_FIELD + doc)) : 'all',
  )
  await tx.run(sql`DELETE FROM search_numbers WHERE ${isOfSection}`)
}

async function clear(tx: Queries, doc: number): Promise<void> {
  const isOfDoc = sql`doc = ${doc}`
  await clearStrings(tx, isOfDoc, new Set())
  await tx.run(sql`DELETE FROM search_numbers WHERE ${isOfDoc}`)
}

/**
 * Strings wait in a temporary table, each field in the order of its documents, so that they are only appended. In the table itself the strings
 * of some documents belong to pages everywhere, and in a large store each transaction would write most pages again.
 */
async function fill(database: Database, progress: Progress, work: () => Promise<void>): Promise<void> {
  await database.run(sql`DROP INDEX search_strings_by_doc`)
  // Until it is dropped, statements mean this table when they name the one that it hides.
  await database.run(sql`CREATE TEMP TABLE search_strings (
    field INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (field, doc, value)
  ) WITHOUT ROWID`)
  await work()
  const fields = await database.all<{ number: number }>(sql`SELECT number FROM search_fields ORDER BY number`)
  const done = counter(progress, 'Sorting the search index', fields.length + 1)
  for (const { number } of fields) {
    const sorted = sql`INSERT INTO main.search_strings (field, value, doc)
      SELECT field, value, doc FROM temp.search_strings WHERE field = ${number} ORDER BY value, doc`
    await database.transaction(tx => tx.run(sorted), { durability: 'relaxed' })
    done()
  }
  await database.run(sql`DROP TABLE temp.search_strings`)
  await database.run(stringsByDoc)
  done()
}

export const sqliteFields: FieldTables = { insert, replace, clear, fill }

interface Rows {
  readonly strings: ReadonlyArray<Row<string>>
  readonly numbers: ReadonlyArray<Row<number>>
  readonly ngrams: ReadonlyArray<Row<string>>
  readonly texts: ReadonlyArray<Row<string>>
}

async function rowsOf(tx: Queries, documents: readonly IndexDocument[]): Promise<Rows> {
  const numberOf = await fieldNumbers(tx, new Set(documents.flatMap(({ fields }) => namesIn(fields))))
  const rows = <T, R>(
    of: (fields: IndexFields) => Iterable<readonly [string, T]>,
    stored: (value: T, name: string) => R,
  ): Row<R>[] =>
    documents.flatMap(({ doc, fields }) =>
      Array.from(of(fields), ([name, value]): Row<R> => [numberOf.get(name) ?? 0, stored(value, name), doc]),
    )
  return {
    // A full text has a row here too: for queries whether the field exists, and as its sort key.
    strings: [
      ...rows(
        ({ strings }) => strings,
        value => value,
      ),
      ...rows(
        ({ ngrams, texts }) => [...ngrams, ...texts],
        (value, name) => sortKey(name, value),
      ),
    ].sort(byFieldAndValue),
    numbers: rows(
      ({ numbers }) => numbers,
      value => value,
    ),
    ngrams: rows(({ ngrams }) => ngrams, onceEach(gramsOf)).sort(byFieldAndDoc),
    texts: rows(({ texts }) => texts, onceEach(wordsOf)).sort(byFieldAndDoc),
  }
}

/** The same function, called once for each text: several fields of an entry have the same. */
function onceEach(of: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return text => {
    const result = known.get(text) ?? of(text)
    known.set(text, result)
    return result
  }
}

const namesIn = ({ strings, numbers, ngrams, texts }: IndexFields): string[] =>
  [...strings, ...numbers, ...ngrams, ...texts].map(([name]) => name)

/** The order of the table, so that neighbours are written together. */
const byFieldAndValue = ([a, one]: Row<string>, [b, other]: Row<string>): number =>
  a - b || (one < other ? -1 : Number(one > other))

/** By row id: at each step back FTS5 begins another part of its index, which it has to merge later. */
const byFieldAndDoc = ([a, , one]: Row<string>, [b, , other]: Row<string>): number => a - b || one - other

/** With an end from which the last two characters are found as well: a trigram begins with each of them. */
const gramsOf = (text: string): string => `${comparable(text)}\n\n`

/** The numbers of fields; new fields get one. */
async function fieldNumbers(tx: Queries, names: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
  const all = JSON.stringify([...names])
  const find = async (): Promise<ReadonlyMap<string, number>> => {
    const rows = await tx.all<{ number: number; name: string }>(
      sql`SELECT number, name FROM search_fields WHERE name IN (SELECT value FROM json_each(${all}))`,
    )
    return new Map(rows.map(({ number, name }) => [name, number]))
  }
  const found = await find()
  if (found.size === names.size) return found
  await tx.run(sql`INSERT OR IGNORE INTO search_fields (name) SELECT value FROM json_each(${all})`)
  return await find()
}

async function insertRows(tx: Queries, { strings, numbers, ngrams, texts }: Rows): Promise<void> {
  for (const rows of partsOf(strings)) {
    await tx.run(sql`INSERT OR IGNORE INTO search_strings (field, value, doc)
      SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${JSON.stringify(rows)})`)
  }
  await tx.run(sql`INSERT INTO search_numbers (field, value, doc)
    SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${JSON.stringify(numbers)})`)
  for (const [table, all] of [
    ['search_ngrams', ngrams],
    ['search_texts', texts],
  ] as const) {
    for (const rows of partsOf(all)) {
      await tx.run(sql`INSERT OR REPLACE INTO ${name(table)} (rowid, value)
        SELECT ${firstRow(sql`(value ->> 0)`)} + (value ->> 2), value ->> 1 FROM json_each(${JSON.stringify(rows)})`)
    }
  }
}

const triples = (rows: ReadonlyArray<Row<string>>): Sql =>
  sql`SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${JSON.stringify(rows)})`

function partsOf(rows: ReadonlyArray<Row<string>>): Array<ReadonlyArray<Row<string>>> {
  const portions: Array<Array<Row<string>>> = []
  let length = MAX_CHARACTERS
  for (const row of rows) {
    if (length >= MAX_CHARACTERS) {
      portions.push([])
      length = 0
    }
    portions.at(-1)?.push(row)
    length += row[1].length
  }
  return portions
}

/** Deletes strings with their full texts: each full text has a row among the strings. @param kept row ids of full texts that stay */
async function clearStrings(tx: Queries, isGone: Sql, kept: ReadonlySet<number> | 'all'): Promise<void> {
  for (let deleted = MAX_DELETED; deleted === MAX_DELETED; ) {
    const rows = await tx.all<{ place: number }>(sql`DELETE FROM search_strings WHERE (field, value, doc) IN (
      SELECT field, value, doc FROM search_strings WHERE ${isGone} LIMIT ${MAX_DELETED})
      RETURNING ${firstRow(sql`field`)} + doc AS place`)
    deleted = rows.length
    const gone = new Set(rows.map(({ place }) => place).filter(place => kept !== 'all' && !kept.has(place)))
    if (gone.size === 0) continue
    const isOne = sql`rowid IN (SELECT value FROM json_each(${JSON.stringify([...gone])}))`
    await tx.run(sql`DELETE FROM search_ngrams WHERE ${isOne}`)
    await tx.run(sql`DELETE FROM search_texts WHERE ${isOne}`)
  }
}

function isOneOf(column: Sql, values: readonly string[]): Sql {
  const [only] = values
  if (only !== undefined && values.length === 1) return sql`value = ${only}`
  return sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`
}

/** The SQL of SQLite, with FTS5. */
export const sqliteDialect: Dialect = {
  folders: sql`search_entries c INDEXED BY search_entries_giving`,
  fieldKey: name => sql`(SELECT number FROM search_fields WHERE name = ${name})`,
  fieldsUnder: start => sql`SELECT name FROM search_fields
    WHERE name >= ${start} AND name < ${start + MAX_CHARACTER} ORDER BY name LIMIT ${MAX_FIELDS_UNDER}`,
  isOneOf: values => isOneOf(sql`value`, values),
  // With the plus the planner looks for no value in an index.
  isOneOfFew: values => isOneOf(sql`+value`, values),
  between: within,
  like(parts) {
    const start = typeof parts[0] === 'string' ? parts[0] : ''
    return sql`value >= ${start} AND value < ${start + MAX_CHARACTER} AND value GLOB ${parts.map(globOf).join('')}`
  },
  contains(field, texts) {
    const match = texts.map(matchOfText).reduce((all, one) => sql`${all} || ' AND ' || ${one}`)
    return sql`SELECT rowid - ${firstRow(field)} AS doc FROM search_ngrams WHERE search_ngrams MATCH ${match}
      AND ${isOf(field)}`
  },
  matchesWords(field, phrases, isPrefix) {
    const match = phrases.map(quoted).join(' AND ') + (isPrefix ? ' *' : '')
    return sql`SELECT rowid - ${firstRow(field)} AS doc FROM search_texts WHERE search_texts MATCH ${match} AND ${isOf(field)}`
  },
  isDocIn: (column, docs) => sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(docs)}))`,
  jsonArray: items => sql`json_array(${listed(items.map(item => sql`json(${item})`))})`,
  jsonRows: (columns, from) => sql`(SELECT json_group_array(json_array(${listed(columns)})) FROM ${from})`,
}

const globOf = (token: TermToken): string =>
  token === ANY ? '*' : token === ONE ? '?' : token.replace(/[[*?]/g, character => `[${character}]`)

/** A text of fewer than three characters is the beginning of some trigrams, which the vocabulary lists. */
function matchOfText(text: string): Sql {
  if ([...text].length >= 3) return sql`${quoted(text)}`
  return sql`(SELECT '(' || coalesce(group_concat('"' || replace(term, '"', '""') || '"', ' OR '), '""') || ')'
    FROM search_ngram_terms WHERE term >= ${text} AND term < ${text + MAX_CHARACTER})`
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** The rows of a field lie together. */
const isOf = (field: Sql): Sql => sql`rowid BETWEEN ${firstRow(field)} AND ${firstRow(sql`(${field} + 1)`)} - 1`
