import { hash } from 'node:crypto'
import { yieldAfter, Yielding } from '../base/yielding.ts'
import type { Queries } from '../stores/database.ts'
import { listed, portionsOf, portionsOfRows, type Sql, sql, tuples } from '../stores/sql.ts'
import type { FieldKey } from './engine.ts'
import {
  type IndexFields,
  type IndexPart,
  MAX_CHARACTER,
  MAX_FIELDS_UNDER,
  partFields,
  sortKey,
} from './index-fields.ts'

/**
 * The fields of documents in SQLite. The rows of a document lie in as many places as it has fields, and what a change costs is mostly
 * the pages that it touches: only the rows that differ are written (D40.3).
 */

/**
 * A row id in the full-text tables is the number of the field times this, plus the number of the document: the rows of one field lie
 * together, and a search reads no others.
 */
const DOCS_OF_FIELD = 2 ** 32
/** Row ids are exact in JavaScript up to this number of fields. */
const MAX_FIELDS = 2 ** 20 - 1

/** The row ids of a field are from here, with the number of a document added, to the next field. */
export const firstRowOf = (field: FieldKey): number => Number(field) * DOCS_OF_FIELD
export const lastRowOf = (field: FieldKey): number => firstRowOf(field) + DOCS_OF_FIELD - 1
const rowIdOf = (field: FieldKey, doc: number): number => firstRowOf(field) + doc

/** How many full texts one statement deletes. */
const MAX_DELETED_TEXTS = 2000
/** How many rows one statement deletes at most: some milliseconds. */
const MAX_DELETED = 10_000
/** Up to this many characters of text are written by one statement; a longer text by one of its own. */
const MAX_TEXT = 65_536
/** So many of a document's present strings are compared at once. */
const MAX_COMPARED = 1000

/** Of a string, about. */
const CHARACTERS = 20

export interface FieldsOfDoc {
  readonly doc: number
  /** It has no rows yet. */
  readonly isNew: boolean
  readonly part: IndexPart
  readonly fields: IndexFields
}

type StringRow = readonly [field: number, value: string, doc: number]
type NumberRow = readonly [field: number, value: number, doc: number]
type TextRow = readonly [rowId: number, text: string]
/** Digests of the full texts of a document, by field. */
type Digests = Readonly<Record<string, string>>

interface RowsOfDoc {
  readonly strings: readonly StringRow[]
  readonly numbers: readonly NumberRow[]
  readonly ngrams: ReadonlyArray<readonly [field: number, text: string]>
  readonly texts: ReadonlyArray<readonly [field: number, text: string]>
}

/** What changes in the tables. */
class Changes {
  goneStrings: StringRow[] = []
  readonly strings: StringRow[] = []
  /** Documents whose numbers are replaced, all of them or those of some fields. */
  readonly renumbered: number[] = []
  readonly goneNumbers: Array<readonly [doc: number, field: number]> = []
  readonly numbers: NumberRow[] = []
  /** Row ids of both full-text tables. */
  readonly goneTexts: number[] = []
  readonly ngrams: TextRow[] = []
  readonly texts: TextRow[] = []
  readonly digests: Array<readonly [doc: number, digests: string]> = []
}

/** Writes the fields of documents, each at most once, in place of those that they had. Fields that belong to no written part stay. */
export async function writeFields(tx: Queries, written: readonly FieldsOfDoc[]): Promise<void> {
  const numberOf = await fieldNumbers(tx, namesOf(written))
  const changes = new Changes()
  for (const { doc, isNew, part, fields } of written) {
    // Each step on the strings of a large document takes some ten milliseconds.
    const size = { length: fields.strings.length * CHARACTERS }
    await yieldAfter(size)
    const rows = rowsOf(doc, fields, numberOf)
    await yieldAfter(size)
    const of = part === 'all' ? undefined : partFields[part].flatMap(name => numberOf.get(name) ?? [])
    // Found before any string is deleted.
    const digests = isNew || of ? {} : await presentDigests(tx, doc)
    if (isNew) append(changes.strings, rows.strings)
    else await addStrings(tx, changes, { doc, of, next: rows.strings })
    if (!isNew && of) changes.goneNumbers.push(...of.map(field => [doc, field] as const))
    if (!isNew && !of) changes.renumbered.push(doc)
    append(changes.numbers, rows.numbers)
    if (!of) addTexts(changes, doc, rows, digests)
    await yieldAfter(size)
  }
  await apply(tx, changes)
}

