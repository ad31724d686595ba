import { CONTEXTS, PRINCIPALS } from '../model/addresses.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'

/** The number of objects in the store without system contexts; the names are those of the status page. */
interface StoreCounts {
  readonly contextCount: number
  readonly groupCount: number
  readonly userCount: number
  readonly entryCount: number
  readonly fileCount: number
  readonly fileBytes: number
}

export async function countStore(queries: Queries): Promise<StoreCounts> {
  const counts = await queries.get<StoreCounts>(sql`SELECT
    (SELECT COUNT(*) FROM contexts WHERE id NOT IN (${CONTEXTS}, ${PRINCIPALS})) AS "contextCount",
    (SELECT COUNT(*) FROM principals WHERE kind = 'group') AS "groupCount",
    (SELECT COUNT(*) FROM principals WHERE kind = 'user') AS "userCount",
    (SELECT COUNT(*) FROM entries) AS "entryCount",
    (SELECT COUNT(*) FROM files) AS "fileCount",
    (SELECT COALESCE(SUM(used), 0) FROM quota_usage WHERE kind = 'context') AS "fileBytes"`)
  if (!counts) throw new Error('the engine returned no count')
  return { ...counts }
}
