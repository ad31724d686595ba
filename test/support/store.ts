import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { realSystem } from '../../src/base/system.ts'
import type { Database, Queries } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { schema } from '../../src/assembly/stores.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import type { Test } from './peers/peer-process.ts'
import { databaseOfFolder, postgresDatabase } from './peers/postgres.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** `STORE=postgres` runs every test that starts a service with its rows in PostgreSQL. */
export const onPostgres = process.env['STORE'] === 'postgres'

/** The settings that say where the rows are that belong to a data folder. */
export async function storeSettings(folder: string): Promise<Readonly<Record<string, string>>> {
  return onPostgres ? { 'service.repository.store.url': await databaseOfFolder(folder) } : {}
}

/** The arguments by which a command finds the store of a data folder. */
export async function storeArguments(folder: string): Promise<string[]> {
  const settings = { 'service.data.folder': folder, ...(await storeSettings(folder)) }
  return Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
}

/** The database of a data folder, also while a service has it open. */
export async function openDatabaseOf(folder: string): Promise<Database> {
  return onPostgres
    ? await openPostgresDatabase(await databaseOfFolder(folder), { system: realSystem })
    : await openSqliteDatabase(join(folder, 'store.sqlite'))
}

/** A database of the test's own with all tables, and nothing in them. */
export async function newDatabase(t: Test): Promise<Database> {
  const database = onPostgres
    ? await openPostgresDatabase(await postgresDatabase(), { system: realSystem })
    : await openSqliteDatabase(await copyTables(await temporaryFolder()))
  t.after(() => database.close())
  await migrate(database, schema)
  return database
}

let tables: Promise<Buffer> | undefined

/** Makes an SQLite file with all tables, and nothing in them, in a data folder. A copy is ready much sooner than the steps of the schema. */
export async function copyTables(folder: string): Promise<string> {
  const file = join(folder, 'store.sqlite')
  await writeFile(file, await (tables ??= makeTables()), { mode: 0o600, flag: 'wx' })
  return file
}

async function makeTables(): Promise<Buffer> {
  const file = join(await temporaryFolder(), 'store.sqlite')
  const database = await openSqliteDatabase(file)
  await migrate(database, schema)
  await database.close()
  return await readFile(file)
}

/** One empty database, opened twice as two processes would. */
export async function twoConnections(t: Test): Promise<readonly [Database, Database]> {
  const url = onPostgres ? await postgresDatabase() : ''
  const file = join(await temporaryFolder(), 'store.sqlite')
  const open = (): Promise<Database> =>
    onPostgres ? openPostgresDatabase(url, { system: realSystem }) : openSqliteDatabase(file)
  const [one, other] = [await open(), await open()] as const
  t.after(async () => {
    await one.close()
    await other.close()
  })
  return [one, other]
}

/** The transactions of this database as uploads run them. */
export const transactionOf =
  (database: Database) =>
  <R>(work: (writer: { readonly tx: Queries }) => Promise<R>): Promise<R> =>
    database.transaction(tx => work({ tx }))
