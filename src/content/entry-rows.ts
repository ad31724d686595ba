import { type Graph, graphText } from '../graph/graph.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { at, columns } from './entry-columns.ts'

/** Writes the rows of entries. Only `changes.ts` imports this file: there is no other way to change an entry. */

const textOrNull = (graph: Graph | undefined): string | null => (graph === undefined ? null : graphText(graph))

/** @throws {UniqueViolation} when the context has an entry with this id */
export async function insertEntryRow(tx: Queries, entry: Entry): Promise<void> {
  await tx.run(sql`INSERT INTO entries (${columns}) VALUES (
    ${entry.context}, ${entry.id}, ${entry.entryType}, ${entry.graphType}, ${entry.resourceType},
    ${entry.externalResource ?? null}, ${entry.externalMetadata ?? null}, ${entry.created}, ${entry.modified},
    ${entry.creator ?? null}, ${JSON.stringify(entry.contributors)}, ${JSON.stringify(entry.acl)},
    ${graphText(entry.statements)}, ${graphText(entry.metadata)}, ${textOrNull(entry.cachedExternalMetadata)},
    ${entry.cached ?? null}, ${entry.content ?? null})`)
}

/** Writes every member that can change. */
export async function updateEntryRow(tx: Queries, entry: Entry): Promise<void> {
  await tx.run(sql`UPDATE entries SET
      entry_type = ${entry.entryType}, graph_type = ${entry.graphType}, resource_type = ${entry.resourceType},
      resource_uri = ${entry.externalResource ?? null}, external_metadata = ${entry.externalMetadata ?? null},
      modified = ${entry.modified}, contributors = ${JSON.stringify(entry.contributors)},
      acl = ${JSON.stringify(entry.acl)}, statements = ${graphText(entry.statements)},
      metadata = ${graphText(entry.metadata)}, cached_external_metadata = ${textOrNull(entry.cachedExternalMetadata)},
      cached = ${entry.cached ?? null}, content = ${entry.content ?? null}
    WHERE ${at(entry)}`)
}

export async function deleteEntryRow(tx: Queries, address: EntryAddress): Promise<void> {
  await tx.run(sql`DELETE FROM entries WHERE ${at(address)}`)
}

/** Deletes all entries of a context. */
export async function deleteEntryRowsOf(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`DELETE FROM entries WHERE context = ${context}`)
}

/** Records that an id must never be reused (users, groups and contexts). */
export async function retireId(tx: Queries, { context, id }: EntryAddress): Promise<void> {
  await tx.run(sql`INSERT INTO retired_ids (context, id) VALUES (${context}, ${id}) ON CONFLICT DO NOTHING`)
}
