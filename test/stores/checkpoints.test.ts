import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { WriteTurn } from '../../src/stores/shared/write-turn.ts'
import { Checkpoints } from '../../src/stores/sqlite/checkpoints.ts'
import { openSqliteDatabase, type SqliteOptions } from '../../src/stores/sqlite/sqlite-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually, until } from '../support/waiting.ts'

const KIB = 1024

/** A database with an empty table, in which nothing copies the log yet. */
async function newDatabase(
  options: SqliteOptions = {},
): Promise<{ path: string; turn: WriteTurn; database: Database }> {
  const path = join(await temporaryFolder(), 'store.sqlite')
  const turn = new WriteTurn()
  const database = await openSqliteDatabase(path, { turn, isCheckpointed: true, ...options })
  await database.run(sql`CREATE TABLE texts (text TEXT)`)
  return { path, turn, database }
}

const write = (database: Database, kib: number): Promise<number> =>
  database.run(sql`INSERT INTO texts VALUES (${'x'.repeat(kib * KIB)})`)

const sizeOf = async (path: string): Promise<number> => (await stat(path)).size

test('another thread copies what has been committed from the log into the database', async () => {
  const { path, turn, database } = await newDatabase()
  const checkpoints = new Checkpoints(path, turn)
  let written = 0
  // Far less than the length at which the engine copies the log itself.
  await eventually('the database grows', async () => {
    for (let count = 0; written < 2000 && count < 20; count++, written++) await write(database, 4)
    return (await sizeOf(path)) > 400 * KIB
  })
  await checkpoints.close()
  await database.close()
  assert.equal(await sizeOf(`${path}-wal`).catch(() => 0), 0)
  const again = await openSqliteDatabase(path)
  const row = await again.get<{ count: number }>(sql`SELECT count(*) AS count FROM texts`)
  assert.equal(row?.count, written)
  await again.close()
})

test('the engine copies a log that has become very long because nothing else does', async () => {
  const { path, database } = await newDatabase({ maxLog: 2000 })
  await write(database, 6 * KIB)
  assert.ok((await sizeOf(path)) < KIB * KIB, 'the log of 6 MiB was copied')
  await write(database, 3 * KIB)
  assert.ok((await sizeOf(path)) > 6 * KIB * KIB, 'the log of 9 MiB was not copied')
  await database.close()
})

test('a large commit lets the thread begin, and a log that has become long begins anew (D40.9)', async t => {
  const { path, turn, database } = await newDatabase()
  const checkpoints = new Checkpoints(path, turn)
  t.after(async () => {
    await checkpoints.close()
    await database.close()
  })
  await write(database, 5 * KIB)
  await until(
    () => turn.logPages,
    pages => pages > 0,
  )
  for (let count = 0; count < 100; count++) {
    await database.transaction(tx => tx.run(sql`INSERT INTO texts VALUES (${'x'.repeat(2 * KIB * KIB)})`))
  }
  const size = await sizeOf(`${path}-wal`)
  assert.ok(size < 80 * KIB * KIB, `the log has ${size} bytes`)
})

test('a thread that cannot begin is reported, and commits go on', async t => {
  const { path, turn, database } = await newDatabase()
  const elsewhere = join(await temporaryFolder(), 'gone', 'store.sqlite')
  const warnings: string[] = []
  const note = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', note)
  t.after(() => process.off('warning', note))
  const checkpoints = new Checkpoints(elsewhere, turn)
  for (let count = 0; count < 250; count++) await write(database, 1)
  await eventually('a warning', () => warnings.some(text => text.startsWith('The thread that copies the log')))
  await write(database, 1)
  await checkpoints.close()
  await database.close()
  assert.ok((await sizeOf(path)) > 0)
})

test('while the system refuses a thread, commits go on, and the thread begins once it may (D35.33)', async t => {
  const { path, turn, database } = await newDatabase()
  let refused = 0
  // Like a system without threads, Node throws where a thread is made, here because it cannot copy a function to it.
  const refusing = new Proxy(turn, {
    get(target, name) {
      if (name === 'shared' && ++refused < 3) return () => {}
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const checkpoints = new Checkpoints(path, refusing)
  t.after(async () => {
    await checkpoints.close()
    await database.close()
  })
  for (let count = 0; count < 250; count++) await write(database, 1)
  await until(
    () => turn.logPages,
    pages => pages > 0,
  )
  assert.equal(refused, 3)
})

test('a service that has hardly written closes without such a thread', async () => {
  const { path, turn, database } = await newDatabase()
  const checkpoints = new Checkpoints(path, turn)
  await write(database, 4)
  await checkpoints.close()
  await database.close()
  assert.ok((await sizeOf(path)) > 4 * KIB)
})
