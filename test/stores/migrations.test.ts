import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import type { Database, Queries } from '../../src/stores/database.ts'
import { hasStep, type Migration, migrate, schemaVersion } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'

const first: Migration = {
  id: 1,
  name: 'things',
  statements: [sql`CREATE TABLE things (id INTEGER PRIMARY KEY)`, sql`INSERT INTO things VALUES (${1})`],
}
const second: Migration = { id: 2, name: 'colour', statements: [sql`ALTER TABLE things ADD COLUMN colour TEXT`] }
const broken: Migration = { id: 3, name: 'broken', statements: [sql`DELETE FROM things`, sql`DROP TABLE nothing`] }

const open = async (t: TestContext): Promise<Database> => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  return database
}
const applied = async (database: Database): Promise<string[]> => {
  const rows = await database.all<{ id: number; name: string }>(sql`SELECT id, name FROM schema_migrations ORDER BY id`)
  return rows.map(({ id, name }) => `${id} ${name}`)
}

test('each migration is applied once, however often the store is opened', async t => {
  const database = await open(t)
  await migrate(database, [first])
  await migrate(database, [first, second])
  await migrate(database, [first, second])
  assert.deepEqual(await applied(database), ['1 things', '2 colour'])
  assert.deepEqual(
    (await database.all<object>(sql`SELECT * FROM things`)).map(row => ({ ...row })),
    [{ id: 1, colour: null }],
  )
})

test('two starts on one store at the same time apply each migration once', async t => {
  const database = await open(t)
  await Promise.all([migrate(database, [first, second]), migrate(database, [first, second])])
  assert.deepEqual(await applied(database), ['1 things', '2 colour'])
})

test('a migration that fails leaves the store at the step before', async t => {
  const database = await open(t)
  await assert.rejects(migrate(database, [first, second, broken]), /nothing/)
  assert.deepEqual(await applied(database), ['1 things', '2 colour'])
  assert.equal((await database.all(sql`SELECT * FROM things`)).length, 1)
})

test('a store of a newer version is refused, naming both versions, and stays as it is', async t => {
  const database = await open(t)
  await migrate(database, [first, second])
  await assert.rejects(
    migrate(database, [first]),
    error => error instanceof StartupError && /version 2\b.*\b1 only/.test(error.message),
  )
  assert.deepEqual(await applied(database), ['1 things', '2 colour'])
})

test('migrations out of order are a mistake of the program', async t => {
  await assert.rejects(migrate(await open(t), [second, first]), TypeError)
})

test('a store has the migrations that were applied to it, and a new one has none', async t => {
  const database = await open(t)
  assert.deepEqual([await hasStep(database, 1), await schemaVersion(database)], [false, 0])
  await migrate(database, [first, second])
  assert.deepEqual(
    [await hasStep(database, 1), await hasStep(database, 2), await hasStep(database, 3)],
    [true, true, false],
  )
  assert.equal(await schemaVersion(database), 2)
  const away = { get: () => Promise.reject(new StoreUnavailable('The database')) } as unknown as Queries
  await assert.rejects(hasStep(away, 1), StoreUnavailable)
})
