import type { Row } from '../../backup/rows.ts'
import type { Graph } from '../../graph/graph.ts'
import type { Acl } from '../../model/acl.ts'
import type { Entry, EntryType, GraphType, ResourceType } from '../../model/entry.ts'

/** The row of an entry, as `content/entry-records.ts` writes it. */
export const entryRow = (entry: Entry): Row => ({
  context: entry.context,
  id: entry.id,
  entry_type: entry.entryType,
  graph_type: entry.graphType,
  resource_type: entry.resourceType,
  resource_uri: entry.externalResource ?? null,
  external_metadata: entry.externalMetadata ?? null,
  created: entry.created,
  modified: entry.modified,
  creator: entry.creator ?? null,
  contributors: JSON.stringify(entry.contributors),
  acl: JSON.stringify(entry.acl),
  statements: JSON.stringify(entry.statements),
  metadata: JSON.stringify(entry.metadata),
  cached_external_metadata:
    entry.cachedExternalMetadata === undefined ? null : JSON.stringify(entry.cachedExternalMetadata),
  cached: entry.cached ?? null,
  content: entry.content ?? null,
})

/** The inverse of {@link entryRow}. */
export function entryFromRow(row: Row): Entry {
  const text = (column: string): string => String(row[column] ?? '')
  const optional = (column: string): string | undefined => (row[column] === null ? undefined : text(column))
  const cached = optional('cached_external_metadata')
  return {
    context: text('context'),
    id: text('id'),
    entryType: text('entry_type') as EntryType,
    graphType: text('graph_type') as GraphType,
    resourceType: text('resource_type') as ResourceType,
    externalResource: optional('resource_uri'),
    externalMetadata: optional('external_metadata'),
    created: Number(row['created']),
    modified: Number(row['modified']),
    creator: optional('creator'),
    contributors: JSON.parse(text('contributors')) as string[],
    acl: JSON.parse(text('acl')) as Acl,
    statements: JSON.parse(text('statements')) as Graph,
    metadata: JSON.parse(text('metadata')) as Graph,
    cachedExternalMetadata: cached === undefined ? undefined : (JSON.parse(cached) as Graph),
    cached: row['cached'] === null ? undefined : Number(row['cached']),
    content: optional('content'),
  }
}
