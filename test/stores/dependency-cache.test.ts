import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { schema } from '../../src/assembly/stores.ts'
import { realSystem } from '../../src/base/system.ts'
import { pruneChangeLog } from '../../src/stores/change-log.ts'
import type { Database } from '../../src/stores/database.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { type Sql, sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { changeLogSuite } from '../conformance/change-log.ts'
import { after } from '../support/after.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder()
const open = async (name = 'store.sqlite'): Promise<Database> => {
  const database = await openSqliteDatabase(join(folder, name))
  after(() => database.close())
  return database
}
/** Two connections to one file, as two threads or processes have them. */
const [one, other] = [await open(), await open()]
await migrate(one, schema)
changeLogSuite('SQLite', async () => {
  const database = await open('log.sqlite')
  await migrate(database, schema)
  return database
})

const insertUser = (database: Database, id: string) =>
  database.run(sql`INSERT INTO principals (id, kind, name) VALUES (${id}, 'user', ${id})`)
const rename = (database: Database, id: string, name: string) =>
  database.run(sql`UPDATE principals SET name = ${name} WHERE id = ${id}`)

/** Reads the name of a user through a cache, and counts how often it was loaded. */
function namesIn(cache: DependencyCache, database: Database) {
  let loads = 0
  const get = async (id: string, during: () => Promise<unknown> = async () => {}): Promise<string | undefined> =>
    await cache.get(`name ${id}`, async () => {
      loads++
      const row = await database.get<{ name: string }>(sql`SELECT name FROM principals WHERE id = ${id}`)
      await during()
      return row && { value: row.name, subjects: [`_principals/${id}`], bytes: 100 }
    })
  return { get, loads: () => loads }
}

test('a value is kept until what it was made of changes, and others stay', async () => {
  const { get, loads } = namesIn(new DependencyCache(one, 100_000, realSystem), one)
  await insertUser(one, 'a')
  await insertUser(one, 'b')
  assert.deepEqual([await get('a'), await get('b'), await get('a'), loads()], ['a', 'b', 'a', 2])
  await rename(one, 'a', 'anna')
  assert.deepEqual([await get('a'), await get('b'), loads()], ['anna', 'b', 3])
  await one.run(sql`DELETE FROM principals WHERE id = 'a'`)
  assert.deepEqual([await get('a'), await get('b'), loads()], [undefined, 'b', 4])
})

test('a change by another connection counts from the next turn of the event loop on', async () => {
  const { get, loads } = namesIn(new DependencyCache(one, 100_000, realSystem), one)
  await insertUser(other, 'c')
  await nextIteration()
  assert.deepEqual([await get('c'), await get('c'), loads()], ['c', 'c', 1])
  await rename(other, 'c', 'carl')
  await nextIteration()
  assert.deepEqual([await get('c'), loads()], ['carl', 2])
})

test('a value that changed while it was loaded is not kept', async () => {
  const cache = new DependencyCache(one, 100_000, realSystem)
  const { get, loads } = namesIn(cache, one)
  await insertUser(one, 'd')
  const stale = await get('d', async () => {
    await rename(one, 'd', 'dora')
    // Another reader takes the change into account before this one keeps what it has loaded.
    await cache.get('something else', async () => undefined)
  })
  assert.deepEqual([stale, await get('d'), loads()], ['d', 'dora', 2])
})

test('a reader that has missed more changes than are kept drops everything', async () => {
  const { get } = namesIn(new DependencyCache(one, 100_000, realSystem), one)
  await insertUser(one, 'e')
  assert.equal(await get('e'), 'e')
  await rename(one, 'e', 'eva')
  await one.run(sql`UPDATE sqlite_sequence SET seq = seq + 30000 WHERE name = 'change_log'`)
  await rename(one, 'b', 'bert')
  await pruneChangeLog(one)
  assert.equal(await get('e'), 'eva')
})

test('from 5,000 changes at once on everything is dropped, and no more of them are read', async () => {
  let [most, readings] = [0, 0]
  const counting = {
    engine: one.engine,
    get revision() {
      return one.revision
    },
    all: async (statement: Sql) => {
      const rows = await one.all<object>(statement)
      readings++
      most = Math.max(most, rows.length)
      return rows
    },
  } as unknown as Database
  const { get, loads } = namesIn(new DependencyCache(counting, 100_000, realSystem), one)
  await insertUser(one, 'f')
  await get('f')
  for (const [changes, expected] of [
    [4999, 1],
    [12_000, 2],
  ] as const) {
    await one.run(sql`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${changes})
      INSERT INTO change_log (subject) SELECT 'other' FROM n`)
    await get('f')
    assert.equal(loads(), expected)
  }
  const before = readings
  await rename(one, 'f', 'frida')
  assert.deepEqual([await get('f'), most, readings - before], ['frida', 5000, 1])
})

test('a value that is made of other things than before stays when those change', async () => {
  const cache = new DependencyCache(one, 100_000, realSystem)
  let loads = 0
  const get = (subject: string) =>
    cache.get('moving', async () => ({ value: ++loads, subjects: [`_principals/${subject}`], bytes: 100 }))
  await insertUser(one, 'old')
  await insertUser(one, 'new')
  assert.equal(await get('old'), 1)
  await rename(one, 'old', 'older')
  assert.equal(await get('new'), 2)
  await rename(one, 'old', 'oldest')
  assert.equal(await get('new'), 2, 'it no longer depends on this user')
  await rename(one, 'new', 'newer')
  assert.equal(await get('new'), 3)
})

test('a commit that changes nothing that is cached drops nothing', async () => {
  const { get, loads } = namesIn(new DependencyCache(one, 100_000, realSystem), one)
  await insertUser(one, 'steady')
  await get('steady')
  await one.run(sql`INSERT INTO contexts (id) VALUES ('counted')`)
  await get('steady')
  const before = loads()
  await one.run(sql`UPDATE contexts SET last_number = 4 WHERE id = 'counted'`)
  await get('steady')
  assert.equal(loads(), before)
})

test('only a maximum number of the latest changes is kept', async () => {
  await one.run(sql`UPDATE sqlite_sequence SET seq = seq + 30000 WHERE name = 'change_log'`)
  await insertUser(one, 'latest')
  await pruneChangeLog(one)
  const rows = await one.all<{ subject: string }>(sql`SELECT subject FROM change_log`)
  assert.deepEqual([...new Set(rows.map(({ subject }) => subject))].sort(), ['_contexts/', '_principals/latest'])
})

test('memory is bounded, and a value that is too large is not kept', async () => {
  const cache = new DependencyCache(one, 20_000, realSystem)
  for (let n = 0; n < 100; n++) {
    await cache.get(`x ${n}`, async () => ({ value: n, subjects: [`3/${n}`], bytes: 1000 }))
  }
  assert.ok(cache.load.bytes <= 20_000 && cache.load.values > 5, JSON.stringify(cache.load))
  const large = async () => ({ value: Symbol('large'), subjects: ['3/1'], bytes: 30_000 })
  assert.notEqual(await cache.get('large', large), await cache.get('large', large))
})
