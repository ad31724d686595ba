import type { Entry, EntryHead, EntrySummary } from '../model/entry.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../model/addresses.ts'
import { listed, portionsOf, type Sql, sql } from '../stores/sql.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import type { GraphText } from '../graph/graph.ts'
import type { ResponseBudget } from '../model/response-budget.ts'
import type { Queries } from '../stores/database.ts'
import { memoryOf } from '../stores/dependency-cache.ts'
import {
  columns,
  columnsOfE,
  entryFromRow,
  type EntryRow,
  headColumns,
  headColumnsOfE,
  headFromRow,
  type HeadRow,
} from './entry-columns.ts'

/** Reads entries. `changes.ts` writes them. */

export const at = ({ context, id }: EntryAddress): Sql => sql`context = ${context} AND id = ${id}`

/** Titles in metadata larger than this are ignored when a list is sorted. */
const MAX_SORTED_METADATA: Bytes = 65_536

export async function findEntry(queries: Queries, address: EntryAddress): Promise<Entry | undefined> {
  const row = await queries.get<EntryRow>(sql`SELECT ${columns} FROM entries WHERE ${at(address)}`)
  return row && entryFromRow(row)
}

/** The members that rights depend on, and the metadata as they are stored. */
export async function findMetadata(
  queries: Queries,
  address: EntryAddress,
): Promise<{ readonly entry: EntryHead; readonly metadata: GraphText } | undefined> {
  const row = await queries.get<HeadRow & { metadata: string }>(
    sql`SELECT ${headColumns}, metadata FROM entries WHERE ${at(address)}`,
  )
  return row && { entry: headFromRow(row), metadata: row.metadata }
}

const storedSize = sql`octet_length(acl) + octet_length(statements) + octet_length(metadata)
  + coalesce(octet_length(cached_external_metadata), 0)`
const wholeSize = sql`${storedSize} + coalesce(octet_length(content), 0)`

/** The bytes of an entry in the store with its revisions, without its file. */
export async function storedBytesOf(queries: Queries, { context, id }: EntryAddress): Promise<Bytes> {
  const row = await queries.get<{ bytes: number }>(sql`SELECT CAST(${wholeSize}
      + coalesce((SELECT sum(octet_length(r.metadata)) FROM metadata_revisions r
        WHERE r.context = ${context} AND r.entry = ${id}), 0) AS BIGINT) AS bytes
    FROM entries WHERE ${at({ context, id })}`)
  return row?.bytes ?? 0
}

/** An entry with what other tables hold about it. */
export interface LoadedEntry {
  readonly entry: Entry
  readonly attached: Attached
  /** Of its graphs, its text and its access list, in characters. */
  readonly size: number
  /** Approximate memory. */
  readonly bytes: Bytes
}

/** Memory of an entry without its texts, with what other tables hold about it. */
const LOADED_BYTES: Bytes = 720
/** A parsed graph takes more memory than its text. */
const PARSED = 6

function loadedFromRow(row: EntryRow & AttachedRow): LoadedEntry {
  const { acl, statements, metadata, cached_external_metadata: cached, content } = row
  const texts = [acl, statements, metadata, cached ?? '', content ?? '']
  return {
    entry: entryFromRow(row),
    attached: attachedFromRow(row),
    size: texts.reduce((sum, text) => sum + text.length, 0),
    bytes: texts.reduce((sum, text) => sum + memoryOf(text), LOADED_BYTES + (PARSED - 1) * memoryOf(statements)),
  }
}

/** The entry and its attached data by one statement. @param most an entry larger than this is not read */
export async function findLoadedEntry(
  queries: Queries,
  address: EntryAddress,
  most?: Bytes,
): Promise<LoadedEntry | undefined> {
  const isSmall = most === undefined ? sql`` : sql`AND ${wholeSize} <= ${most}`
  const row = await queries.get<EntryRow & AttachedRow>(
    sql`SELECT ${columns}, ${attachedTo(address)} FROM entries WHERE ${at(address)} ${isSmall}`,
  )
  return row && loadedFromRow(row)
}

/** For a response with several entries: graphs that exceed the budget are not loaded. */
export async function findEntryToShow(
  queries: Queries,
  address: EntryAddress,
  budget: ResponseBudget,
): Promise<Entry | undefined> {
  const row = await queries.get<{ size: number }>(sql`SELECT ${storedSize} AS size FROM entries WHERE ${at(address)}`)
  if (!row) return undefined
  if (row.size <= budget.maxEntry) {
    budget.spend(row.size)
    return await findEntry(queries, address)
  }
  const head = await findEntryHead(queries, address)
  return head && abridged(head)
}

const abridged = (head: EntryHead): Entry => ({
  ...head,
  statements: {},
  metadata: '{}',
  cachedExternalMetadata: undefined,
  content: undefined,
  isAbridged: true,
})

