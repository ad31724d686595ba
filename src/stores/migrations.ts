import { StartupError } from '../base/errors.ts'
import type { Database } from './database.ts'
import { type Sql, sql } from './sql.ts'

/** One step of the schema. Once released it does not change any more. */
export interface Migration {
  readonly id: number
  readonly name: string
  readonly statements: readonly Sql[]
}

/**
 * Brings the store up to the last of `migrations`, which are in ascending order of their ids. Each of those not yet
 * applied runs in a transaction of its own, so that a crash leaves the store at one step or the next.
 * @throws {StartupError} when a newer version has been at work on the store; nothing is changed then.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  const known = migrations.reduce((last, { id }) => {
    if (id <= last) throw new TypeError(`migration ${id} stands after ${last}`)
    return id
  }, 0)
  const found = await schemaVersion(database)
  if (found > known) {
    throw new StartupError(
      `The store is at schema version ${found}, but this version of Stowage knows it up to ${known} only. ` +
        'A newer Stowage has used it: start that one, or restore a backup made before.',
    )
  }
  for (const migration of migrations) await apply(database, migration)
}

/** The last step that the store has taken; 0 when it is new. */
export async function schemaVersion(database: Database): Promise<number> {
  await database.run(sql`CREATE TABLE IF NOT EXISTS schema_migrations (id INTEGER PRIMARY KEY, name TEXT NOT NULL)`)
  const row = await database.get<{ id: number | null }>(sql`SELECT max(id) AS id FROM schema_migrations`)
  return row?.id ?? 0
}

function apply(database: Database, { id, name, statements }: Migration): Promise<void> {
  return database.transaction(async tx => {
    // Asked inside the transaction: another node may be starting on the same store.
    if (await tx.get(sql`SELECT id FROM schema_migrations WHERE id = ${id}`)) return
    for (const statement of statements) await tx.run(statement)
    await tx.run(sql`INSERT INTO schema_migrations (id, name) VALUES (${id}, ${name})`)
  })
}
