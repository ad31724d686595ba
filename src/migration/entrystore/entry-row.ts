import type { Row } from '../../backup/rows.ts'
import type { Entry } from '../../model/entry.ts'

/** The row of an entry; `entryFromRow` of `content/entry-records.ts` reads it. */
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
  metadata: entry.metadata,
  cached_external_metadata: entry.cachedExternalMetadata ?? null,
  cached: entry.cached ?? null,
  content: entry.content ?? null,
})