/** Ids of all entries of a context: numbers in numeric order, then the others by name. */
export async function listEntryIds(queries: Queries, context: string): Promise<string[]> {
  const rows = await queries.all<{ id: string }>(
    sql`SELECT id FROM entries WHERE context = ${context} ORDER BY length(id), id`,
  )
  return rows.map(row => row.id)
}

/** The next ids of a context in text order after the given one, for iterating over all of them. */
export async function idsAfter(queries: Queries, { context, id }: EntryAddress, count: number): Promise<string[]> {
  const rows = await queries.all<{ id: string }>(
    sql`SELECT id FROM entries WHERE context = ${context} AND id > ${id} ORDER BY id LIMIT ${count}`,
  )
  return rows.map(row => row.id)
}

/** A row with the columns of its file and of its place in a list. */
export interface ExportRow extends EntryRow {
  readonly blob: string | null
  readonly size: number
  readonly sha256: string
  readonly list: string | null
  readonly position: number | null
  readonly trusted: number | null
}

/** The next entry of a context in text order, with its file and its place in a list, all from one moment. */
export async function findNextRow(queries: Queries, { context, id }: EntryAddress): Promise<ExportRow | undefined> {
  return await queries.get<ExportRow>(sql`SELECT ${columnsOfE}, f.blob, f.size, f.sha256, m.list, m.position, m.trusted
    FROM entries e
    LEFT JOIN files f ON f.context = e.context AND f.entry = e.id
    LEFT JOIN list_members m ON m.context = e.context AND m.member = e.id
    WHERE e.context = ${context} AND e.id > ${id} ORDER BY e.id LIMIT 1`)
}

/** When each entry of a context was last changed, by id. */
export async function modificationTimes(queries: Queries, context: string): Promise<ReadonlyMap<string, Milliseconds>> {
  const rows = await queries.all<{ id: string; modified: number }>(
    sql`SELECT id, modified FROM entries WHERE context = ${context}`,
  )
  return new Map(rows.map(({ id, modified }) => [id, modified]))
}

/** The next entries in the order of their ids after the given place, for iterating over all of them. */
export async function entriesAfter(queries: Queries, { context, id }: EntryAddress, count: number): Promise<Entry[]> {
  const rows = await queries.all<EntryRow>(sql`SELECT ${columns} FROM entries
    WHERE (context, id) > (${context}, ${id}) ORDER BY context, id LIMIT ${count}`)
  return rows.map(entryFromRow)
}

const KEY_CHARACTERS = 500

/** Some entries of a context by their ids; those that do not exist are left out. */
export async function* entriesOf(queries: Queries, context: string, ids: readonly string[]): AsyncGenerator<Entry> {
  for await (const row of rowsOf<EntryRow>(queries, columns, context, ids)) yield entryFromRow(row)
}

/** The same with the members that rights depend on only. */
export async function* headsOf(queries: Queries, context: string, ids: readonly string[]): AsyncGenerator<EntryHead> {
  for await (const row of rowsOf<HeadRow>(queries, headColumns, context, ids)) yield headFromRow(row)
}

async function* rowsOf<Row>(
  queries: Queries,
  wanted: Sql,
  context: string,
  ids: readonly string[],
): AsyncGenerator<Row> {
  for (const some of portionsOf(ids))
    yield* await queries.all<Row>(
      sql`SELECT ${wanted} FROM entries WHERE context = ${context} AND id IN (${listed(some)})`,
    )
}

/** Only the members that rights depend on. */
export async function findEntryHead(queries: Queries, address: EntryAddress): Promise<EntryHead | undefined> {
  const row = await queries.get<HeadRow>(sql`SELECT ${headColumns} FROM entries WHERE ${at(address)}`)
  return row && headFromRow(row)
}

/** What other tables hold about an entry. */
export interface Attached {
  /** The id of the list that the entry is in. */
  readonly list: string | undefined
  /** The digest of its file. */
  readonly sha256: string | undefined
  readonly hasRelations: boolean
  readonly hasRevisions: boolean
}

interface AttachedRow {
  readonly list: string | null
  readonly sha256: string | null
  readonly relations: unknown
  readonly revisions: unknown
}

/** Part of one statement, because most entries have little of all this. */
const attachedTo = ({ context, id }: EntryAddress): Sql =>
  sql`(SELECT list FROM list_members WHERE context = ${context} AND member = ${id}) AS list,
    (SELECT sha256 FROM files WHERE context = ${context} AND entry = ${id}) AS sha256,
    EXISTS (SELECT 1 FROM relations WHERE target_context = ${context} AND target = ${id}) AS relations,
    EXISTS (SELECT 1 FROM metadata_revisions WHERE context = ${context} AND entry = ${id}) AS revisions`

const attachedFromRow = ({ list, sha256, relations, revisions }: AttachedRow): Attached => ({
  list: list ?? undefined,
  sha256: sha256 ?? undefined,
  hasRelations: Boolean(relations),
  hasRevisions: Boolean(revisions),
})

