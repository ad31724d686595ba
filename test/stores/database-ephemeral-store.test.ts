import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DatabaseEphemeralStore } from '../../src/stores/database-ephemeral-store.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { ephemeralStoreSuite } from '../conformance/ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function openStore(t: TestContext) {
  const file = join(await temporaryFolder(), 'store.sqlite')
  const database = await openSqliteDatabase(file)
  t.after(() => database.close())
  await migrate(database, schema)
  const system = new FakeSystem()
  const store = new DatabaseEphemeralStore(database, system)
  return { store, system, database, pass: async (duration: number) => system.pass(duration) }
}

ephemeralStoreSuite('a table of the database', openStore)

test('another store on the same table finds what was there, as the next start does', async t => {
  const { store, system, database } = await openStore(t)
  await store.add('a:1', 'kept', 1000)
  await store.add('a:2', 'taken', 1000)
  await store.take('a:2')
  const next = new DatabaseEphemeralStore(database, system)
  assert.equal(await next.get('a:1'), 'kept')
  assert.equal(await next.get('a:2'), undefined)
})

test('the sweep deletes the rows that have expired, however many, and no others', async t => {
  const { store, system, database } = await openStore(t)
  for (let index = 0; index < 450; index++) await store.add(`a:${index}`, index, 1000)
  await store.add('b:1', 'later', 2000)
  system.pass(1000)
  await store.sweep()
  const left = await database.all<{ key: string }>(sql`SELECT key FROM ephemeral`)
  assert.deepEqual(
    left.map(({ key }) => key),
    ['b:1'],
  )
})

test('what expires while a scan is read is left out', async t => {
  const { store, system } = await openStore(t)
  for (const key of ['a:2', 'a:1', 'a:3']) await store.add(key, key, key === 'a:3' ? 1000 : 2000)
  const found = []
  for await (const [key] of store.scan('a:')) {
    found.push(key)
    if (key === 'a:2') system.pass(1000)
  }
  assert.deepEqual(found, ['a:1', 'a:2'])
  assert.equal(await store.take('a:3'), undefined)
})

test('a lifetime that no number can hold ends as late as possible, and a part of a millisecond counts as one', async t => {
  const { store, database } = await openStore(t)
  await store.add('a:1', 1, Number.MAX_SAFE_INTEGER)
  await store.add('a:2', 1, 0.5)
  const rows = await database.all<{ key: string; expires: number }>(
    sql`SELECT key, expires FROM ephemeral ORDER BY key`,
  )
  const now = new FakeSystem().now()
  assert.deepEqual(
    rows.map(({ expires }) => expires),
    [Number.MAX_SAFE_INTEGER, now + 1],
  )
})