function namesOf(written: readonly FieldsOfDoc[]): string[] {
  const names = new Set<string>()
  for (const { part, fields } of written) {
    if (part !== 'all') for (const field of partFields[part]) names.add(field)
    for (const pairs of [fields.strings, fields.ngrams, fields.texts, fields.numbers])
      for (const [field] of pairs) names.add(field)
  }
  return [...names]
}

function rowsOf(doc: number, fields: IndexFields, numberOf: ReadonlyMap<string, number>): RowsOfDoc {
  // With a loop, because there can be a hundred thousand.
  const numbered = <T, R>(pairs: Iterable<readonly [string, T]>, row: (field: number, value: T) => R): R[] => {
    const rows: R[] = []
    for (const [name, value] of pairs) {
      const field = numberOf.get(name)
      if (field !== undefined) rows.push(row(field, value))
    }
    return rows
  }
  const { strings, numbers, ngrams, texts } = fields
  const rowsOfStrings = numbered<string, StringRow>(strings, (field, value) => [field, value, doc])
  // A full text has a row here too: for queries whether the field exists, and as its sort key.
  for (const full of [ngrams, texts]) {
    rowsOfStrings.push(...numbered<string, StringRow>(full, (field, text) => [field, sortKey(text), doc]))
  }
  return {
    strings: rowsOfStrings,
    numbers: numbered(numbers, (field, value) => [field, value, doc]),
    ngrams: numbered(ngrams, (field, text) => [field, text]),
    texts: numbered(texts, (field, text) => [field, text]),
  }
}

/** The differences between the present strings of a document and its next ones. @param of only these fields */
async function addStrings(
  tx: Queries,
  changes: Changes,
  { doc, of, next }: { readonly doc: number; readonly of: Fields; readonly next: readonly StringRow[] },
): Promise<void> {
  const missing = new Map<number, Set<string>>()
  const yielding = new Yielding()
  for (const some of portionsOf(next, MAX_COMPARED)) {
    for (const [field, value] of some) {
      const values = missing.get(field)
      if (values) values.add(value)
      else missing.set(field, new Set([value]))
    }
    await yielding.after(some.length * CHARACTERS)
  }
  for await (const present of presentStrings(tx, doc, of)) {
    append(
      changes.goneStrings,
      present.filter(([field, value]) => !missing.get(field)?.delete(value)),
    )
    if (present.length < MAX_COMPARED) break
    // A document can have a hundred thousand, which would take much memory together.
    await deleteStrings(tx, changes.goneStrings)
    changes.goneStrings = []
  }
  for (const [field, values] of missing) for (const value of values) changes.strings.push([field, value, doc])
}

/** Only these fields of a document, which have no full texts. */
type Fields = readonly number[] | undefined

const among = (fields: Fields): Sql => (fields ? sql`AND field IN (${listed(fields)})` : sql``)

async function* presentStrings(tx: Queries, doc: number, of: Fields): AsyncGenerator<readonly StringRow[]> {
  const yielding = new Yielding()
  let last = { field: -1, value: '' }
  for (;;) {
    const rows = await tx.all<{ field: number; value: string }>(sql`SELECT field, value FROM search_strings
      WHERE doc = ${doc} AND (field, value) > (${last.field}, ${last.value}) ${among(of)}
      ORDER BY field, value LIMIT ${MAX_COMPARED}`)
    yield rows.map(({ field, value }) => [field, value, doc] as const)
    const end = rows.at(-1)
    if (!end) return
    last = end
    await yielding.after(rows.length * CHARACTERS)
  }
}

