import assert from 'node:assert/strict'
import { readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { StoreUnavailable } from '../../src/base/errors.ts'
import type { Database } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { writesRows } from '../../src/stores/sqlite/sqlite-connection.ts'
import { type SqliteOptions, openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { databaseSuite } from '../conformance/database.ts'
import { sourceUrl, startChild } from '../support/child-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const openFile = async (t: TestContext, options?: SqliteOptions): Promise<Database> => {
  const database = await openSqliteDatabase(join(await temporaryFolder(), 'test.db'), options)
  t.after(() => database.close())
  return database
}

databaseSuite('SQLite in a file', openFile)
databaseSuite('SQLite in memory', () => openSqliteDatabase(':memory:'))

test('what was committed is there when the file is opened again, and only the owner may read it', async t => {
  const folder = await temporaryFolder()
  const path = join(folder, 'test.db')
  const first = await openSqliteDatabase(path)
  await first.run(sql`CREATE TABLE t (a TEXT)`)
  await first.run(sql`INSERT INTO t VALUES (${'kept'})`)
  for (const name of await readdir(folder)) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name)
  await first.close()
  const log = await stat(`${path}-wal`).catch(() => undefined)
  assert.ok(!log || log.size === 0, 'the log has been taken over')

  const second = await openSqliteDatabase(path)
  t.after(() => second.close())
  assert.equal((await second.get<{ a: string }>(sql`SELECT a FROM t`))?.a, 'kept')
})

test('a read in a file does not wait for a running transaction', async t => {
  const database = await openFile(t)
  await database.run(sql`CREATE TABLE t (a INTEGER)`)
  const count = await database.transaction(async tx => {
    await tx.run(sql`INSERT INTO t VALUES (1)`)
    return await database.get<{ n: number }>(sql`SELECT count(*) AS n FROM t`)
  })
  assert.equal(count?.n, 0)
})

test('the revision changes with every change, by this process or another, and with nothing else', async t => {
  const path = join(await temporaryFolder(), 'test.db')
  const [database, stranger] = [await openSqliteDatabase(path), await openSqliteDatabase(path)]
  for (const one of [database, stranger]) t.after(() => one.close())
  const changes: Record<string, () => Promise<unknown>> = {
    statement: () => database.run(sql`CREATE TABLE t (a INTEGER)`),
    transaction: () => database.transaction(tx => tx.run(sql`INSERT INTO t VALUES (1)`)),
    returning: () => database.get(sql`INSERT INTO t VALUES (2) RETURNING a`),
    stranger: () => stranger.run(sql`INSERT INTO t VALUES (3)`),
  }
  for (const [name, change] of Object.entries(changes)) {
    const before = database.revision
    assert.equal(database.revision, before)
    await change()
    // Commits of another process are seen from the next iteration of the event loop on.
    if (name === 'stranger') await setImmediate()
    assert.notEqual(database.revision, before, name)
  }
  const before = database.revision
  await database.all(sql`SELECT a FROM t`)
  await database.transaction(async tx => await tx.all(sql`SELECT a FROM t`))
  await assert.rejects(
    database.transaction(async tx => {
      await tx.run(sql`INSERT INTO t VALUES (4)`)
      throw new Error('no')
    }),
  )
  assert.equal(database.revision, before)
})

test('bytes come back as bytes, also none and a part of a larger buffer', async t => {
  const database = await openFile(t)
  for (const bytes of [new Uint8Array(), Uint8Array.of(1, 0, 255), Uint8Array.of(9, 1, 2, 9).subarray(1, 3)]) {
    const row = await database.get<{ type: string; b: Uint8Array }>(sql`SELECT typeof(${bytes}) AS type, ${bytes} AS b`)
    assert.equal(row?.type, 'blob')
    assert.deepEqual(Uint8Array.from(row.b), Uint8Array.from(bytes))
  }
})

test('a whole number is bound as an integer, a fraction as a real', async t => {
  const database = await openFile(t)
  const typeOf = async (value: number): Promise<string | undefined> =>
    (await database.get<{ type: string }>(sql`SELECT typeof(${value}) AS type`))?.type
  assert.equal(await typeOf(1), 'integer')
  assert.equal(await typeOf(-(2 ** 53) + 1), 'integer')
  assert.equal(await typeOf(-0), 'integer')
  assert.equal(await typeOf(0.5), 'real')
  assert.equal(await typeOf(2 ** 60), 'real')
})

test('foreign keys are enforced', async t => {
  const database = await openFile(t)
  await database.run(sql`CREATE TABLE a (id INTEGER PRIMARY KEY)`)
  await database.run(sql`CREATE TABLE b (a INTEGER NOT NULL REFERENCES a (id))`)
  await assert.rejects(database.run(sql`INSERT INTO b VALUES (${1})`), /FOREIGN KEY/)
})

