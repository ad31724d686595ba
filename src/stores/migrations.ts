import { LastingFailure, ServiceError, StartupError } from '../base/errors.ts'
import type { Database, Queries } from './database.ts'
import { type Engine, type Sql, sql } from './sql.ts'

/** A statement for all databases, or one for each of them. */
export type Step = Sql | Readonly<Record<Engine, readonly Sql[]>>

const MIGRATIONS_TABLE = sql`CREATE TABLE IF NOT EXISTS schema_migrations (id INTEGER PRIMARY KEY, name TEXT NOT NULL)`

/** A schema migration. Once released it never changes. */
export interface Migration {
  readonly id: number
  readonly name: string
  readonly statements: readonly Step[]
}

/** Runs each step of an upgrade, to report it. The steps of a new store are not reported. */
export type Surround = (step: Migration, run: () => Promise<void>) => Promise<void>

/**
 * Applies the `migrations` that the store does not have yet, in ascending order of their ids. Each runs in its own transaction, so that a
 * crash leaves the store between two migrations; a new store gets all of them in one transaction.
 * @throws {LastingFailure} when a newer version has changed the store; nothing is changed then.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  during: Surround = (_step, work) => work(),
): Promise<void> {
  await database.withExclusiveLock(() => applyAll(database, migrations, during))
}

async function applyAll(database: Database, migrations: readonly Migration[], during: Surround): Promise<void> {
  const known = migrations.reduce((last, { id }) => {
    if (id <= last) throw new TypeError(`migration ${id} stands after ${last}`)
    return id
  }, 0)
  await database.run(worded(MIGRATIONS_TABLE, database.engine))
  requireNotNewer(await schemaVersion(database), known)
  const applied = new Set(
    (await database.all<{ id: number }>(sql`SELECT id FROM schema_migrations`)).map(({ id }) => id),
  )
  const missing = migrations.filter(({ id }) => !applied.has(id))
  // A new store waits for the disk once, and is empty after a crash.
  for (const together of applied.size === 0 ? [missing] : missing.map(one => [one])) {
    const work = async (tx: Queries): Promise<void> => {
      for (const migration of together) await applyIn(tx, migration)
    }
    const run = (): Promise<void> => database.transaction(work, { noTimeout: true })
    const [step] = together
    await (step && applied.size > 0 ? during(step, run) : run())
  }
}

function requireNotNewer(found: number, known: number): void {
  if (found <= known) return
  throw new LastingFailure(newerSchema(found, known))
}

/** Why a store of a newer version cannot be used, and what to do. */
export const newerSchema = (found: number, known: number): string =>
  `The store is at schema version ${found}, but this version of Stowage knows it up to ${known} only. ` +
  'A newer Stowage has used it: start that one, or restore a backup made before.'

/** @throws {StartupError} when the store lacks some of `migrations`, or has newer ones */
export async function requireCurrent(database: Queries, migrations: readonly Migration[]): Promise<void> {
  const [found, known] = [await schemaVersion(database), migrations.at(-1)?.id ?? 0]
  requireNotNewer(found, known)
  if (found === known) return
  throw new StartupError(
    found === 0
      ? 'The database is empty. If it has lost its rows, restore a backup; for a new store, start the service once.'
      : 'The tables of the store are those of an older version of Stowage. Start this version once to upgrade them.',
  )
}

/** The last applied migration; 0 for a new store. Changes nothing. */
export async function schemaVersion(database: Queries): Promise<number> {
  const last = await database
    .get<{ id: number | null }>(sql`SELECT max(id) AS id FROM schema_migrations`)
    .catch((error: unknown) => {
      // The database's own error, which both databases give when there is no such table.
      if (error instanceof ServiceError) throw error
      return undefined
    })
  return last?.id ?? 0
}

async function applyIn(tx: Queries, { id, name, statements }: Migration): Promise<void> {
  if (await tx.get(sql`SELECT id FROM schema_migrations WHERE id = ${id}`)) return
  await runSteps(tx, statements)
  await tx.run(sql`INSERT INTO schema_migrations (id, name) VALUES (${id}, ${name})`)
}

/** Runs the statements of a migration, by itself only if they drop first what they create. */
export async function runSteps(tx: Queries, statements: Migration['statements']): Promise<void> {
  for (const step of statements) {
    const ofEngine = 'parts' in step ? [step] : step[tx.engine]
    for (const statement of ofEngine) await tx.run(worded(statement, tx.engine))
  }
}

/** Text is compared and sorted by its bytes, regardless of the database server's default; SQLite does so by default. */
function worded(statement: Sql, engine: Engine): Sql {
  const [first = ''] = statement.parts
  if (engine === 'sqlite' || !/^\s*(create table|alter table)\b/i.test(first)) return statement
  return {
    parts: statement.parts.map(part => part.replace(/\bTEXT\b(?!\[)/g, 'TEXT COLLATE "C"')),
    values: statement.values,
  }
}
