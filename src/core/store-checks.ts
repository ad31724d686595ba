import { INCOMPLETE, isComplete } from '../backup/store-copy.ts'
import { NoStore } from '../base/errors.ts'
import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { reservedContexts } from '../content/contexts.ts'
import { isReservedSegment } from '../model/addresses.ts'
import { newerSchema, schemaVersion } from '../stores/migrations.ts'
import { type CheckResult, problem, warning } from './check-result.ts'
import { openDatabase } from './open-store.ts'

/**
 * Says when the store is of a newer version or was not filled completely, and names contexts of earlier versions that clients cannot reach as
 * before.
 * @throws {StartupError} @throws {ServiceError} when the store cannot be opened or read
 */
export async function checkStore(settings: Settings, newestSchema: number): Promise<CheckResult[]> {
  const database = await openDatabase(settings, realSystem, { readOnly: true }).catch((error: unknown) => {
    // There is none before the first start.
    if (error instanceof NoStore) return undefined
    throw error
  })
  if (!database) return []
  try {
    const found = await schemaVersion(database)
    if (found > newestSchema) return [problem(newerSchema(found, newestSchema))]
    // An empty database, before the first start.
    if (found === 0) return []
    if (!(await isComplete(database))) return [problem(`store: ${INCOMPLETE}`)]
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
