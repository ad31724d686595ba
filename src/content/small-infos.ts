import type { Bytes } from '../base/units.ts'
import type { Entry } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import { listed, sql } from '../stores/sql.ts'
import { entryFromRow, headColumns, type HeadRow } from './entry-records.ts'

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