/** An empty digest stands for a text that is not known. */
async function presentDigests(tx: Queries, doc: number): Promise<Digests> {
  const known = await tx.get<{ digests: string }>(sql`SELECT digests FROM search_digests WHERE doc = ${doc}`)
  if (known) return JSON.parse(known.digests) as Digests
  // Indexed by an earlier version. Each full text has a row among the strings.
  const rows = await tx.all<{ field: number }>(sql`${fieldsOf(doc)} SELECT field FROM f WHERE field IS NOT NULL`)
  return Object.fromEntries(rows.map(({ field }) => [field, '']))
}

function addTexts(changes: Changes, doc: number, rows: RowsOfDoc, present: Digests): void {
  const digests: Record<string, string> = {}
  for (const [part, added] of [
    [rows.ngrams, changes.ngrams],
    [rows.texts, changes.texts],
  ] as const) {
    for (const [field, text] of part) {
      digests[field] = digestOf(text)
      if (present[field] !== digests[field]) added.push([rowIdOf(field, doc), text])
    }
  }
  for (const field of Object.keys(present)) {
    if (!(field in digests)) changes.goneTexts.push(rowIdOf(Number(field), doc))
  }
  const text = JSON.stringify(digests)
  if (text !== JSON.stringify(present)) changes.digests.push([doc, text])
}

/** With a loop, because there can be a hundred thousand. */
function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one)
}

/** 72 bits of SHA-256. A collision affects only the entry of the user who made it: its old text is still found. */
const digestOf = (text: string): string => hash('sha256', text, 'base64').slice(0, 12)

/** In portions, so that other work gets its turn between them. */
async function apply(tx: Queries, changes: Changes): Promise<void> {
  for (const some of portionsOf(inOrder(changes.goneTexts.map(id => [id] as const)), MAX_DELETED_TEXTS)) {
    const ids = JSON.stringify(some.flat())
    await tx.run(sql`DELETE FROM search_ngrams WHERE rowid IN (SELECT value FROM json_each(${ids}))`)
    await tx.run(sql`DELETE FROM search_texts WHERE rowid IN (SELECT value FROM json_each(${ids}))`)
  }
  await deleteStrings(tx, changes.goneStrings)
  for (const some of portionsOfRows(changes.strings)) {
    await tx.run(sql`INSERT OR IGNORE INTO search_strings (field, value, doc) VALUES ${tuples(some)}`)
  }
  if (changes.renumbered.length > 0) {
    await tx.run(sql`DELETE FROM search_numbers
      WHERE doc IN (SELECT value FROM json_each(${JSON.stringify(changes.renumbered)}))`)
  }
  for (const some of portionsOfRows(changes.goneNumbers)) {
    await tx.run(sql`DELETE FROM search_numbers WHERE (doc, field) IN (VALUES ${tuples(some)})`)
  }
  for (const some of portionsOfRows(changes.numbers)) {
    await tx.run(sql`INSERT INTO search_numbers (field, value, doc) VALUES ${tuples(some)}`)
  }
  // Deleted and inserted by one statement, because FTS5 writes a part of its index before the next; so not as tuples either (D40.6).
  for (const some of portionsOfTexts(changes.ngrams)) {
    await tx.run(sql`INSERT OR REPLACE INTO search_ngrams (rowid, value)
      SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(some)})`)
  }
  for (const some of portionsOfTexts(changes.texts)) {
    await tx.run(sql`INSERT OR REPLACE INTO search_texts (rowid, value)
      SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(some)})`)
  }
  for (const some of portionsOfRows(changes.digests)) {
    await tx.run(sql`INSERT OR REPLACE INTO search_digests (doc, digests) VALUES ${tuples(some)}`)
  }
}

