// The store that is measured, on SQLite or PostgreSQL: commands of an operator on it, its size, and its search index.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { administer, ownPostgres, urlOf } from '../../test/support/peers/postgres.ts'
import { realSystem } from '../../src/base/system.ts'
import { searchSteps } from '../../src/search/tables.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../../src/stores/sql.ts'

const runner = fileURLToPath(new URL('./run.mjs', import.meta.url))

/** A server of PostgreSQL; `undefined` measures SQLite. */
export async function startEngine(isPostgres, after) {
  return isPostgres ? await ownPostgres({ after }) : undefined
}

/** The settings of a store in this folder, with a database of its own if there is a server. */
export async function newStore(folder, server, name) {
  if (!server) return { folder, settings: { 'service.data.folder': folder } }
  await administer(server, `CREATE DATABASE ${name}`)
  const url = urlOf(server, name)
  return { folder, url, settings: { 'service.data.folder': folder, 'service.repository.store.url': url } }
}

/** Runs a command. Resolves to the seconds and the most memory in bytes that it took. */
export async function timeOf({ settings }, ...args) {
  const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const begun = performance.now()
  const child = fork(runner, [...args, ...sets], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [[{ status, memory, cpu }]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  // An import with findings ends with 1.
  if (status !== 0 && !(args[0] === 'import' && status === 1)) throw new Error(`${args.join(' ')} ended with ${status}`)
  return { seconds: (performance.now() - begun) / 1000, memory, cpu }
}

const openDatabase = async ({ folder, url }) =>
  url === undefined
    ? await openSqliteDatabase(join(folder, 'store.sqlite'))
    : await openPostgresDatabase(url, { system: realSystem })

async function withDatabase(store, work) {
  const database = await openDatabase(store)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

const count = async (store, table) =>
  (await withDatabase(store, database => database.get(sql`SELECT count(*) AS count FROM ${table}`))).count

export const countEntries = store => count(store, sql`entries`)
export const countIndexed = store => count(store, sql`search_entries`)

export async function sizeOf(store) {
  if (store.url !== undefined) {
    const row = await withDatabase(store, database =>
      database.get(sql`SELECT pg_database_size(current_database()) AS size`),
    )
    return Number(row.size)
  }
  return (await stat(join(store.folder, 'store.sqlite'))).size
}

/** Like an upgrade that changes the tables of the index. */
export async function emptyIndex(store) {
  await withDatabase(store, database =>
    database.transaction(
      async tx => {
        for (const step of searchSteps.at(-1).statements) {
          for (const statement of 'parts' in step ? [step] : step[database.engine]) await tx.run(statement)
        }
      },
      { noTimeout: true },
    ),
  )
}
