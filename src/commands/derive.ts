import { countRows } from '../backup/rows.ts'
import type { Progress } from '../base/progress.ts'
import { buildMissingRelations } from '../content/changes.ts'
import { entriesOf } from '../content/entry-records.ts'
import { fillIndex } from '../search/catch-up.ts'
import type { Database } from '../stores/database.ts'

/**
 * Derives the relations and the search index of a store that a command has filled, which the service would otherwise do: the first start
 * is quick, and the first search finds everything.
 */
export async function derive(database: Database, progress: Progress): Promise<void> {
  await database.transaction(buildMissingRelations, { noTimeout: true })
  const count = await countRows(database, { name: 'entries', key: [] })
  await fillIndex({ database, entriesOf }, count, progress)
}
