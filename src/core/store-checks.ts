import { INCOMPLETE, isComplete } from '../backup/store-copy.ts'
import { NoStore } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import { reservedContexts } from '../content/contexts.ts'
import { isReservedSegment } from '../model/addresses.ts'
import type { Database } from '../stores/database.ts'
import { newerSchema, schemaVersion } from '../stores/migrations.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'
import { readStore } from './open-store.ts'
import { describeDamage } from './stores.ts'

export interface StoreCheckOptions {
  /** The newest step of the schema that this version knows. */
  readonly newestSchema: number
  /** Up to which size the engine checks its data structures, which blocks the process. */
  readonly maxChecked: Bytes
}

/**
 * Says when the database is damaged, or the store is of a newer version or was not filled completely, and names contexts of earlier versions
 * that clients cannot reach as before.
 * @throws {StartupError} @throws {ServiceError} when the store cannot be opened or read
 */
export async function checkStore(settings: Settings, options: StoreCheckOptions): Promise<CheckResult[]> {
  return await readStore(settings, database => checkDatabase(database, options)).catch((error: unknown) => {
    // There is none before the first start.
    if (error instanceof NoStore) return []
    throw error
  })
}

async function checkDatabase(
  database: Database,
  { newestSchema, maxChecked }: StoreCheckOptions,
): Promise<CheckResult[]> {
  const [damage] = await database.findDamage({ maxBytes: maxChecked })
  if (damage !== undefined) return [problem(`store: ${describeDamage(damage)}`)]
  const found = await schemaVersion(database)
  if (found > newestSchema) return [problem(newerSchema(found, newestSchema))]
  // An empty database, before the first start.
  if (found === 0) return []
  if (!(await isComplete(database))) return [problem(`store: ${INCOMPLETE}`)]
  const fit = ok(
    found === newestSchema
      ? 'store: its tables are those of this version'
      : 'store: its tables are those of an older version; the next start upgrades them',
  )
  const reserved = (await reservedContexts(database)).map(({ id, name = '' }) =>
    warning(
      isReservedSegment(id)
        ? `context ${id}: /${id} is an address of the service now; move its content by export and import`
        : `context ${id}: its name "${name}" is reserved now; give it another one`,
    ),
  )
  return [fit, ...reserved]
}
