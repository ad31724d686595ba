import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { schema } from '../../src/assembly/schema.ts'
import { DependencyCache, pruneChangeLog } from '../../src/stores/dependency-cache.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { after } from '../support/after.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder()
const open = async (): Promise<Database> => {
  const database = await openSqliteDatabase(join(folder, 'store.sqlite'))
  after(() => database.close())
  return database
}
/** Two connections to one file, as two threads or processes have them. */
const [one, other] = [await open(), await open()]
await migrate(one, schema)

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
  const { get, loads } = namesIn(new DependencyCache(one, 100_000), one)
  await insertUser(one, 'a')
  await insertUser(one, 'b')
  assert.deepEqual([await get('a'), await get('b'), await get('a'), loads()], ['a', 'b', 'a', 2])
  await rename(one, 'a', 'anna')
  assert.deepEqual([await get('a'), await get('b'), loads()], ['anna', 'b', 3])
  await one.run(sql`DELETE FROM principals WHERE id = 'a'`)
  assert.deepEqual([await get('a'), await get('b'), loads()], [undefined, 'b', 4])
})

test('a change by another connection counts from the next turn of the event loop on', async () => {
  const { get, loads } = namesIn(new DependencyCache(one, 100_000), one)
  await insertUser(other, 'c')
  await nextTurn()
  assert.deepEqual([await get('c'), await get('c'), loads()], ['c', 'c', 1])
  await rename(other, 'c', 'carl')
  await nextTurn()
  assert.deepEqual([await get('c'), loads()], ['carl', 2])
})

test('a value that changed while it was loaded is not kept', async () => {
  const cache = new DependencyCache(one, 100_000)
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
  const { get } = namesIn(new DependencyCache(one, 100_000), one)
  await insertUser(one, 'e')
  assert.equal(await get('e'), 'e')
  await rename(one, 'e', 'eva')
  await one.run(sql`UPDATE sqlite_sequence SET seq = seq + 30000 WHERE name = 'change_log'`)
  await rename(one, 'b', 'bert')
  await pruneChangeLog(one)
  assert.equal(await get('e'), 'eva')
})

test('a value that is made of other things than before stays when those change', async () => {
  const cache = new DependencyCache(one, 100_000)
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
  const { get, loads } = namesIn(new DependencyCache(one, 100_000), one)
  await insertUser(one, 'steady')
  await get('steady')
  await one.run(sql`INSERT INTO contexts (id) VALUES ('counted')`)
  await get('steady')
  const before = loads()
  await one.run(sql`UPDATE contexts SET last_number = 4 WHERE id = 'counted'`)
  await get('steady')
  assert.equal(loads(), before)
})

test('only so many of the latest changes are kept', async () => {
  await one.run(sql`UPDATE sqlite_sequence SET seq = seq + 30000 WHERE name = 'change_log'`)
  await insertUser(one, 'latest')
  await pruneChangeLog(one)
  const rows = await one.all<{ subject: string }>(sql`SELECT subject FROM change_log`)
  assert.deepEqual([...new Set(rows.map(({ subject }) => subject))].sort(), ['_contexts/', '_principals/latest'])
})

test('memory is bounded, and a value that is too large is not kept', async () => {
  const cache = new DependencyCache(one, 20_000)
  for (let n = 0; n < 100; n++) {
    await cache.get(`x ${n}`, async () => ({ value: n, subjects: [`3/${n}`], bytes: 1000 }))
  }
  assert.ok(cache.load.bytes <= 20_000 && cache.load.values > 5, JSON.stringify(cache.load))
  const large = async () => ({ value: Symbol('large'), subjects: ['3/1'], bytes: 30_000 })
  assert.notEqual(await cache.get('large', large), await cache.get('large', large))
})

test('every table that answers are made of is noted in the change log', async () => {
  const subjects = async (...statements: ReturnType<typeof sql>[]) => {
    const before = await one.get<{ last: number }>(sql`SELECT coalesce(max(number), 0) AS last FROM change_log`)
    for (const statement of statements) await one.run(statement)
    const rows = await one.all<{ subject: string }>(
      sql`SELECT DISTINCT subject FROM change_log WHERE number > ${before?.last ?? 0} ORDER BY subject`,
    )
    return rows.map(({ subject }) => subject).filter(subject => subject !== '_contexts/')
  }
  assert.deepEqual(await subjects(sql`INSERT INTO contexts (id) VALUES ('3')`), ['_contexts/3'])
  assert.deepEqual(await subjects(sql`UPDATE contexts SET last_number = 4 WHERE id = '3'`), [])
  assert.deepEqual(await subjects(sql`UPDATE contexts SET name = 'three' WHERE id = '3'`), ['_contexts/3'])
  const entry = sql`INSERT INTO entries (context, id, entry_type, graph_type, resource_type, created, modified, contributors,
    acl, statements, metadata) VALUES ('3', '7', 'Local', 'None', 'Unknown', 1, 1, '[]', '{}', '{}', '{}')`
  assert.deepEqual(await subjects(entry), ['3/7'])
  assert.deepEqual(await subjects(sql`UPDATE entries SET modified = 2 WHERE id = '7'`), ['3/7'])
  const file = sql`INSERT INTO files (context, entry, blob, size, sha256) VALUES ('3', '7', 'b', 1, 's')`
  assert.deepEqual(await subjects(file, sql`DELETE FROM files WHERE entry = '7'`), ['3/7'])
  const member = sql`INSERT INTO list_members (context, member, list, position) VALUES ('3', '7', '8', 1)`
  assert.deepEqual(await subjects(member, sql`DELETE FROM list_members WHERE member = '7'`), ['3/7', '3/8'])
  const relation = sql`INSERT INTO relations (target_context, target, source_context, source, part, subject, predicate, object)
    VALUES ('3', '7', '4', '9', 'info', 's', 'p', 'o')`
  assert.deepEqual(await subjects(relation, sql`DELETE FROM relations WHERE target = '7'`), ['3/7'])
  await one.run(sql`INSERT INTO principals (id, kind) VALUES ('g', 'group')`)
  const membership = sql`INSERT INTO group_members (group_id, user_id, position) VALUES ('g', 'b', 1)`
  assert.deepEqual(await subjects(membership), ['_principals/b', '_principals/g'])
  // The engine ends the membership together with the group.
  assert.deepEqual(await subjects(sql`DELETE FROM principals WHERE id = 'g'`), ['_principals/b', '_principals/g'])
  const home = sql`UPDATE principals SET home_context = '3' WHERE id = 'b'`
  assert.deepEqual(await subjects(home), ['_contexts/3', '_principals/b'])
})
