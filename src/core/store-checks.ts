import { isComplete } from '../backup/store-copy.ts'
import { NoStore, StoreDamaged } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import { reservedContexts } from '../content/contexts.ts'
import { isReservedSegment } from '../model/addresses.ts'
import type { Database } from '../stores/database.ts'
import { schemaVersion } from '../stores/migrations.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'
import { findEmptyFolder, LOST_FOLDER } from './lost-database.ts'
import { readStore } from './open-store.ts'

export interface StoreCheckOptions {
  /** The newest step of the schema that this version knows. */
  readonly newestSchema: number
  /** Up to which size the engine checks its data structures, which blocks the process. */
  readonly maxChecked: Bytes
}

/**
 * Says when the database is damaged, the store is of a newer version or was not filled completely, or its files are missing, and names
 * contexts of earlier versions that clients cannot reach as before.
 * @throws {StartupError} @throws {ServiceError} when the store cannot be opened or read
 */
export async function checkStore(settings: Settings, options: StoreCheckOptions): Promise<CheckResult[]> {
  return await readStore(settings, database => checkDatabase(settings, database, options)).catch((error: unknown) => {
    // There is none before the first start.
    if (error instanceof NoStore) return []
    throw error
  })
}

async function checkDatabase(
  settings: Settings,
  database: Database,
  { newestSchema, maxChecked }: StoreCheckOptions,
): Promise<CheckResult[]> {
  const [damage] = await database.findDamage({ maxBytes: maxChecked })
  if (damage !== undefined) {
    return [
      problem('store-damaged', 'store: The database is damaged: {reason}. Stop the service and follow {page}.', {
        reason: damage,
        page: StoreDamaged.page,
      }),
    ]
  }
  const found = await schemaVersion(database)
  if (found > newestSchema)
    return [
      problem(
        'store-newer',
        'store: The store is at schema version {found}, but this version of Stowage knows it up to {known} only. A newer Stowage has used it: start that one, or restore a backup made before.',
        { found: String(found), known: String(newestSchema) },
      ),
    ]
  // An empty database, before the first start.
  if (found === 0) return []
  if (!(await isComplete(database)))
    return [
      problem(
        'store-incomplete',
        'store: This store was being filled by `restore`, `migrate-store` or `import`, which did not come to its end: run it again.',
      ),
    ]
  const fit =
    found === newestSchema
      ? ok('store-current', 'store: its tables are those of this version')
      : ok('store-older', 'store: its tables are those of an older version; the next start upgrades them')
  const reserved = (await reservedContexts(database)).map(({ id, name = '' }) =>
    isReservedSegment(id)
      ? warning(
          'context-id-reserved',
          'context {id}: /{id} is an address of the service now; move its content by export and import',
          { id },
        )
      : warning('context-name-reserved', 'context {id}: its name "{name}" is reserved now; give it another one', {
          id,
          name,
        }),
  )
  return [fit, ...(await checkFiles(settings, database)), ...reserved]
}

async function checkFiles(settings: Settings, database: Database): Promise<CheckResult[]> {
  const folder = await findEmptyFolder(settings, database)
  if (folder === undefined) return []
  return [
    problem(
      'files-missing',
      'files: The database lists files, but there are none in {folder}. Is its disk mounted? Stop the service and follow {page}.',
      { folder, page: LOST_FOLDER },
    ),
  ]
}
