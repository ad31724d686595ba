import type { Bytes, Milliseconds } from '../base/units.ts'
import type { Graph } from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import { listed, portionsOf, type Sql, sql } from '../stores/sql.ts'
import type { Acl } from '../model/acl.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { Entry, EntryHead, EntryType, GraphType, ResourceType } from '../model/entry.ts'
import type { EntrySource } from '../search/entry-source.ts'
import type { ResponseBudget } from '../model/response-budget.ts'
import { indexEntry, removeContextFromIndex, removeFromIndex } from '../search/index-records.ts'

interface HeadRow {
  context: string
  id: string
  entry_type: EntryType
  graph_type: GraphType
  resource_type: ResourceType
  resource_uri: string | null
  external_metadata: string | null
  created: number
  modified: number
  creator: string | null
  contributors: string
  acl: string
  cached: number | null
}

interface EntryRow extends HeadRow {
  statements: string
  metadata: string
  cached_external_metadata: string | null
  content: string | null
}

const headColumns = sql`context, id, entry_type, graph_type, resource_type, resource_uri, external_metadata, created,
  modified, creator, contributors, acl, cached`

const columns = sql`context, id, entry_type, graph_type, resource_type, resource_uri, external_metadata, created, modified,
  creator, contributors, acl, statements, metadata, cached_external_metadata, cached, content`

const headsInEntries = sql`e.context, e.id, e.entry_type, e.graph_type, e.resource_type, e.resource_uri,
  e.external_metadata, e.created, e.modified, e.creator, e.contributors, e.acl, e.cached`

/** A title in metadata longer than this does not count when a list is sorted. */
const MAX_SORTED_METADATA: Bytes = 65_536

const headFromRow = (row: HeadRow): EntryHead => ({
  context: row.context,
  id: row.id,
  entryType: row.entry_type,
  graphType: row.graph_type,
  resourceType: row.resource_type,
  externalResource: row.resource_uri ?? undefined,
  externalMetadata: row.external_metadata ?? undefined,
  created: row.created,
  modified: row.modified,
  creator: row.creator ?? undefined,
  contributors: JSON.parse(row.contributors) as string[],
  acl: JSON.parse(row.acl) as Acl,
  cached: row.cached ?? undefined,
})

const fromRow = (row: EntryRow): Entry => ({
  ...headFromRow(row),
  statements: JSON.parse(row.statements) as Graph,
  metadata: JSON.parse(row.metadata) as Graph,
  cachedExternalMetadata:
    row.cached_external_metadata === null ? undefined : (JSON.parse(row.cached_external_metadata) as Graph),
  content: row.content ?? undefined,
})

const jsonOrNull = (graph: Graph | undefined): string | null => (graph === undefined ? null : JSON.stringify(graph))

const at = ({ context, id }: EntryAddress): Sql => sql`context = ${context} AND id = ${id}`

export async function findEntry(queries: Queries, address: EntryAddress): Promise<Entry | undefined> {
  const row = await queries.get<EntryRow>(sql`SELECT ${columns} FROM entries WHERE ${at(address)}`)
  return row && fromRow(row)
}

const sizeOf = sql`octet_length(acl) + octet_length(statements) + octet_length(metadata)
  + coalesce(octet_length(cached_external_metadata), 0)`

/** For a response with several entries: graphs that exceed the budget are not loaded. */
export async function findEntryToShow(
  queries: Queries,
  address: EntryAddress,
  budget: ResponseBudget,
): Promise<Entry | undefined> {
  const row = await queries.get<{ size: number }>(sql`SELECT ${sizeOf} AS size FROM entries WHERE ${at(address)}`)
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
  metadata: {},
  cachedExternalMetadata: undefined,
  content: undefined,
  isAbridged: true,
})

/** Those of the ids that are entries of the context. */
export async function presentIds(queries: Queries, context: string, ids: readonly string[]): Promise<Set<string>> {
  const present = new Set<string>()
  for (const some of portionsOf(ids)) {
    const rows = await queries.all<{ id: string }>(
      sql`SELECT id FROM entries WHERE context = ${context} AND id IN (${listed(some)})`,
    )
    for (const { id } of rows) present.add(id)
  }
  return present
}

/** Ids of all entries of a context, numbers in their order, then the rest by name. */
export async function listEntryIds(queries: Queries, context: string): Promise<string[]> {
  const rows = await queries.all<{ id: string }>(
    sql`SELECT id FROM entries WHERE context = ${context} ORDER BY length(id), id`,
  )
  return rows.map(row => row.id)
}

/** Some ids of a context in the order of text, those after this one, for going through all of them. */
export async function idsAfter(queries: Queries, { context, id }: EntryAddress, count: number): Promise<string[]> {
  const rows = await queries.all<{ id: string }>(
    sql`SELECT id FROM entries WHERE context = ${context} AND id > ${id} ORDER BY id LIMIT ${count}`,
  )
  return rows.map(row => row.id)
}

