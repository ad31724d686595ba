import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { StorageFull, StoreDamaged } from '../../src/base/errors.ts'
import { UniqueViolation } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { SqliteConnection, SqliteTransaction } from '../../src/stores/sqlite/sqlite-connection.ts'

const engineError = (errcode: number): Error => Object.assign(new Error('of the engine'), { errcode })

/** A stand-in for SQLite whose failures the test sets, and which records prepared and executed statements. */
function engine() {
  const told = { failure: undefined as unknown, prepared: [] as string[], executed: [] as string[], closed: 0 }
  const act = <T>(result: T): T => {
    if (told.failure !== undefined) throw told.failure
    return result
  }
  const handle = {
    isTransaction: true,
    location: () => null,
    prepare(text: string) {
      told.prepared.push(text)
      return {
        all: (...values: unknown[]) => act([{ text, values }]),
        get: (...values: unknown[]) => act({ text, values, data_version: 7 }),
        run: () => act({ changes: 3n }),
        setReadBigInts: () => {},
      }
    },
    exec: (text: string) => act(void told.executed.push(text)),
    close: () => void told.closed++,
  }
  return { told, handle, connection: new SqliteConnection(handle as unknown as DatabaseSync, 10) }
}

test('an error of the engine becomes one that says what to do, whatever was asked', () => {
  const { told, connection } = engine()
  const questions = [
    () => connection.revision,
    () => connection.execute('PRAGMA x'),
    () => connection.all(sql`SELECT 1`),
    () => connection.get(sql`SELECT 1`),
    () => connection.run(sql`DELETE FROM t`),
  ]
  for (const ask of questions) {
    told.failure = engineError(11)
    assert.throws(ask, StoreDamaged)
    told.failure = engineError(13)
    assert.throws(ask, StorageFull)
    told.failure = engineError(1)
    assert.throws(ask, error => error === told.failure)
  }
})

test('a row that is there already is a UniqueViolation, whichever of its keys it has, and no other constraint is', () => {
  const { told, connection } = engine()
  for (const code of [1555, 2067, 2579]) {
    told.failure = engineError(code)
    assert.throws(
      () => connection.run(sql`INSERT INTO t VALUES (1)`),
      (error: unknown) => error instanceof UniqueViolation && error.cause === told.failure,
    )
  }
  for (const code of [19, 787, 1299, 2323]) {
    told.failure = engineError(code)
    assert.throws(
      () => connection.run(sql`INSERT INTO t VALUES (1)`),
      error => error === told.failure,
    )
  }
})

test('statements are counted; only those that write have a number of rows', () => {
  const { connection } = engine()
  assert.equal(connection.statements, 0)
  assert.equal(connection.run(sql`UPDATE t SET a = 1`), 3)
  assert.equal(connection.run(sql`CREATE TABLE t (a)`), 0)
  connection.all(sql`SELECT 1`)
  connection.get(sql`SELECT 1`)
  connection.execute('BEGIN')
  assert.equal(connection.revision, 7)
  assert.equal(connection.statements, 6)
  assert.equal(connection.inTransaction, true)
})

test('a text is prepared once, however often it runs, and a list of parts is read each time', () => {
  const { told, connection } = engine()
  const select = (value: number) => connection.get(sql`SELECT ${value}, ${2}`)
  assert.deepEqual(
    [select(1), select(5)],
    [
      { text: 'SELECT ?, ?', values: [1n, 2n], data_version: 7 },
      { text: 'SELECT ?, ?', values: [5n, 2n], data_version: 7 },
    ],
  )
  void connection.revision
  void connection.revision
  assert.deepEqual(told.prepared, ['SELECT ?, ?', 'PRAGMA data_version'])
  const parts = ['SELECT 8']
  connection.get({ parts, values: [] })
  parts[0] = 'SELECT 9'
  connection.get({ parts, values: [] })
  assert.deepEqual(told.prepared.slice(2), ['SELECT 8', 'SELECT 9'])
})

test('a text has one statement, beside those of a trigger', () => {
  const { connection } = engine()
  const run = (text: string) => connection.run({ parts: [text], values: [] })
  for (const text of [
    'SELECT 1;',
    'SELECT 1 ; \n',
    "SELECT 'a; b'",
    "SELECT 'a', 'b; c', 'd'",
    ' CREATE  TRIGGER a BEGIN SELECT 1; SELECT 2; END',
  ])
    run(text)
  for (const text of [
    'SELECT 1; SELECT 2',
    'SELECT 1;SELECT 2',
    "SELECT 'a'; SELECT 'b'",
    'SELECT 1; CREATE TRIGGER a BEGIN SELECT 1; END',
    'CREATE TRIGGERS a; SELECT 2',
  ])
    assert.throws(() => run(text), { name: 'TypeError', message: 'a text must contain exactly one statement' }, text)
})

test('a connection that is closed closes its engine', () => {
  const { told, connection } = engine()
  void connection.revision
  connection.close()
  assert.equal(told.closed, 1)
})

test('a transaction that has ended, or that the engine has ended, runs nothing', async () => {
  const { handle, connection } = engine()
  const transaction = new SqliteTransaction(connection)
  assert.equal(await transaction.run(sql`DELETE FROM t`), 3)
  assert.equal((await transaction.all(sql`SELECT 1`)).length, 1)
  assert.ok(await transaction.get(sql`SELECT 1`))
  const refused = async (one: SqliteTransaction): Promise<void> => {
    const message = 'the transaction has ended'
    await assert.rejects(one.run(sql`DELETE FROM t`), { message })
    await assert.rejects(one.all(sql`SELECT 1`), { message })
    await assert.rejects(one.get(sql`SELECT 1`), { message })
  }
  transaction.end()
  await refused(transaction)
  handle.isTransaction = false
  await refused(new SqliteTransaction(connection))
  assert.equal(connection.statements, 3)
})
