import type { Queries } from '../stores/database.ts'
import { type Engine, sql } from '../stores/sql.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../model/addresses.ts'
import type { Bytes } from '../base/units.ts'
import type { Entry } from '../model/entry.ts'
import { postgresIndex } from './postgres-index.ts'
import type { IndexedEntry, IndexWriter } from './engine.ts'
import { kindOfField } from './fields.ts'
import { indexFieldsOf } from './index-fields.ts'
import { sqliteIndex } from './sqlite-index.ts'

const writers: Readonly<Record<Engine, IndexWriter>> = { sqlite: sqliteIndex, postgres: postgresIndex }

/** Together so many characters of full texts are in memory at most, unless a single entry has more. */
const MAX_TEXT = 262_144

/** Indexes entries, each at most once, in the transaction that wrote them, so that the next search finds them. */
export async function indexEntries(tx: Queries, entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
  const writer = writers[tx.engine]
  let waiting: IndexedEntry[] = []
  let length = 0
  for await (const entry of entries) {
    const fields = indexFieldsOf(entry, await findNames(tx, entry))
    waiting.push({ entry, fields })
    for (const texts of [fields.ngrams, fields.texts]) for (const text of texts.values()) length += text.length
    if (length < MAX_TEXT) continue
    await writer.write(tx, waiting)
    waiting = []
    length = 0
  }
  if (waiting.length > 0) await writer.write(tx, waiting)
}

export const removeFromIndex = (tx: Queries, address: EntryAddress): Promise<void> =>
  writers[tx.engine].remove(tx, address)

export const removeContextFromIndex = (tx: Queries, context: string): Promise<void> =>
  writers[tx.engine].removeContext(tx, context)

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
  const { strings, ngrams, texts, numbers } = indexFieldsOf(entry, await findNames(queries, entry))
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
