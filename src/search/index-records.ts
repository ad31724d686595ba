import type { Bytes } from '../base/units.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../model/addresses.ts'
import { addsToContext, type Entry, type EntryHead, isOwnAcl } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import { type Engine, sql } from '../stores/sql.ts'
import type { FieldTables } from './engine.ts'
import { kindOfField } from './fields.ts'
import { headFieldsOf, type IndexFields, indexFieldsOf, type IndexPart } from './index-fields.ts'
import { postgresFields } from './postgres.ts'
import { sqliteFields } from './sqlite.ts'

/** The search index follows each change of an entry in its transaction, so that the next search finds it. */

const tables: Readonly<Record<Engine, FieldTables>> = { sqlite: sqliteFields, postgres: postgresFields }

export async function indexEntry(tx: Queries, entry: Entry): Promise<void> {
  await writePart(tx, entry, 'all', indexFieldsOf(entry, await findNames(tx, entry)))
}

/** The same where at most the head has changed. */
export async function indexHead(tx: Queries, head: EntryHead): Promise<void> {
  await writePart(tx, head, 'head', headFieldsOf(head, await findNames(tx, head)))
}

/** Whether an access list of the entry decides: 0 that of the context, 1 its own, 2 both. */
const ownAclOf = ({ acl }: EntryHead): number => (isOwnAcl(acl) ? (addsToContext(acl) ? 2 : 1) : 0)

/** An entry that the index does not have yet is left to {@link CatchUp} if only a part of it is known. */
async function writePart(tx: Queries, entry: EntryHead, part: IndexPart, fields: IndexFields): Promise<void> {
  const { context, id, modified } = entry
  const ownAcl = ownAclOf(entry)
  const known = await tx.get<{ doc: number }>(sql`UPDATE search_entries SET own_acl = ${ownAcl}, modified = ${modified}
    WHERE context = ${context} AND id = ${id} RETURNING doc`)
  if (known) return await tables[tx.engine].replace(tx, known.doc, part, fields)
  if (part !== 'all') return
  const added = await tx.get<{ doc: number }>(sql`INSERT INTO search_entries (context, id, own_acl, modified)
    VALUES (${context}, ${id}, ${ownAcl}, ${modified})
    ON CONFLICT (context, id) DO UPDATE SET own_acl = excluded.own_acl, modified = excluded.modified RETURNING doc`)
  if (!added) throw new Error('the index returned no number')
  await tables[tx.engine].insert(tx, added.doc, fields)
}

/** No search finds the entry any more. Its fields are deleted by {@link sweepIndex}, because there can be many. */
export async function removeFromIndex(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  const row = await tx.get<{ doc: number }>(
    sql`DELETE FROM search_entries WHERE context = ${context} AND id = ${id} RETURNING doc`,
  )
  if (row) await tx.run(sql`INSERT INTO search_removed (doc) VALUES (${row.doc})`)
}

/** Removes all entries of a context. */
export async function removeContextFromIndex(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`INSERT INTO search_removed (doc) SELECT doc FROM search_entries WHERE context = ${context}`)
  await tx.run(sql`DELETE FROM search_entries WHERE context = ${context}`)
}

const SWEPT_TOGETHER = 20

/** Deletes the fields of some removed entries. Resolves to false when none are left. */
export async function sweepIndex(tx: Queries): Promise<boolean> {
  const rows = await tx.all<{ doc: number }>(sql`SELECT doc FROM search_removed LIMIT ${SWEPT_TOGETHER}`)
  for (const { doc } of rows) {
    await tables[tx.engine].clear(tx, doc)
    await tx.run(sql`DELETE FROM search_removed WHERE doc = ${doc}`)
  }
  return rows.length === SWEPT_TOGETHER
}

/** The next entries after this address that are missing in the index, with the size of their graphs. */
export async function missingInIndex(
  queries: Queries,
  { context, id }: EntryAddress,
  most: number,
): Promise<Array<EntryAddress & { readonly size: Bytes }>> {
  return await queries.all(sql`SELECT context, id, octet_length(statements) + octet_length(metadata) AS size FROM entries
    WHERE (context, id) > (${context}, ${id}) AND NOT EXISTS (
      SELECT 1 FROM search_entries s WHERE s.context = entries.context AND s.id = entries.id
    ) ORDER BY context, id LIMIT ${most}`)
}

/** Records whether every entry is in the index: searches of all processes say so. */
export async function markComplete(queries: Queries, isComplete: boolean): Promise<void> {
  await queries.run(sql`UPDATE search_state SET is_complete = ${isComplete} WHERE is_complete <> ${isComplete}`)
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
    const kind = kindOfField(field)
    // The fields that say who may read are no fields of queries.
    if (kind === undefined) return
    const shown = kind === 'uri' ? toAbsolute(value) : kind === 'date' ? new Date(Number(value)).toISOString() : value
    const present = values.get(field)
    if (present) present.push(shown)
    else values.set(field, [shown])
  }
  for (const [field, value] of strings) add(field, value)
  for (const [field, lines] of [...ngrams, ...texts]) for (const line of lines.split('\n')) add(field, line)
  for (const [field, value] of numbers) add(field, String(value))
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
}
