import { setImmediate } from 'node:timers/promises'
import type { Bytes } from '../base/units.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../model/addresses.ts'
import { addsToContext, addsToFolder, type Entry, type EntryHead, givesAccess, isOwnAcl } from '../model/entry.ts'
import type { Database, Queries } from '../stores/database.ts'
import { runSteps } from '../stores/migrations.ts'
import { type Engine, listed, sql } from '../stores/sql.ts'
import type { FieldTables, IndexDocument } from './engine.ts'
import { kindOfField } from './fields.ts'
import { headFieldsOf, type IndexFields, indexFieldsOf, type IndexSection, opennessOf } from './index-fields.ts'
import { postgresFields } from './postgres.ts'
import { sqliteFields } from './sqlite.ts'
import { searchSteps } from './tables.ts'

/** The search index follows each change of an entry in its transaction, so that the next search finds it. */

const tables: Readonly<Record<Engine, FieldTables>> = { sqlite: sqliteFields, postgres: postgresFields }

export async function indexEntry(tx: Queries, entry: Entry): Promise<void> {
  await writeSection(tx, entry, 'all', indexFieldsOf(entry, await findNames(tx, entry)))
}

/** The same where at most the head has changed. */
export async function indexHead(tx: Queries, head: EntryHead): Promise<void> {
  await writeSection(tx, head, 'head', headFieldsOf(head, await findNames(tx, head)))
}

/** Whether the entry has an access list of its own: 0 no, 1 it decides alone, 2 it adds to the context, 3 to the folder. */
function ownAclOf({ acl }: EntryHead): number {
  if (!isOwnAcl(acl)) return 0
  return addsToContext(acl) ? 2 : addsToFolder(acl) ? 3 : 1
}

/** The folder that gives access to an entry of the index. */
const scope = sql`(SELECT m.scope FROM list_members m
  WHERE m.context = search_entries.context AND m.member = search_entries.id)`

/** Follows a change of the folder that gives access to some entries of a context. */
export async function indexScopesOf(tx: Queries, context: string, ids: readonly string[]): Promise<void> {
  await tx.run(sql`UPDATE search_entries SET scope = ${scope} WHERE context = ${context} AND id IN (${listed(ids)})`)
}

/** Adds entries that the index does not have. Together they cost far less: each part of the index is written once for all of them. */
export async function addToIndex(tx: Queries, entries: readonly Entry[]): Promise<void> {
  const added: IndexDocument[] = []
  for (const entry of entries) {
    const fields = indexFieldsOf(entry, await findNames(tx, entry))
    // A change may have added it meanwhile.
    const known = await updateDocument(tx, entry)
    if (known === undefined) added.push({ doc: await insertDocument(tx, entry), fields })
    else await tables[tx.engine].replace(tx, known, 'all', fields)
  }
  await tables[tx.engine].insert(tx, added)
}

/** An entry that the index does not have yet is left to {@link CatchUp} if only its head is known. */
async function writeSection(tx: Queries, entry: EntryHead, section: IndexSection, fields: IndexFields): Promise<void> {
  const known = await updateDocument(tx, entry)
  if (known !== undefined) await tables[tx.engine].replace(tx, known, section, fields)
  else if (section === 'all') await tables[tx.engine].insert(tx, [{ doc: await insertDocument(tx, entry), fields }])
}

/** Returns the number of the entry in the index; `undefined` if the index does not have it. */
async function updateDocument(tx: Queries, entry: EntryHead): Promise<number | undefined> {
  const { context, id, created, modified } = entry
  const row = await tx.get<{ doc: number }>(sql`UPDATE search_entries
    SET own_acl = ${ownAclOf(entry)}, open_to = ${opennessOf(entry.acl)}, gives = ${Number(givesAccess(entry))},
      created = ${created}, modified = ${modified}
    WHERE context = ${context} AND id = ${id} RETURNING doc`)
  return row?.doc
}

async function insertDocument(tx: Queries, entry: EntryHead): Promise<number> {
  const { context, id, created, modified } = entry
  const added = sql`INSERT INTO search_entries (context, id, own_acl, open_to, gives, scope, created, modified)
    VALUES (${context}, ${id}, ${ownAclOf(entry)}, ${opennessOf(entry.acl)}, ${Number(givesAccess(entry))},
      (SELECT scope FROM list_members WHERE context = ${context} AND member = ${id}), ${created}, ${modified})
    ON CONFLICT (context, id) DO UPDATE SET own_acl = excluded.own_acl, open_to = excluded.open_to,
      gives = excluded.gives, created = excluded.created, modified = excluded.modified
    RETURNING doc`
  const row = await tx.get<{ doc: number }>(added)
  if (!row) throw new Error('the index returned no number')
  return row.doc
}

/** No search finds the entry any more. Its fields are deleted by {@link tidyIndex}, because there can be many. */
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
async function sweepIndex(tx: Queries): Promise<boolean> {
  const rows = await tx.all<{ doc: number }>(sql`SELECT doc FROM search_removed LIMIT ${SWEPT_TOGETHER}`)
  for (const { doc } of rows) {
    await tables[tx.engine].clear(tx, doc)
    await tx.run(sql`DELETE FROM search_removed WHERE doc = ${doc}`)
  }
  return rows.length === SWEPT_TOGETHER
}

/** Deletes what removed entries left in the index. */
export async function tidyIndex(database: Database): Promise<void> {
  while (await database.transaction(sweepIndex, { durability: 'relaxed' })) await setImmediate()
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

/** Removes everything from the index, as an upgrade does that changes its tables. */
export async function emptyIndex(database: Database): Promise<void> {
  const work = async (tx: Queries): Promise<void> => {
    for (const { statements } of searchSteps) await runSteps(tx, statements)
  }
  await database.transaction(work, { noTimeout: true })
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
    // The fields of readers are not fields of queries.
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
