import { GUEST, USERS } from '../accounts/principals.ts'
import type { Queries } from '../stores/database.ts'
import { deleteRows } from '../stores/deletion.ts'
import { name, type Sql, sql } from '../stores/sql.ts'
import { type Acl, type EntryHead, isOwnAcl } from '../model/entry.ts'
import { CONTEXTS, type EntryAddress, principalUri } from '../model/addresses.ts'
import { clearOrDiscard, discard, sweepDiscarded } from './discarded.ts'
import type { IndexedEntry, IndexWriter, Reader } from './engine.ts'
import { readersOf } from './index-fields.ts'
import { clearFields, type FieldsOfDoc, writeFields } from './sqlite-fields.ts'

/** The search index in SQLite, with FTS5. */
/** The reader set of entries without their own ACL. */
const CONTEXT_DEFAULT = 0

/** Recorded in place of a document: the readers of unchanged entries may have changed. */
export const WHO_READS = 0
/** At least so many of the latest changes are recorded. Older ones are deleted some together. */
const KEPT_CHANGES = 2000
const DELETED_TOGETHER = 100

export const sqliteIndex: IndexWriter = {
  write,
  remove,
  move,
  trash,
  restore,
  removeTrashed,
  removeContext,
  sweep: (tx, most) => sweepDiscarded(tx, most, clearFields),
}

async function write(tx: Queries, items: readonly IndexedEntry[]): Promise<void> {
  const written: FieldsOfDoc[] = []
  for (const { entry, part, fields } of items) {
    const audience = await audienceOf(tx, entry)
    const known = await updateEntry(tx, entry, audience)
    if (known !== undefined) written.push({ doc: known, isNew: false, part, fields })
    else if (part === 'all') written.push({ doc: await insertEntry(tx, entry, audience), isNew: true, part, fields })
  }
  await writeFields(tx, written)
}

/** Resolves to its number; `undefined` when the index does not have it. */
async function updateEntry(tx: Queries, entry: EntryHead, audience: number): Promise<number | undefined> {
  const row = await tx.get<{
    doc: number
  }>(sql`UPDATE search_entries SET audience = ${audience}, modified = ${entry.modified}
    WHERE context = ${entry.context} AND id = ${entry.id} RETURNING doc`)
  if (row) await noteWritten(tx, entry, row.doc)
  return row?.doc
}

async function insertEntry(tx: Queries, entry: EntryHead, audience: number): Promise<number> {
  const row = await tx.get<{ doc: number }>(sql`INSERT INTO search_entries (context, id, audience, modified)
    VALUES (${entry.context}, ${entry.id}, ${audience}, ${entry.modified}) RETURNING doc`)
  if (!row) throw new Error('the index returned no number')
  await noteWritten(tx, entry, row.doc)
  return row.doc
}

async function noteWritten(tx: Queries, { context, id, acl }: EntryHead, doc: number): Promise<void> {
  await noteChange(tx, doc)
  if (context === CONTEXTS) await writeContextReaders(tx, id, acl)
}

async function remove(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  const row = await tx.get<{ doc: number }>(
    sql`DELETE FROM search_entries WHERE context = ${context} AND id = ${id} RETURNING doc`,
  )
  if (row) {
    await noteChange(tx, row.doc)
    await clearOrDiscard(tx, row.doc, clearFields)
  }
  if (context === CONTEXTS) await writeContextReaders(tx, id, {})
}

async function move(tx: Queries, from: EntryAddress, to: EntryAddress): Promise<void> {
  const row = await tx.get<{ doc: number }>(sql`UPDATE search_entries SET context = ${to.context}, id = ${to.id}
    WHERE context = ${from.context} AND id = ${from.id} RETURNING doc`)
  if (row) await noteChange(tx, row.doc)
}

async function trash(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`INSERT INTO search_trashed (${trashedColumns}) SELECT ${trashedColumns} FROM search_entries
    WHERE context = ${context} AND id = ${id}`)
  const row = await tx.get<{ doc: number }>(
    sql`DELETE FROM search_entries WHERE context = ${context} AND id = ${id} RETURNING doc`,
  )
  if (row) await noteChange(tx, row.doc)
}

async function restore(tx: Queries, { context, id }: EntryAddress): Promise<boolean> {
  const row = await tx.get<{ doc: number }>(sql`INSERT INTO search_entries (${trashedColumns})
    SELECT ${trashedColumns} FROM search_trashed WHERE context = ${context} AND id = ${id} RETURNING doc`)
  if (!row) return false
  await noteChange(tx, row.doc)
  await tx.run(sql`DELETE FROM search_trashed WHERE context = ${context} AND id = ${id}`)
  return true
}

const trashedColumns = sql`doc, context, id, audience, modified`

async function removeTrashed(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  const row = await tx.get<{ doc: number }>(
    sql`DELETE FROM search_trashed WHERE context = ${context} AND id = ${id} RETURNING doc`,
  )
  if (row) await discard(tx, row.doc)
}

async function removeContext(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`INSERT INTO search_discarded (doc) SELECT doc FROM search_entries WHERE context = ${context}
    UNION ALL SELECT doc FROM search_trashed WHERE context = ${context}`)
  await deleteRows(tx, name('search_trashed'), sql`context = ${context}`)
  const removed = await deleteRows(tx, name('search_entries'), sql`context = ${context}`)
  if (removed > 0) await noteChange(tx, WHO_READS)
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

/** The largest number of a document: about how many there are. */
export async function lastDoc(queries: Queries): Promise<number> {
  const row = await queries.get<{ last: number | null }>(sql`SELECT max(doc) AS last FROM search_entries`)
  return row?.last ?? 0
}

/** The documents that changed after that generation; `undefined` when it is no longer recorded. */
export async function changesAfter(queries: Queries, generation: number): Promise<ReadonlySet<number> | undefined> {
  const rows = await queries.all<{ generation: number; doc: number }>(
    sql`SELECT generation, doc FROM search_changes WHERE generation > ${generation} ORDER BY generation`,
  )
  const [first] = rows
  return first === undefined || first.generation === generation + 1 ? new Set(rows.map(({ doc }) => doc)) : undefined
}

/** Id of the set of those who may read the entry. If guests or all users may, other readers are dropped as redundant. */
async function audienceOf(tx: Queries, { acl }: EntryHead): Promise<number> {
  if (!isOwnAcl(acl)) return CONTEXT_DEFAULT
  const readers = readersOf(acl)
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
