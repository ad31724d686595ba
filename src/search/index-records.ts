import { setImmediate } from 'node:timers/promises'
import type { Progress } from '../base/progress.ts'
import type { Bytes } from '../base/units.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../model/addresses.ts'
import { addsToContext, addsToFolder, type Entry, type EntryHead, givesAccess, isOwnAcl } from '../model/entry.ts'
import type { Database, Queries } from '../stores/database.ts'
import { runSteps } from '../stores/migrations.ts'
import { type Engine, listed, type Sql, sql } from '../stores/sql.ts'
import type { FieldTables } from './engine.ts'
import { kindOfField } from './fields.ts'
import {
  headFields,
  headFieldsOf,
  type IndexFields,
  indexFieldsOf,
  type IndexSection,
  opennessOf,
} from './index-fields.ts'
import { postgresFields } from './postgres.ts'
import { sqliteFields } from './sqlite.ts'
import { searchSteps } from './tables.ts'

/** The search index follows each change of an entry in its transaction, so that the next search finds it. */

/** Fields that wait in memory, in characters. */
const MAX_PENDING = 262_144

const tables: Readonly<Record<Engine, FieldTables>> = { sqlite: sqliteFields, postgres: postgresFields }

export async function indexEntry(tx: Queries, entry: Entry): Promise<void> {
  const changes = new IndexChanges(tx)
  await changes.entry(entry)
  await changes.flush()
}

/** The same where at most the head has changed. */
export async function indexHead(tx: Queries, head: EntryHead): Promise<void> {
  const changes = new IndexChanges(tx)
  await changes.head(head)
  await changes.flush()
}

/** Fields of an entry that are to be written. */
interface Pending {
  readonly section: IndexSection
  readonly fields: IndexFields
  /** Whether the index has no fields of it yet. */
  readonly isNew: boolean
}

/**
 * The changes of the index in one transaction. Which entries there are is written at once, their fields by {@link flush}: together they cost
 * far less, because each part of a full-text index is written once for all of them.
 */
export class IndexChanges {
  readonly #tx: Queries
  #pending = new Map<number, Pending>()
  #characters = 0

  constructor(tx: Queries) {
    this.#tx = tx
  }

