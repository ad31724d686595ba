import { GUEST, USERS } from '../accounts/principals.ts'
import type { Queries } from '../stores/database.ts'
import { portionsOf, type Sql, sql } from '../stores/sql.ts'
import { type Acl, type Entry, isOwnAcl } from '../model/entry.ts'
import { CONTEXTS, type EntryAddress, principalUri } from '../model/addresses.ts'
import type { FieldKey, IndexedEntry, IndexWriter, Reader } from './engine.ts'
import { type IndexFields, LARGEST_CHARACTER, MAX_FIELDS_UNDER, readersOf, sortKey } from './index-fields.ts'
import { sweepDiscarded } from './discarded.ts'

/** The search index in SQLite, with FTS5. */

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
/** The reader set of entries without their own ACL. */
const CONTEXT_DEFAULT = 0

/** Recorded in place of a document: the readers of unchanged entries may have changed. */
export const WHO_READS = 0
/** At least so many of the latest changes are recorded. Older ones are deleted some together. */
const KEPT_CHANGES = 2000
const DELETED_TOGETHER = 100
/** How many strings one statement writes. */
const MAX_STRINGS = 2000
/** Up to this many characters of text are written by one statement; a longer text by one of its own. */
const MAX_TEXT = 65_536

export const sqliteIndex: IndexWriter = {
  write,
  remove,
  removeContext,
  sweep: (tx, most) => sweepDiscarded(tx, most, clearFields),
}

async function write(tx: Queries, items: readonly IndexedEntry[]): Promise<void> {
  const written: FieldsOfDoc[] = []
  for (const { entry, fields } of items) written.push({ doc: await writeEntry(tx, entry), fields })
  await writeFields(tx, written)
}

/** Writes all but the fields. Returns the number of the document, which has no fields then. */
async function writeEntry(tx: Queries, { context, id, modified, acl }: Entry): Promise<number> {
  const audience = isOwnAcl(acl) ? await audienceOf(tx, readersOf(acl)) : CONTEXT_DEFAULT
  const known = await tx.get<{
    doc: number
  }>(sql`UPDATE search_entries SET audience = ${audience}, modified = ${modified}
    WHERE context = ${context} AND id = ${id} RETURNING doc`)
  const row =
    known ??
    (await tx.get<{ doc: number }>(sql`INSERT INTO search_entries (context, id, audience, modified)
      VALUES (${context}, ${id}, ${audience}, ${modified}) RETURNING doc`))
  if (!row) throw new Error('the index returned no number')
  await noteChange(tx, row.doc)
  // A new entry has a new number, and nothing to clear.
  if (known) await clearFields(tx, row.doc)
  if (context === CONTEXTS) await writeContextReaders(tx, id, acl)
  return row.doc
}

async function remove(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  const row = await tx.get<{ doc: number }>(
    sql`DELETE FROM search_entries WHERE context = ${context} AND id = ${id} RETURNING doc`,
  )
  if (row) {
    await noteChange(tx, row.doc)
    await clearFields(tx, row.doc)
  }
  if (context === CONTEXTS) await writeContextReaders(tx, id, {})
}

async function removeContext(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`INSERT INTO search_discarded (doc) SELECT doc FROM search_entries WHERE context = ${context}`)
  if ((await tx.run(sql`DELETE FROM search_entries WHERE context = ${context}`)) > 0) await noteChange(tx, WHO_READS)
}

async function noteChange(tx: Queries, doc: number): Promise<void> {
  const row = await tx.get<{ generation: number }>(
    sql`INSERT INTO search_changes (doc) VALUES (${doc}) RETURNING generation`,
  )
  const generation = row?.generation ?? 0
  if (generation % DELETED_TOGETHER !== 0) return
  await tx.run(sql`DELETE FROM search_changes WHERE generation <= ${generation - KEPT_CHANGES}`)
}

/** The number of the latest change. */
export async function latestGeneration(queries: Queries): Promise<number> {
  const row = await queries.get<{ latest: number | null }>(sql`SELECT max(generation) AS latest FROM search_changes`)
  return row?.latest ?? 0
}

/** The documents that changed after that generation; `undefined` when it is no longer recorded. */
export async function changesAfter(queries: Queries, generation: number): Promise<ReadonlySet<number> | undefined> {
  const rows = await queries.all<{ generation: number; doc: number }>(
    sql`SELECT generation, doc FROM search_changes WHERE generation > ${generation} ORDER BY generation`,
  )
  const [first] = rows
  return first === undefined || first.generation === generation + 1 ? new Set(rows.map(({ doc }) => doc)) : undefined
}

async function clearFields(tx: Queries, doc: number): Promise<void> {
  // Each full text has a row among the strings. An entry may have 50,000 strings, but only so many fields.
  const rows = sql`WITH RECURSIVE f (field) AS (
      SELECT min(field) FROM search_strings WHERE doc = ${doc} UNION ALL
      SELECT (SELECT min(field) FROM search_strings WHERE doc = ${doc} AND field > f.field) FROM f WHERE f.field IS NOT NULL
    ) SELECT field * ${DOCS_OF_FIELD} + ${doc} FROM f WHERE field IS NOT NULL`
  await tx.run(sql`DELETE FROM search_ngrams WHERE rowid IN (${rows})`)
  await tx.run(sql`DELETE FROM search_texts WHERE rowid IN (${rows})`)
  await tx.run(sql`DELETE FROM search_strings WHERE doc = ${doc}`)
  await tx.run(sql`DELETE FROM search_numbers WHERE doc = ${doc}`)
}