/** When each entry of a context was last changed, by id. */
export async function modificationTimes(queries: Queries, context: string): Promise<ReadonlyMap<string, Milliseconds>> {
  const rows = await queries.all<{ id: string; modified: number }>(
    sql`SELECT id, modified FROM entries WHERE context = ${context}`,
  )
  return new Map(rows.map(({ id, modified }) => [id, modified]))
}

/** Some entries in the order of their ids, those after this place, for going through all of them. */
export async function entriesAfter(queries: Queries, { context, id }: EntryAddress, count: number): Promise<Entry[]> {
  const rows = await queries.all<EntryRow>(sql`SELECT ${columns} FROM entries
    WHERE context > ${context} OR (context = ${context} AND id > ${id}) ORDER BY context, id LIMIT ${count}`)
  return rows.map(fromRow)
}

const KEY_CHARACTERS = 500

/** What rights go by, and no more. */
export async function findEntryHead(queries: Queries, address: EntryAddress): Promise<EntryHead | undefined> {
  const row = await queries.get<HeadRow>(sql`SELECT ${headColumns} FROM entries WHERE ${at(address)}`)
  return row && headFromRow(row)
}

/** What the search needs of this room. */
export const entrySource: EntrySource = { findEntry, findEntryHead, findEntryToShow }

/**
 * Some entries, without their graphs, whose resource is elsewhere, at this URI; those of a context in the order in which
 * they were made.
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

/** The members of a list in its order, without resources; those with long metadata without these too. */
export async function entriesInList(queries: Queries, list: EntryAddress): Promise<Entry[]> {
  const rows = await queries.all<HeadRow & { metadata: string }>(sql`SELECT ${headsInEntries},
      CASE WHEN octet_length(e.metadata) <= ${MAX_SORTED_METADATA} THEN e.metadata ELSE '{}' END AS metadata
    FROM list_members m JOIN entries e ON e.context = m.context AND e.id = m.member
    WHERE m.context = ${list.context} AND m.list = ${list.id} ORDER BY m.position`)
  return rows.map(row => ({ ...abridged(headFromRow(row)), metadata: JSON.parse(row.metadata) as Graph }))
}

export async function insertEntry(tx: Queries, entry: Entry): Promise<void> {
  await tx.run(sql`INSERT INTO entries (${columns}) VALUES (
    ${entry.context}, ${entry.id}, ${entry.entryType}, ${entry.graphType}, ${entry.resourceType},
    ${entry.externalResource ?? null}, ${entry.externalMetadata ?? null}, ${entry.created}, ${entry.modified},
    ${entry.creator ?? null}, ${JSON.stringify(entry.contributors)}, ${JSON.stringify(entry.acl)},
    ${JSON.stringify(entry.statements)}, ${JSON.stringify(entry.metadata)}, ${jsonOrNull(entry.cachedExternalMetadata)},
    ${entry.cached ?? null}, ${entry.content ?? null})`)
  await indexEntry(tx, entry)
}

/** Writes every member that can change. */
export async function updateEntry(tx: Queries, entry: Entry): Promise<void> {
  await tx.run(sql`UPDATE entries SET
      entry_type = ${entry.entryType}, graph_type = ${entry.graphType}, resource_type = ${entry.resourceType},
      resource_uri = ${entry.externalResource ?? null}, external_metadata = ${entry.externalMetadata ?? null},
      modified = ${entry.modified}, contributors = ${JSON.stringify(entry.contributors)},
      acl = ${JSON.stringify(entry.acl)}, statements = ${JSON.stringify(entry.statements)},
      metadata = ${JSON.stringify(entry.metadata)}, cached_external_metadata = ${jsonOrNull(entry.cachedExternalMetadata)},
      cached = ${entry.cached ?? null}, content = ${entry.content ?? null}
    WHERE ${at(entry)}`)
  await indexEntry(tx, entry)
}

export async function deleteEntry(tx: Queries, address: EntryAddress): Promise<void> {
  await tx.run(sql`DELETE FROM entries WHERE ${at(address)}`)
  await removeFromIndex(tx, address)
}

/** Deletes all entries of a context. */
export async function deleteEntriesOf(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`DELETE FROM entries WHERE context = ${context}`)
  await removeContextFromIndex(tx, context)
}

/** Notes that an id must never be given again (users, groups and contexts). */
export async function retireId(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`INSERT INTO retired_ids (context, id) VALUES (${context}, ${id}) ON CONFLICT DO NOTHING`)
}

export async function isIdFree(queries: Queries, { context, id }: EntryAddress): Promise<boolean> {
  const taken = await queries.get(sql`SELECT 1 AS taken FROM entries WHERE ${at({ context, id })}
    UNION ALL SELECT 1 AS taken FROM retired_ids WHERE ${at({ context, id })}`)
  return taken === undefined
}
