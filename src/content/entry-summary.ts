import type { Bytes } from '../base/units.ts'
import type { EntryType, GraphType } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { findContext } from './contexts.ts'

/** The data of an entry that can be read without its graphs. */
export interface EntrySummary {
  readonly entryType: EntryType
  readonly graphType: GraphType
  /** Of its graphs and its text. */
  readonly size: Bytes
  /** Whether many statements of other entries are about this one, if that is known already. */
  readonly hasManyRelations?: boolean
}

/** @param contextKey id or name of the context */
export async function findEntrySummary(
  queries: Queries,
  contextKey: string,
  id: string,
): Promise<EntrySummary | undefined> {
  const found = await summaryIn(queries, contextKey, id)
  if (found) return found
  const context = await findContext(queries, contextKey)
  return context && context.id !== contextKey ? await summaryIn(queries, context.id, id) : undefined
}

const summaryIn = (queries: Queries, context: string, id: string): Promise<EntrySummary | undefined> =>
  queries.get<EntrySummary>(sql`SELECT entry_type AS "entryType", graph_type AS "graphType",
      octet_length(acl) + octet_length(statements) + octet_length(metadata)
        + coalesce(octet_length(cached_external_metadata), 0) + coalesce(octet_length(content), 0) AS size
    FROM entries WHERE context = ${context} AND id = ${id}`)