test('a text with two statements is refused, a semicolon inside a string or a trigger is not', async t => {
  const database = await openFile(t)
  await assert.rejects(database.run(sql`CREATE TABLE t (a); CREATE TABLE u (a)`), /one statement/)
  await database.run(sql`CREATE TABLE t (a); `)
  await database.run(sql`INSERT INTO t VALUES ('a; b')`)
  await database.run(sql`CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t WHERE a = 1; END`)
  await database.run(sql`
    create  trigger s after insert on t begin delete from t where a = 2; end`)
  assert.equal((await database.all(sql`SELECT * FROM t`)).length, 1)
  const hidden = database.run(sql`DELETE FROM t; CREATE TRIGGER u AFTER INSERT ON t BEGIN DELETE FROM t; END`)
  await assert.rejects(hidden, { name: 'TypeError', message: 'a text must contain exactly one statement' })
  assert.equal((await database.all(sql`SELECT * FROM t`)).length, 1)
})

test('a statement changes rows if its first word says so, wherever its lines begin', () => {
  for (const changing of [sql`INSERT INTO t`, sql`update t`, sql`\n  DELETE FROM t`, sql`Replace INTO t`])
    assert.equal(writesRows(changing), true, changing.parts[0])
  for (const reading of [sql`SELECT 1`, sql`SELECT replace(a, 'b', 'c')`, sql`inserted`, sql`CREATE TABLE t (a)`])
    assert.equal(writesRows(reading), false, reading.parts[0])
})

test('work that goes on after the engine has rolled back cannot commit statement by statement', async t => {
  const database = await openFile(t)
  await database.run(sql`CREATE TABLE t (a INTEGER)`)
  const refused = database.transaction(async tx => {
    await tx.run(sql`ROLLBACK`)
    await tx.run(sql`INSERT INTO t VALUES (1)`)
  })
  await assert.rejects(refused, /ended/)
  assert.deepEqual(await database.all(sql`SELECT * FROM t`), [])
})

test('statements stay right while the cache is too small for them and the schema changes', async t => {
  const database = await openFile(t, { statements: 2 })
  await database.run(sql`CREATE TABLE t (a INTEGER)`)
  await database.run(sql`INSERT INTO t VALUES (${7})`)
  const texts = [sql`SELECT * FROM t`, sql`SELECT a + ${1} AS a FROM t`, sql`SELECT a + ${2} AS a FROM t`]
  const read = async (): Promise<unknown[]> => {
    const rows = []
    for (const text of texts) rows.push({ ...(await database.get<object>(text)) })
    return rows
  }
  assert.deepEqual(await read(), [{ a: 7 }, { a: 8 }, { a: 9 }])
  assert.deepEqual(await read(), [{ a: 7 }, { a: 8 }, { a: 9 }])
  await database.run(sql`ALTER TABLE t ADD COLUMN b TEXT`)
  assert.deepEqual(await read(), [{ a: 7, b: null }, { a: 8 }, { a: 9 }])
})

for (const durability of ['full', 'relaxed'] as const) {
  test(`a ${durability} transaction that has resolved survives the kill of its process`, async t => {
    const path = join(await temporaryFolder(), 'test.db')
    const child = await startChild(`
      import { openSqliteDatabase } from '${sourceUrl('stores/sqlite/sqlite-database.ts')}'
      import { sql } from '${sourceUrl('stores/sql.ts')}'
      import { writeSync } from 'node:fs'
      const database = await openSqliteDatabase('${path}')
      await database.run(sql\`CREATE TABLE t (a INTEGER PRIMARY KEY)\`)
      for (let i = 1; ; i++) {
        await database.transaction(tx => tx.run(sql\`INSERT INTO t VALUES (\${i})\`), { durability: '${durability}' })
        writeSync(1, i + '\\n')
        if (i === 200) writeSync(1, 'ready\\n')
        if (i % 50 === 0) await new Promise(resolve => setImmediate(resolve))
      }
    `)
    await child.kill()
    const reported = child.lines.reduce((most, line) => Math.max(most, Number(line) || 0), 0)
    assert.ok(reported >= 200)
    const database = await openSqliteDatabase(path)
    t.after(() => database.close())
    const row = await database.get<{ n: number; most: number }>(sql`SELECT count(*) AS n, max(a) AS most FROM t`)
    assert.ok(
      row && row.most >= reported && row.n === row.most,
      `reported ${reported}, found ${row?.n} up to ${row?.most}`,
    )
  })
}

test('once another program has replaced the log, nothing more is stored, and the database says so', async t => {
  const path = join(await temporaryFolder(), 'test.db')
  const database = await openSqliteDatabase(path)
  t.after(() => database.close())
  await database.run(sql`CREATE TABLE t (a INTEGER)`)
  await database.requireWritable()
  await rename(`${path}-wal`, `${path}-gone`)
  await writeFile(`${path}-wal`, '')
  await assert.rejects(database.run(sql`INSERT INTO t VALUES (1)`), StoreUnavailable)
  await assert.rejects(database.requireWritable(), StoreUnavailable)
  assert.deepEqual(await database.all(sql`SELECT * FROM t`), [])
})

test('a lock that another program keeps is a refusal that may be tried again', async t => {
  const path = join(await temporaryFolder(), 'test.db')
  const database = await openSqliteDatabase(path)
  t.after(() => database.close())
  await database.run(sql`CREATE TABLE t (a TEXT)`)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(database.run(sql`INSERT INTO t VALUES (${'one'})`), { name: 'Overloaded', code: 'overloaded' })
  other.exec('ROLLBACK')
  other.close()
  await database.run(sql`INSERT INTO t VALUES (${'one'})`)
})
