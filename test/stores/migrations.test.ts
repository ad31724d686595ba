import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { LastingFailure, StoreUnavailable } from '../../src/base/errors.ts'
import type { Database, Queries } from '../../src/stores/database.ts'
import { type Migration, migrate, schemaVersion } from '../../src/stores/migrations.ts'
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
  await migrate(database, [first])
  await assert.rejects(migrate(database, [first, second, broken]), /nothing/)
  assert.deepEqual(await applied(database), ['1 things', '2 colour'])
  assert.equal((await database.all(sql`SELECT * FROM things`)).length, 1)
})

test('a new store gets all migrations in one transaction: where one fails it stays empty', async t => {
  const database = await open(t)
  await assert.rejects(migrate(database, [first, second, broken]), /nothing/)
  assert.deepEqual(await applied(database), [])
  await migrate(database, [first, second])
  assert.deepEqual(await applied(database), ['1 things', '2 colour'])
})

test('a store of a newer version is refused, naming both versions, and stays as it is', async t => {
  const database = await open(t)
  await migrate(database, [first, second])
  await assert.rejects(
    migrate(database, [first]),
    new LastingFailure(
      'The store is at schema version 2, but this version of Stowage knows it up to 1 only. ' +
        'A newer Stowage has used it: start that one, or restore a backup made before.',
    ),
  )
  assert.deepEqual(await applied(database), ['1 things', '2 colour'])
})

test('migrations out of order are a mistake of the program', async t => {
  const mistake = { name: 'TypeError', message: 'migration 1 stands after 2' }
  await assert.rejects(migrate(await open(t), [second, first]), mistake)
  await assert.rejects(migrate(await open(t), [first, { ...second, id: 1 }]), { message: 'migration 1 stands after 1' })
  await assert.rejects(migrate(await open(t), [{ ...first, id: 0 }]), { message: 'migration 0 stands after 0' })
})

test('only migrations that the store does not have begin a transaction, each one of its own and without a timeout', async t => {
  const database = await open(t)
  await migrate(database, [first])
  const begun: unknown[] = []
  const counted = new Proxy(database, {
    get(target, name) {
      if (name === 'transaction')
        return (work: (tx: Queries) => Promise<unknown>, options: unknown) => {
          begun.push(options)
          return target.transaction(work)
        }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await migrate(counted, [first, second, { id: 3, name: 'none', statements: [] }])
  assert.deepEqual(begun, [{ noTimeout: true }, { noTimeout: true }])
})

test('on PostgreSQL the text columns of new tables are in the order of bytes, and all else stays as it is written', async () => {
  const texts: string[] = []
  const queries = {
    engine: 'postgres',
    all: async () => [],
    get: async () => undefined,
    run: async ({ parts }: { readonly parts: readonly string[] }) => void texts.push(parts.join('?')),
  }
  const database = {
    ...queries,
    withExclusiveLock: (work: () => Promise<unknown>) => work(),
    transaction: (work: (tx: unknown) => Promise<unknown>) => work(queries),
  }
  await migrate(database as unknown as Database, [
    {
      id: 1,
      name: 'texts',
      statements: [
        sql`CREATE TABLE t (a TEXT, b TEXT NOT NULL, c TEXT[], d CONTEXT, e BIGINT DEFAULT ${1})`,
        sql`
  alter table t ADD COLUMN f TEXT`,
        sql`CREATE INDEX i ON t (CAST(a AS TEXT))`,
        sql`UPDATE t SET a = 'CREATE TABLE TEXT'`,
        { sqlite: [sql`CREATE TABLE other (a TEXT)`], postgres: [sql`CREATE TABLE own (a TEXT)`] },
      ],
    },
  ])
  assert.deepEqual(texts, [
    'CREATE TABLE IF NOT EXISTS schema_migrations (id INTEGER PRIMARY KEY, name TEXT COLLATE "C" NOT NULL)',
    'CREATE TABLE t (a TEXT COLLATE "C", b TEXT COLLATE "C" NOT NULL, c TEXT[], d CONTEXT, e BIGINT DEFAULT ?)',
    '\n  alter table t ADD COLUMN f TEXT COLLATE "C"',
    'CREATE INDEX i ON t (CAST(a AS TEXT))',
    "UPDATE t SET a = 'CREATE TABLE TEXT'",
    'CREATE TABLE own (a TEXT COLLATE "C")',
    'INSERT INTO schema_migrations (id, name) VALUES (?, ?)',
  ])
})

test('a store has the migrations that were applied to it, and a new one has none', async t => {
  const database = await open(t)
  assert.equal(await schemaVersion(database), 0)
  await migrate(database, [first, second])
  assert.equal(await schemaVersion(database), 2)
  const away = { get: () => Promise.reject(new StoreUnavailable('The database')) } as unknown as Queries
  await assert.rejects(schemaVersion(away), StoreUnavailable)
})
