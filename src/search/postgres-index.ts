import type { Queries } from '../stores/database.ts'
import { listed, type Sql, sql } from '../stores/sql.ts'
import type { Bytes } from '../base/units.ts'
import { GUEST, USERS } from '../accounts/principals.ts'
import { type Acl, type EntryHead, isOwnAcl } from '../model/entry.ts'
import { CONTEXTS, type EntryAddress, principalUri } from '../model/addresses.ts'
import type { IndexedEntry, IndexWriter } from './engine.ts'
import {
  type IndexFields,
  type IndexPart,
  MAX_CHARACTER,
  MAX_FIELDS_UNDER,
  partFields,
  readersOf,
  sortKey,
} from './index-fields.ts'
import { folded, trigramsOf, wordsOf } from './words.ts'
import { clearOrDiscard, discard, sweepDiscarded } from './discarded.ts'

/** A longer name does not fit into an index row beside the prefix of a value. */
const MAX_FIELD: Bytes = 512

/** The search index in PostgreSQL: rows and lexemes. No row is shared by all writers. */
export const postgresIndex: IndexWriter = {
  write: async (tx, items) => {
    for (const item of items) await write(tx, item)
  },
  remove,
  // Each write replaces all rows, and those of an entry that is removed are deleted later.
  move: remove,
  trash,
  restore,
  removeTrashed,
  removeContext,
  sweep: (tx, most) => sweepDiscarded(tx, most, clearFields),
}

async function write(tx: Queries, { entry, part, fields }: IndexedEntry): Promise<void> {
  const { context, id, modified } = entry
  const row = await tx.get<{ doc: number; added: number }>(
    part === 'all'
      ? sql`INSERT INTO search_entries (context, id, readers, modified)
          VALUES (${context}, ${id}, ${readersSql(entry)}, ${modified})
          ON CONFLICT (context, id) DO UPDATE SET readers = excluded.readers, modified = excluded.modified
          RETURNING doc, xmax = 0 AS added`
      : sql`UPDATE search_entries SET readers = ${readersSql(entry)}, modified = ${modified}
          WHERE context = ${context} AND id = ${id} RETURNING doc, FALSE AS added`,
  )
  if (!row) return
  // Deleting rows that cannot exist would only conflict with transactions that insert neighbouring ones.
  if (row.added === 0) await clearFields(tx, row.doc, part)
  await writeFields(tx, row.doc, fields)
  if (context === CONTEXTS) await writeContextReaders(tx, id, entry.acl)
}

/** The ids of those who may read the entry, as an array; NULL where those of the context apply. */
function readersSql({ acl }: EntryHead): Sql {
  const readers = isOwnAcl(acl) ? JSON.stringify(narrowest(readersOf(acl))) : null
  return sql`CASE WHEN CAST(${readers} AS JSONB) IS NOT NULL
    THEN ARRAY(SELECT jsonb_array_elements_text(CAST(${readers} AS JSONB))) END`
}

async function remove(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  const row = await tx.get<{ doc: number }>(
    sql`DELETE FROM search_entries WHERE context = ${context} AND id = ${id} RETURNING doc`,
  )
  if (row) await clearOrDiscard(tx, row.doc, clearFields)
  if (context === CONTEXTS) await tx.run(sql`DELETE FROM search_context_readers WHERE context = ${id}`)
}

const trashedColumns = sql`doc, context, id, readers, modified`

async function trash(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`WITH gone AS (
      DELETE FROM search_entries WHERE context = ${context} AND id = ${id} RETURNING ${trashedColumns}
    ) INSERT INTO search_trashed (${trashedColumns}) SELECT ${trashedColumns} FROM gone`)
}

async function restore(tx: Queries, { context, id }: EntryAddress): Promise<boolean> {
  const restored = await tx.run(sql`WITH back AS (
      DELETE FROM search_trashed WHERE context = ${context} AND id = ${id} RETURNING ${trashedColumns}
    ) INSERT INTO search_entries (${trashedColumns}) OVERRIDING SYSTEM VALUE SELECT ${trashedColumns} FROM back`)
  return restored > 0
}

async function removeTrashed(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  const row = await tx.get<{ doc: number }>(
    sql`DELETE FROM search_trashed WHERE context = ${context} AND id = ${id} RETURNING doc`,
  )
  if (row) await discard(tx, row.doc)
}

async function removeContext(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`INSERT INTO search_discarded (doc) SELECT doc FROM search_entries WHERE context = ${context}
    UNION ALL SELECT doc FROM search_trashed WHERE context = ${context}`)
  await tx.run(sql`DELETE FROM search_trashed WHERE context = ${context}`)
  await tx.run(sql`DELETE FROM search_entries WHERE context = ${context}`)
}

