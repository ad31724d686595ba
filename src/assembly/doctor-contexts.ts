import { StartupError } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { reservedContexts } from '../content/contexts.ts'
import { isReservedSegment } from '../model/addresses.ts'
import { newerSchema, schemaVersion } from '../stores/migrations.ts'
import { type CheckResult, problem, warning } from './check-result.ts'
import { newestSchema, openDatabase } from './stores.ts'

/** Names contexts of earlier versions that clients cannot reach as before, and says when the store is of a newer version. */
export async function checkContexts(settings: Settings): Promise<CheckResult[]> {
  const database = await openDatabase(settings, realSystem, { readOnly: true }).catch((error: unknown) => {
    // There is none before the first start, or another check reports why it cannot be opened.
    if (error instanceof StartupError) return undefined
    throw error
  })
  if (!database) return []
  try {
    const found = await schemaVersion(database)
    if (found > newestSchema) return [problem(newerSchema(found, newestSchema))]
    // An empty database, before the first start.
    if (found === 0) return []
    return (await reservedContexts(database)).map(({ id, name = '' }) =>
      warning(
        isReservedSegment(id)
          ? `context ${id}: /${id} is an address of the service now; move its content by export and import`
          : `context ${id}: its name "${name}" is reserved now; give it another one`,
      ),
    )
  } finally {
    await database.close()
  }
}