  async entry(entry: Entry): Promise<void> {
    const known = await updateDocument(this.#tx, entry)
    if (known === undefined) return await this.add([entry])
    const fields = indexFieldsOf(entry, await findNames(this.#tx, entry))
    await this.#write(known, { section: 'all', fields, isNew: this.#pending.get(known)?.isNew === true })
  }

  /** Adds those of the entries that the index does not have. */
  async add(entries: readonly Entry[]): Promise<void> {
    for (const { doc, entry } of await insertDocuments(this.#tx, entries)) {
      const fields = indexFieldsOf(entry, await findNames(this.#tx, entry))
      await this.#write(doc, { section: 'all', fields, isNew: true })
    }
  }

  /** The same where at most the head has changed. An entry that the index does not have yet is left to {@link CatchUp}. */
  async head(head: EntryHead): Promise<void> {
    const doc = await updateDocument(this.#tx, head)
    if (doc === undefined) return
    const fields = headFieldsOf(head, await findNames(this.#tx, head))
    const before = this.#pending.get(doc)
    await this.#write(
      doc,
      before ? { ...before, fields: withHead(before.fields, fields) } : { section: 'head', fields, isNew: false },
    )
  }

  /** No search finds the entry any more. */
  async remove(address: EntryAddress): Promise<void> {
    const doc = await removeFromIndex(this.#tx, address)
    if (doc !== undefined) this.#pending.delete(doc)
  }

  /** Removes all entries of a context. */
  async removeContext(context: string): Promise<void> {
    await this.flush()
    await removeContextFromIndex(this.#tx, context)
  }

  /** For {@link undo}. */
  mark(): ReadonlyMap<number, Pending> {
    return new Map(this.#pending)
  }

  /** What has been written since the mark is undone, also what was flushed. */
  undo(mark: ReadonlyMap<number, Pending>): void {
    this.#pending = new Map(mark)
  }

  async flush(): Promise<void> {
    const tx = this.#tx
    const all = Array.from(this.#pending, ([doc, one]) => ({ doc, ...one }))
    this.#pending = new Map()
    this.#characters = 0
    const fields = tables[tx.engine]
    const changed = all.filter(({ isNew }) => !isNew)
    const added = all.filter(({ isNew }) => isNew)
    if (added.length > 0) await fields.insert(tx, added)
    for (const section of ['all', 'head'] as const) {
      const some = changed.filter(one => one.section === section)
      if (some.length > 0) await fields.replace(tx, some, section)
    }
  }

  async #write(doc: number, pending: Pending): Promise<void> {
    this.#pending.set(doc, pending)
    this.#characters += charactersOf(pending.fields)
    if (this.#characters > MAX_PENDING) await this.flush()
  }
}

const isOfHead = new Set(headFields)

/** The fields with other ones of the head. */
const withHead = ({ strings, numbers, ...texts }: IndexFields, head: IndexFields): IndexFields => ({
  strings: [...strings.filter(([field]) => !isOfHead.has(field)), ...head.strings],
  numbers: [...numbers.filter(([field]) => !isOfHead.has(field)), ...head.numbers],
  ...texts,
})

const charactersOf = ({ strings, ngrams, texts }: IndexFields): number =>
  [...strings, ...ngrams, ...texts].reduce((sum, [, text]) => sum + text.length, 0)

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

/** Adds entries that the index does not have. Those that a change has added meanwhile stay as they are. */
export async function addToIndex(tx: Queries, entries: readonly Entry[]): Promise<void> {
  const changes = new IndexChanges(tx)
  await changes.add(entries)
  await changes.flush()
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

/** Inserts those of the entries that the index does not have. Returns them with their numbers. */
async function insertDocuments(
  tx: Queries,
  entries: readonly Entry[],
): Promise<Array<{ readonly doc: number; readonly entry: Entry }>> {
  const heads = entries.map(entry => {
    const { context, id, created, modified } = entry
    return [context, id, ownAclOf(entry), opennessOf(entry.acl), Number(givesAccess(entry)), created, modified]
  })
  const rows = await tx.all<EntryAddress & { doc: number }>(sql`INSERT INTO search_entries
      (context, id, own_acl, open_to, gives, created, modified, scope)
    SELECT value ->> 0, value ->> 1, CAST(value ->> 2 AS INTEGER), CAST(value ->> 3 AS INTEGER),
      CAST(value ->> 4 AS INTEGER), CAST(value ->> 5 AS BIGINT), CAST(value ->> 6 AS BIGINT),
      (SELECT scope FROM list_members WHERE context = value ->> 0 AND member = value ->> 1)
    FROM ${elementsOf(tx, heads)} WHERE TRUE
    ON CONFLICT (context, id) DO NOTHING RETURNING doc, context, id`)
  const docs = new Map(rows.map(({ context, id, doc }) => [`${context} ${id}`, doc]))
  return entries.flatMap(entry => {
    const doc = docs.get(`${entry.context} ${entry.id}`)
    return doc === undefined ? [] : [{ doc, entry }]
  })
}

/** A table with a column `value` for the elements of a JSON array. */
const elementsOf = ({ engine }: Queries, items: readonly unknown[]): Sql =>
  engine === 'postgres'
    ? sql`json_array_elements(CAST(${JSON.stringify(items)} AS JSON)) elements (value)`
    : sql`json_each(${JSON.stringify(items)})`

/**
 * No search finds the entry any more. Its fields are deleted by {@link tidyIndex}, because there can be many. Returns the number of the entry
 * in the index; `undefined` if the index does not have it.
 */
export async function removeFromIndex(tx: Queries, { context, id }: EntryAddress): Promise<number | undefined> {
  const row = await tx.get<{ doc: number }>(
    sql`DELETE FROM search_entries WHERE context = ${context} AND id = ${id} RETURNING doc`,
  )
  if (row) await tx.run(sql`INSERT INTO search_removed (doc) VALUES (${row.doc})`)
  return row?.doc
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

/** Deletes what removed entries left in the index. @param signal ends the work; the next call continues it */
export async function tidyIndex(database: Database, signal?: AbortSignal): Promise<void> {
  while (await database.transaction(sweepIndex, { durability: 'relaxed' })) {
    if (signal?.aborted) return
    await setImmediate()
  }
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

/**
 * Fills the index of a store that nothing else uses. If this does not resolve, it must run again before the store is used.
 * @param work adds all entries by {@link addToIndex}
 */
export async function refillIndex(database: Database, progress: Progress, work: () => Promise<void>): Promise<void> {
  await emptyIndex(database)
  await tables[database.engine].fill(database, progress, work)
  await markComplete(database, true)
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
