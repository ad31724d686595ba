import type { Queries } from '../stores/database.ts'
import { type Engine, sql } from '../stores/sql.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../model/addresses.ts'
import type { Bytes } from '../base/units.ts'
import type { Entry, EntryHead } from '../model/entry.ts'
import { postgresIndex } from './postgres-index.ts'
import type { IndexedEntry, IndexWriter } from './engine.ts'
import { kindOfField } from './fields.ts'
import { headFieldsOf, type IndexFields, indexFieldsOf, type IndexPart, infoFieldsOf } from './index-fields.ts'
import { sqliteIndex } from './sqlite-index.ts'

const writers: Readonly<Record<Engine, IndexWriter>> = { sqlite: sqliteIndex, postgres: postgresIndex }

/** Together so many characters of full texts are in memory at most, unless a single entry has more. */
const MAX_TEXT = 262_144
/** The present state of an entry of which at most this part has changed. */
export type Changed =
  | { readonly part: 'head'; readonly entry: EntryHead }
  | { readonly part: Exclude<IndexPart, 'head'>; readonly entry: Entry }

/** Indexes entries, each at most once, in the transaction that wrote them, so that the next search finds them. */
export async function indexEntries(tx: Queries, entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
  await indexChanges(tx, allOf(entries))
}

async function* allOf(entries: Iterable<Entry> | AsyncIterable<Entry>): AsyncGenerator<Changed> {
  for await (const entry of entries) yield { part: 'all', entry }
}

/** The same for the parts that have changed. */
export async function indexChanges(tx: Queries, changes: Iterable<Changed> | AsyncIterable<Changed>): Promise<void> {
  for await (const items of portionsByText(describe(tx, changes))) await writers[tx.engine].write(tx, items)
}

async function* describe(
  tx: Queries,
  changes: Iterable<Changed> | AsyncIterable<Changed>,
): AsyncGenerator<IndexedEntry> {
  for await (const change of changes) {
    const { entry, part } = change
    yield { entry, part, fields: await fieldsOf(tx, change) }
  }
}

async function fieldsOf(tx: Queries, { entry, part }: Changed): Promise<IndexFields> {
  if (part === 'head') return headFieldsOf(entry)
  const names = await findNames(tx, entry)
  return part === 'info' ? infoFieldsOf(entry, names) : await indexFieldsOf(entry, names)
}

async function* portionsByText(
  items: Iterable<IndexedEntry> | AsyncIterable<IndexedEntry>,
): AsyncGenerator<readonly IndexedEntry[]> {
  let waiting: IndexedEntry[] = []
  let length = 0
  for await (const item of items) {
    waiting.push(item)
    length += textLengthOf(item)
    if (length < MAX_TEXT) continue
    yield waiting
    waiting = []
    length = 0
  }
  if (waiting.length > 0) yield waiting
}

function textLengthOf({ fields }: IndexedEntry): number {
  let length = 0
  for (const texts of [fields.ngrams, fields.texts]) for (const text of texts.values()) length += text.length
  return length
}

export async function removeFromIndex(tx: Queries, address: EntryAddress): Promise<void> {
  await writers[tx.engine].remove(tx, address)
}

/** Before an entry is indexed at another address: only what differs is written then. */
export async function moveInIndex(tx: Queries, from: EntryAddress, to: EntryAddress): Promise<void> {
  await writers[tx.engine].move(tx, from, to)
}

/** Hides an entry that moves to the trash. */
export async function trashInIndex(tx: Queries, address: EntryAddress): Promise<void> {
  await writers[tx.engine].trash(tx, address)
}

/** Shows an entry again that comes back from the trash as it was. Resolves to false when it must be indexed. */
export async function restoreInIndex(tx: Queries, address: EntryAddress): Promise<boolean> {
  return await writers[tx.engine].restore(tx, address)
}

/** Removes an entry that is deleted from the trash. */
export async function removeTrashedFromIndex(tx: Queries, address: EntryAddress): Promise<void> {
  await writers[tx.engine].removeTrashed(tx, address)
}

export async function removeContextFromIndex(tx: Queries, context: string): Promise<void> {
  await writers[tx.engine].removeContext(tx, context)
}

/** Deletes the fields of some removed entries. Returns true when none are left. */
export const sweep = (tx: Queries, most: number): Promise<boolean> => writers[tx.engine].sweep(tx, most)

/** The next entries after this address that are missing in the index, with the size of their graphs. */
export async function unindexed(
  queries: Queries,
  { context, id }: EntryAddress,
  most: number,
): Promise<Array<EntryAddress & { readonly size: Bytes }>> {
  return await queries.all(sql`SELECT context, id, octet_length(statements) + octet_length(metadata) AS size FROM entries
    WHERE (context, id) > (${context}, ${id}) AND NOT EXISTS (
      SELECT 1 FROM search_entries s WHERE s.context = entries.context AND s.id = entries.id
    ) ORDER BY context, id LIMIT ${most}`)
}

/** Names that are stored in the index but not in the entry. */
async function findNames(
  queries: Queries,
  { context, id }: EntryAddress,
): Promise<{ readonly userName: string | undefined; readonly contextName: string | undefined }> {
  const none = { userName: undefined, contextName: undefined }
  if (context === PRINCIPALS) {
    const user = await queries.get<{ name: string | null }>(
      sql`SELECT name FROM principals WHERE kind = 'user' AND id = ${id}`,
    )
    return { ...none, userName: user?.name ?? undefined }
  }
  if (context !== CONTEXTS) return none
  const named = await queries.get<{ name: string | null }>(sql`SELECT name FROM contexts WHERE id = ${id}`)
  return { ...none, contextName: named?.name ?? undefined }
}

/** The indexed fields of an entry. @param toAbsolute returns the absolute form of an IRI. */
export async function indexedDocument(
  queries: Queries,
  entry: Entry,
  toAbsolute: (iri: string) => string,
): Promise<Record<string, string[]>> {
  const { strings, ngrams, texts, numbers } = await indexFieldsOf(entry, await findNames(queries, entry))
  const values = new Map<string, string[]>()
  const add = (field: string, value: string): void => {
    const present = values.get(field)
    if (present) present.push(value)
    else values.set(field, [value])
  }
  for (const [field, value] of strings) add(field, kindOfField(field) === 'uri' ? toAbsolute(value) : value)
  for (const [field, lines] of [...ngrams, ...texts]) for (const line of lines.split('\n')) add(field, line)
  for (const [field, value] of numbers) {
    add(field, kindOfField(field) === 'date' ? new Date(value).toISOString() : String(value))
  }
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
}