async function deleteStrings(tx: Queries, rows: readonly StringRow[]): Promise<void> {
  for (const some of portionsOfRows(rows)) {
    await tx.run(sql`DELETE FROM search_strings WHERE (field, value, doc) IN (VALUES ${tuples(some)})`)
  }
}

/** By row id: at each step back FTS5 begins another part of its index. */
const inOrder = <T extends readonly [rowId: number, ...rest: unknown[]]>(rows: readonly T[]): T[] =>
  [...rows].sort(([one], [other]) => one - other)

/** Texts in portions of limited length. */
function* portionsOfTexts(rows: readonly TextRow[]): Generator<readonly TextRow[]> {
  let portion: TextRow[] = []
  let length = 0
  for (const row of inOrder(rows)) {
    if (portion.length > 0 && length + row[1].length > MAX_TEXT) {
      yield portion
      portion = []
      length = 0
    }
    portion.push(row)
    length += row[1].length
  }
  if (portion.length > 0) yield portion
}

/** Deletes the rows of a document. */
export async function clearFields(tx: Queries, doc: number): Promise<void> {
  await clearTexts(tx, doc)
  for (;;) {
    const next = await tx.get<{ field: number; value: string }>(sql`SELECT field, value FROM search_strings
      WHERE doc = ${doc} ORDER BY field, value LIMIT 1 OFFSET ${MAX_DELETED}`)
    if (!next) break
    await tx.run(sql`DELETE FROM search_strings WHERE doc = ${doc} AND (field, value) < (${next.field}, ${next.value})`)
  }
  await tx.run(sql`DELETE FROM search_strings WHERE doc = ${doc}`)
  await tx.run(sql`DELETE FROM search_numbers WHERE doc = ${doc}`)
}

/** The fields that a document has strings of. It may have 50,000 strings, but only so many fields. */
const fieldsOf = (doc: number): Sql => sql`WITH RECURSIVE f (field) AS (
    SELECT min(field) FROM search_strings WHERE doc = ${doc} UNION ALL
    SELECT (SELECT min(field) FROM search_strings WHERE doc = ${doc} AND field > f.field) FROM f WHERE f.field IS NOT NULL
  )`

async function clearTexts(tx: Queries, doc: number): Promise<void> {
  // Each full text has a row among the strings.
  const rows = sql`${fieldsOf(doc)} SELECT field * ${DOCS_OF_FIELD} + ${doc} FROM f WHERE field IS NOT NULL`
  await tx.run(sql`DELETE FROM search_ngrams WHERE rowid IN (${rows})`)
  await tx.run(sql`DELETE FROM search_texts WHERE rowid IN (${rows})`)
  await tx.run(sql`DELETE FROM search_digests WHERE doc = ${doc}`)
}

/** The numbers of fields; new fields get one. Fields beyond the last number are not indexed. */
async function fieldNumbers(tx: Queries, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = await findFields(tx, names)
  const missing = names.filter(name => !found.has(name))
  if (missing.length === 0) return found
  await tx.run(sql`INSERT INTO search_fields (name) SELECT value FROM json_each(${JSON.stringify(missing)})
    WHERE (SELECT count(*) FROM search_fields) + ${missing.length} < ${MAX_FIELDS}`)
  return await findFields(tx, names)
}

export async function findFields(queries: Queries, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await queries.all<{ number: number; name: string }>(
    sql`SELECT number, name FROM search_fields WHERE name IN (SELECT value FROM json_each(${JSON.stringify(names)}))`,
  )
  return new Map(rows.map(({ number, name }) => [name, number]))
}

/** Some fields whose names begin with `start`, by name. */
export async function findFieldsUnder(queries: Queries, start: string): Promise<string[]> {
  const rows = await queries.all<{ name: string }>(sql`SELECT name FROM search_fields
    WHERE name >= ${start} AND name < ${start + MAX_CHARACTER} ORDER BY name LIMIT ${MAX_FIELDS_UNDER}`)
  return rows.map(({ name }) => name)
}
