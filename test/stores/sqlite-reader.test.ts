import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { StorageReadOnly } from '../../src/base/errors.ts'
import type { Queries } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase, openSqliteReader, type SqliteOptions } from '../../src/stores/sqlite/sqlite-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function open(t: TestContext, options?: SqliteOptions) {
  const path = join(await temporaryFolder(), 'test.db')
  const database = await openSqliteDatabase(path, options)
  t.after(() => database.close())
  await database.run(sql`CREATE TABLE t (a INTEGER)`)
  return { path, database }
}
const count = async (queries: Queries): Promise<number | undefined> =>
  (await queries.get<{ n: number }>(sql`SELECT count(*) AS n FROM t`))?.n
const pragma = async (queries: Queries, text: ReturnType<typeof sql>): Promise<unknown> =>
  Object.values((await queries.get<object>(text)) ?? {})[0]

test('a reader sees each commit of the writer at once, and the revision with it', async t => {
  const { path, database } = await open(t)
  const reader = await openSqliteReader(path)
  t.after(() => reader.close())
  assert.deepEqual([reader.engine, await count(reader)], ['sqlite', 0])
  for (let n = 1; n <= 3; n++) {
    const before = reader.revision
    assert.equal(reader.revision, before)
    await database.run(sql`INSERT INTO t VALUES (1)`)
    assert.notEqual(reader.revision, before)
    assert.equal(await count(reader), n)
  }
  const during = reader.snapshot(async at => {
    const first = await count(at)
    await database.run(sql`INSERT INTO t VALUES (1)`)
    return [first, await count(at), await count(reader)]
  })
  assert.deepEqual(await during, [3, 3, 4])
  assert.deepEqual(await reader.findDamage(), [])
})

test('a reader refuses to write, and its end leaves the log to the writer', async t => {
  const { path, database } = await open(t)
  const reader = await openSqliteReader(path)
  await assert.rejects(reader.run(sql`INSERT INTO t VALUES (1)`), StorageReadOnly)
  await assert.rejects(reader.get(sql`INSERT INTO t VALUES (1) RETURNING a`), StorageReadOnly)
  await assert.rejects(
    reader.transaction(tx => tx.run(sql`INSERT INTO t VALUES (1)`)),
    StorageReadOnly,
  )
  assert.equal(await count(database), 0)
  const log = (await stat(`${path}-wal`)).size
  assert.ok(log > 0)
  await reader.close()
  await reader.close()
  assert.equal((await stat(`${path}-wal`)).size, log)
  await database.run(sql`INSERT INTO t VALUES (1)`)
  await database.close()
  const left = await stat(`${path}-wal`).catch(() => undefined)
  assert.equal(left?.size ?? 0, 0)
})

test('a reader of a file that does not exist makes none', async () => {
  const folder = await temporaryFolder()
  await assert.rejects(openSqliteReader(join(folder, 'none.db')))
  assert.deepEqual(await readdir(folder), [])
})

test('connections have the memory and the patience that they are given', async t => {
  const { path, database } = await open(t)
  assert.equal(await pragma(database, sql`PRAGMA cache_size`), -65_536)
  assert.equal(await pragma(database, sql`PRAGMA temp_store`), 2)
  assert.equal(await pragma(database, sql`PRAGMA mmap_size`), 0)
  assert.equal(await pragma(database, sql`PRAGMA busy_timeout`), 2000)
  assert.equal(await pragma(database, sql`PRAGMA query_only`), 0)
  const ofWriter = (text: ReturnType<typeof sql>) => database.transaction(tx => pragma(tx, text))
  assert.equal(await ofWriter(sql`PRAGMA cache_size `), -16_384)
  assert.equal(await ofWriter(sql`PRAGMA temp_store `), 2)
  assert.equal(await ofWriter(sql`PRAGMA synchronous `), 2)
  assert.equal(await ofWriter(sql`PRAGMA journal_mode `), 'wal')
  assert.equal(await ofWriter(sql`PRAGMA journal_size_limit `), 67_108_864)
  assert.equal(await ofWriter(sql`PRAGMA busy_timeout `), 2000)
  assert.equal(await ofWriter(sql`PRAGMA foreign_keys `), 1)
  const small = await open(t, { readCache: 1_000_001 })
  assert.equal(await pragma(small.database, sql`PRAGMA cache_size`), -977)
  const reader = await openSqliteReader(path)
  t.after(() => reader.close())
  assert.equal(await pragma(reader, sql`PRAGMA cache_size`), -16_384)
  assert.equal(await pragma(reader, sql`PRAGMA busy_timeout`), 2000)
})

test('a database in memory has no revision, and snapshots that others wait for', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await database.run(sql`CREATE TABLE t (a INTEGER)`)
  assert.equal(database.revision, undefined)
  let writing: Promise<unknown> | undefined
  const seen = await database.snapshot(async at => {
    writing = database.run(sql`INSERT INTO t VALUES (1)`)
    const first = await count(at)
    await new Promise(resolve => setImmediate(resolve))
    return [first, await count(at)]
  })
  await writing
  assert.deepEqual([seen, await count(database)], [[0, 0], 1])
  assert.deepEqual(await database.findDamage(), [])
})

test('a snapshot is read-only and ends with its work', async t => {
  const inMemory = await openSqliteDatabase(':memory:')
  t.after(() => inMemory.close())
  await inMemory.run(sql`CREATE TABLE t (a INTEGER)`)
  for (const database of [(await open(t)).database, inMemory]) {
    let kept: Queries | undefined
    await database.snapshot(async at => {
      kept = at
      await assert.rejects(at.run(sql`INSERT INTO t VALUES (1)`), { message: 'a snapshot is read-only' })
      assert.deepEqual([at.engine, (await at.all(sql`SELECT a FROM t`)).length], ['sqlite', 0])
    })
    await assert.rejects(async () => await kept?.get(sql`SELECT 1`))
    await assert.rejects(
      database.snapshot(() => Promise.reject(new Error('no'))),
      { message: 'no' },
    )
    await database.run(sql`INSERT INTO t VALUES (1)`)
    assert.equal(await count(database), 1)
  }
})

test('after its end a database refuses everything', async t => {
  const { database } = await open(t)
  await Promise.all([database.close(), database.close()])
  const message = 'the database is closed'
  assert.throws(() => database.revision, { message })
  for (const work of [
    () => database.get(sql`SELECT 1`),
    () => database.all(sql`SELECT 1`),
    () => database.run(sql`DELETE FROM t`),
    () => database.transaction(async () => {}),
    () => database.snapshot(async () => {}),
    () => database.findDamage(),
  ])
    await assert.rejects(async () => await work(), { message })
})
