import { StartupError } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { isReservedSegment } from '../model/addresses.ts'
import { schemaVersion } from '../stores/migrations.ts'
import { sql } from '../stores/sql.ts'
import { type CheckResult, warning } from './check-result.ts'
import { openDatabase } from './stores.ts'

/** Contexts of earlier versions whose id or name has become an address of the service. */
export async function checkContexts(settings: Settings): Promise<CheckResult[]> {
  const database = await openDatabase(settings, realSystem, { readOnly: true }).catch((error: unknown) => {
    // There is none before the first start, or another check reports why it cannot be opened.
    if (error instanceof StartupError) return undefined
    throw error
  })
  if (!database) return []
  try {
    // An empty database, before the first start.
    if ((await schemaVersion(database)) === 0) return []
    const contexts = await database.all<{ id: string; name: string | null }>(sql`SELECT id, name FROM contexts`)
    return contexts.flatMap(({ id, name }) => [
      ...(isReservedSegment(id)
        ? [warning(`context ${id}: /${id} is an address of the service now; move its content by export and import`)]
        : []),
      ...(name !== null && isReservedSegment(name)
        ? [warning(`context ${id}: its name "${name}" is reserved now; give it another one`)]
        : []),
    ])
  } finally {
    await database.close()
  }
}