interface FieldsOfDoc {
  readonly doc: number
  readonly fields: IndexFields
}

async function writeFields(tx: Queries, written: readonly FieldsOfDoc[]): Promise<void> {
  const names = new Set<string>()
  for (const { fields } of written) {
    for (const part of [fields.strings, fields.ngrams, fields.texts, fields.numbers])
      for (const [field] of part) names.add(field)
  }
  const numberOf = await fieldNumbers(tx, [...names])
  const numbered = <T, R>(
    pairsOf: (fields: IndexFields) => Iterable<readonly [string, T]>,
    row: (field: number, value: T, doc: number) => R,
  ): R[] =>
    written.flatMap(({ doc, fields }) =>
      [...pairsOf(fields)].flatMap(([field, value]) => {
        const number = numberOf.get(field)
        return number === undefined ? [] : [row(number, value, doc)]
      }),
    )
  // A full text has a row here too: for queries whether the field exists, and as its sort key.
  const strings = numbered(
    ({ strings, ngrams, texts }) => [
      ...strings,
      ...[...ngrams, ...texts].map(([field, text]) => [field, sortKey(text)] as const),
    ],
    (field, value, doc) => [field, value, doc],
  )
  // In portions, so that other work gets its turn between them.
  for (const some of portionsOf(strings, MAX_STRINGS)) {
    await tx.run(sql`INSERT OR IGNORE INTO search_strings (field, value, doc)
      SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${JSON.stringify(some)})`)
  }
  const numbers = numbered(
    ({ numbers }) => numbers,
    (field, value, doc) => [field, value, doc],
  )
  await tx.run(sql`INSERT INTO search_numbers (field, value, doc)
    SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${JSON.stringify(numbers)})`)
  const textRow = (field: number, text: string, doc: number): TextRow => [firstRowOf(field) + doc, text]
  for (const some of portionsOfTexts(numbered(({ ngrams }) => ngrams, textRow))) {
    await tx.run(sql`INSERT INTO search_ngrams (rowid, value)
      SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(some)})`)
  }
  for (const some of portionsOfTexts(numbered(({ texts }) => texts, textRow))) {
    await tx.run(sql`INSERT INTO search_texts (rowid, value)
      SELECT value ->> 0, value ->> 1 FROM json_each(${JSON.stringify(some)})`)
  }
}

type TextRow = readonly [rowid: number, text: string]

/** Texts in portions of limited length, in the order of their row ids: at each step back FTS5 begins another part of its index. */
function* portionsOfTexts(rows: TextRow[]): Generator<readonly TextRow[]> {
  let portion: TextRow[] = []
  let length = 0
  for (const row of rows.sort(([one], [other]) => one - other)) {
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
    WHERE name >= ${start} AND name < ${start + LARGEST_CHARACTER} ORDER BY name LIMIT ${MAX_FIELDS_UNDER}`)
  return rows.map(({ name }) => name)
}

/** Id of this reader set. If guests or all users may read, other readers are dropped as redundant. */
async function audienceOf(tx: Queries, readers: readonly string[]): Promise<number> {
  const wide = [GUEST, USERS].map(principalUri).find(all => readers.includes(all))
  const principals = JSON.stringify(wide === undefined ? [...new Set(readers)].sort() : [wide])
  await tx.run(sql`INSERT INTO search_audiences (principals) VALUES (${principals}) ON CONFLICT DO NOTHING`)
  const row = await tx.get<{ audience: number }>(
    sql`SELECT audience FROM search_audiences WHERE principals = ${principals}`,
  )
  if (!row) throw new Error('the index returned no audience')
  await tx.run(sql`INSERT OR IGNORE INTO search_audience_members (principal, audience)
    SELECT value, ${row.audience} FROM json_each(${principals})`)
  return row.audience
}

/** A change of a context's access list rewrites these few rows, and none of its entries. */
async function writeContextReaders(tx: Queries, context: string, acl: Acl): Promise<void> {
  const owners = new Set(acl.admin)
  const readers = new Set([...owners, ...(acl.rread ?? []), ...(acl.rwrite ?? [])])
  const rows = [...readers].sort().map(principal => ({ principal, owns: owners.has(principal) ? 1 : 0 }))
  const before = await tx.all<{ principal: string; owns: number }>(
    sql`SELECT principal, owns FROM search_context_readers WHERE context = ${context} ORDER BY principal`,
  )
  if (JSON.stringify(before) === JSON.stringify(rows)) return
  await noteChange(tx, WHO_READS)
  await tx.run(sql`DELETE FROM search_context_readers WHERE context = ${context}`)
  for (const { principal, owns } of rows) {
    await tx.run(sql`INSERT INTO search_context_readers (principal, context, owns)
      VALUES (${principal}, ${context}, ${owns})`)
  }
}

/** Whether the reader may read the metadata of entry `e`: the rule of `rights.ts`, for many entries at once. */
export function readableBy({ principals, userId }: Reader): Sql {
  if (principals === undefined) return sql`TRUE`
  const named = sql`principal IN (SELECT value FROM json_each(${JSON.stringify(principals)}))`
  return sql`(
    +e.audience IN (SELECT audience FROM search_audience_members WHERE ${named})
    OR (+e.audience = ${CONTEXT_DEFAULT} AND +e.context IN (SELECT context FROM search_context_readers WHERE ${named}))
    OR +e.context IN (SELECT context FROM search_context_readers WHERE ${named} AND owns = 1)
    OR (+e.context = '_principals' AND +e.id = ${userId})
  )`
}