export async function findAttached(queries: Queries, address: EntryAddress): Promise<Attached> {
  const row = await queries.get<AttachedRow>(sql`SELECT ${attachedTo(address)}`)
  if (!row) throw new Error('a statement without a table returned no row')
  return attachedFromRow(row)
}

/**
 * Entries, without their graphs, that link to the external resource with this URI; within a context in the order of
 * creation.
 */
export async function headsLinkingTo(
  queries: Queries,
  uri: string,
  context: string | undefined,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<EntryHead[]> {
  const key = [...uri].slice(0, KEY_CHARACTERS).join('')
  const here = context === undefined ? sql`` : sql`AND context = ${context}`
  const rows = await queries.all<HeadRow>(sql`SELECT ${headColumns} FROM entries
    WHERE substr(resource_uri, 1, 500) = ${key} AND resource_uri = ${uri} ${here}
    ORDER BY context, created, id LIMIT ${limit} OFFSET ${offset}`)
  return rows.map(headFromRow)
}

/** The oldest result of a pipeline in the context that has this external resource. */
export async function findPipelineResult(
  queries: Queries,
  context: string,
  uri: string,
): Promise<EntryAddress | undefined> {
  const key = [...uri].slice(0, KEY_CHARACTERS).join('')
  return await queries.get<EntryAddress>(sql`SELECT context, id FROM entries
    WHERE substr(resource_uri, 1, 500) = ${key} AND resource_uri = ${uri} AND context = ${context}
      AND graph_type = 'PipelineResult' ORDER BY created, id LIMIT 1`)
}

/** The members of a list in its order, for sorting: only with the head and with metadata that are not too large. */
export async function sortableEntriesInList(queries: Queries, list: EntryAddress): Promise<Entry[]> {
  const rows = await queries.all<HeadRow & { metadata: string }>(sql`SELECT ${headColumnsOfE},
      CASE WHEN octet_length(e.metadata) <= ${MAX_SORTED_METADATA} THEN e.metadata ELSE '{}' END AS metadata
    FROM list_members m JOIN entries e ON e.context = m.context AND e.id = m.member
    WHERE m.context = ${list.context} AND m.list = ${list.id} ORDER BY m.position`)
  return rows.map(row => ({ ...abridged(headFromRow(row)), metadata: row.metadata }))
}

/** Whether a client may choose this id. The ids of users, groups and contexts are never given again, because rights name them. */
export async function isIdFree(queries: Queries, address: EntryAddress): Promise<boolean> {
  const taken = await queries.get(sql`SELECT 1 AS taken FROM entries WHERE ${at(address)}
    UNION ALL SELECT 1 AS taken FROM retired_ids WHERE ${at(address)} AND context IN (${CONTEXTS}, ${PRINCIPALS})
    UNION ALL SELECT 1 AS taken FROM trashed_entries WHERE ${at(address)}`)
  return taken === undefined
}

/** Whether no entry has or had this number, so that the service may choose it (W1.6). */
export async function isNumberFree(queries: Queries, address: EntryAddress): Promise<boolean> {
  const retired = await queries.get(sql`SELECT 1 AS taken FROM retired_ids WHERE ${at(address)}`)
  return retired === undefined && (await isIdFree(queries, address))
}

/** An entry without its metadata and content. */
export interface HeadWithInfo extends Entry {
  /** False where the statements of its info are too long: they have not been read. */
  readonly hasInfo: boolean
}

/** Statements of an info that are longer are read only for a single entry. */
const MAX_SMALL_INFO: Bytes = 16_384

/** Those of the entries that exist, by their ids. */
export async function findSmallInfos(
  queries: Queries,
  context: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, HeadWithInfo>> {
  const rows = await queries.all<HeadRow & { statements: string | null }>(sql`SELECT ${headColumns},
      CASE WHEN octet_length(statements) <= ${MAX_SMALL_INFO} THEN statements END AS statements
    FROM entries WHERE context = ${context} AND id IN (${listed(ids)})`)
  return new Map(
    rows.map(row => {
      const none = { metadata: '{}', cached_external_metadata: null, content: null }
      const entry = entryFromRow({ ...row, ...none, statements: row.statements ?? '{}' })
      return [row.id, Object.assign(entry, { hasInfo: row.statements !== null })]
    }),
  )
}

/** @param key id or name of the context */
export const findEntrySummary = (queries: Queries, key: string, id: string): Promise<EntrySummary | undefined> =>
  queries.get<EntrySummary>(sql`SELECT entry_type AS "entryType", graph_type AS "graphType", ${wholeSize} AS size
    FROM entries e JOIN contexts c ON c.id = e.context
    WHERE e.id = ${id} AND (c.id = ${key} OR c.name = ${key})
    ORDER BY CASE WHEN c.id = ${key} THEN 0 ELSE 1 END LIMIT 1`)