async function clearFields(tx: Queries, doc: number, part: IndexPart = 'all'): Promise<void> {
  const isOfPart = part === 'all' ? sql`` : sql`AND field IN (${listed(partFields[part])})`
  await tx.run(sql`DELETE FROM search_strings WHERE doc = ${doc} ${isOfPart}`)
  await tx.run(sql`DELETE FROM search_numbers WHERE doc = ${doc} ${isOfPart}`)
  if (part !== 'all') return
  await tx.run(sql`DELETE FROM search_ngrams WHERE doc = ${doc}`)
  await tx.run(sql`DELETE FROM search_texts WHERE doc = ${doc}`)
}

async function writeFields(tx: Queries, doc: number, fields: IndexFields): Promise<void> {
  const short = <T>(pairs: Iterable<readonly [string, T]>): Array<readonly [string, T]> =>
    [...pairs].filter(([field]) => Buffer.byteLength(field) <= MAX_FIELD)
  const [strings, numbers] = [short(fields.strings), short(fields.numbers)]
  const [ngrams, texts] = [short(fields.ngrams), short(fields.texts)]
  // A full text has a row here too: for queries whether the field exists, and as its sort key.
  const keys = [...ngrams, ...texts].map(([field, text]) => [field, sortKey(text)] as const)
  await writeStrings(tx, doc, [...strings, ...keys])
  await writeNumbers(tx, doc, numbers)
  if (ngrams.length > 0) {
    const rows = ngrams.map(([field, text]) => [field, folded(text), trigramsOf(text)])
    await tx.run(sql`INSERT INTO search_ngrams (doc, field, value, grams)
      SELECT ${doc}, r ->> 0, r ->> 1, array_to_tsvector(ARRAY(SELECT json_array_elements_text(r -> 2)))
      FROM json_array_elements(CAST(${JSON.stringify(rows)} AS JSON)) r`)
  }
  if (texts.length > 0) {
    const rows = texts.map(([field, text]) => {
      const words = wordsOf(text)
      return [field, ` ${words.join(' ')} `, [...new Set(words)]]
    })
    await tx.run(sql`INSERT INTO search_texts (doc, field, value, words)
      SELECT ${doc}, r ->> 0, r ->> 1, array_to_tsvector(ARRAY(SELECT json_array_elements_text(r -> 2)))
      FROM json_array_elements(CAST(${JSON.stringify(rows)} AS JSON)) r`)
  }
}

async function writeStrings(tx: Queries, doc: number, strings: IndexFields['strings']): Promise<void> {
  await tx.run(sql`INSERT INTO search_strings (doc, field, value)
    SELECT DISTINCT CAST(${doc} AS BIGINT), r ->> 0, r ->> 1
    FROM json_array_elements(CAST(${JSON.stringify(strings)} AS JSON)) r`)
}

async function writeNumbers(tx: Queries, doc: number, numbers: IndexFields['numbers']): Promise<void> {
  await tx.run(sql`INSERT INTO search_numbers (doc, field, value)
    SELECT ${doc}, r ->> 0, CAST(r ->> 1 AS BIGINT) FROM json_array_elements(CAST(${JSON.stringify(numbers)} AS JSON)) r`)
}

/** If guests or all users may read, the other readers are redundant and left out. */
function narrowest(readers: readonly string[]): readonly string[] {
  const wide = [GUEST, USERS].map(principalUri).find(all => readers.includes(all))
  return wide === undefined ? [...new Set(readers)] : [wide]
}

/** A change of a context's access list rewrites these few rows, and none of its entries. */
async function writeContextReaders(tx: Queries, context: string, acl: Acl): Promise<void> {
  const owners = new Set(acl.admin)
  const readers = new Set([...owners, ...(acl.rread ?? []), ...(acl.rwrite ?? [])])
  await tx.run(sql`DELETE FROM search_context_readers WHERE context = ${context}`)
  for (const principal of readers) {
    await tx.run(sql`INSERT INTO search_context_readers (principal, context, owns)
      VALUES (${principal}, ${context}, ${owners.has(principal)})`)
  }
}

/** Some fields whose names begin with `start`, by name, without scanning all rows. */
export async function findFieldsUnder(queries: Queries, start: string): Promise<string[]> {
  const end = start + MAX_CHARACTER
  const next = (from: Sql): Sql => sql`least(
    (SELECT min(field) FROM search_strings WHERE ${from} AND field < ${end}),
    (SELECT min(field) FROM search_numbers WHERE ${from} AND field < ${end}))`
  const rows = await queries.all<{ name: string }>(sql`
    WITH RECURSIVE f (name) AS (
      SELECT ${next(sql`field >= ${start}`)} UNION ALL SELECT ${next(sql`field > f.name`)} FROM f WHERE f.name IS NOT NULL
    ) SELECT name FROM f WHERE name IS NOT NULL LIMIT ${MAX_FIELDS_UNDER}`)
  return rows.map(({ name }) => name)
}

export async function hasField(queries: Queries, field: string): Promise<boolean> {
  const row = await queries.get<{
    found: number
  }>(sql`SELECT EXISTS (SELECT 1 FROM search_strings WHERE field = ${field})
    OR EXISTS (SELECT 1 FROM search_numbers WHERE field = ${field}) AS found`)
  return row?.found === 1
}
