import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import * as fc from 'fast-check'
import { StorageForbidden, StoreUnavailable } from '../../src/base/errors.ts'
import { Mutex } from '../../src/base/semaphore.ts'
import { type Database, type Queries, type TransactionOptions, UniqueViolation } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { GroupCommit, SqliteConnection } from '../../src/stores/sqlite/sqlite-connection.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function open(t: TestContext): Promise<Database> {
  const database = await openSqliteDatabase(join(await temporaryFolder(), 'test.db'))
  t.after(() => database.close())
  await database.run(sql`CREATE TABLE t (a INTEGER PRIMARY KEY)`)
  return database
}

/** Enough work that a transaction which never yields is noticed. */
const MAX_INSERTS = 200_000

const insert = (tx: Queries, a: number): Promise<number> => tx.run(sql`INSERT INTO t VALUES (${a})`)
const present = async (queries: Queries): Promise<number[]> =>
  (await queries.all<{ a: number }>(sql`SELECT a FROM t ORDER BY a`)).map(({ a }) => a)
const statuses = async (all: ReadonlyArray<Promise<unknown>>): Promise<string[]> =>
  (await Promise.allSettled(all)).map(({ status }) => status)

/** What is committed already when each of these, asked for at once, is at work. */
async function seenBy(database: Database, options: ReadonlyArray<TransactionOptions | undefined>) {
  const all = options.map((one, index) =>
    database.transaction(async tx => {
      await insert(tx, index)
      return await present(database)
    }, one),
  )
  return await Promise.all(all)
}

test('transactions that come at once share a commit, and each sees what the ones before it have done', async t => {
  const database = await open(t)
  const seen = await seenBy(database, [undefined, undefined, { durability: 'relaxed' }])
  assert.deepEqual(seen, [[], [], []])
  assert.deepEqual(await present(database), [0, 1, 2])
  const within = [3, 4].map(a =>
    database.transaction(async tx => {
      await insert(tx, a)
      return await present(tx)
    }),
  )
  assert.deepEqual(await Promise.all(within), [
    [0, 1, 2, 3],
    [0, 1, 2, 3, 4],
  ])
})

test('a transaction with its own commit shares none: earlier callers are notified before it begins', async t => {
  const database = await open(t)
  const seen = await seenBy(database, [undefined, { ownCommit: true }, undefined])
  assert.deepEqual(seen, [[], [0], [0, 1]])
})

test('at most 32 transactions share a commit', async t => {
  const database = await open(t)
  const seen = await seenBy(database, Array(65).fill(undefined))
  const first = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
  assert.deepEqual(
    seen,
    first(65).map(index => first(index < 32 ? 0 : index < 64 ? 32 : 64)),
  )
})

/** Group commits on a database in memory that refuses the statements of a list, with the notified results. */
async function onEngine(refused: readonly string[], error: object = {}) {
  const handle = new DatabaseSync(':memory:')
  handle.exec('CREATE TABLE t (a INTEGER PRIMARY KEY)')
  const told: string[] = []
  const engine = new Proxy(handle, {
    get(target, name) {
      if (name === 'exec')
        return (text: string): void => {
          told.push(text)
          if (refused.includes(text)) throw Object.assign(new Error(`${text} is refused`), error)
          target.exec(text)
        }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const connection = new SqliteConnection(engine, 10)
  return { group: new GroupCommit(connection, new Mutex()), connection, told }
}

test('where the engine cannot begin, the transaction fails with its reason, and nothing is left open', async () => {
  const { group, connection, told } = await onEngine(['BEGIN IMMEDIATE'])
  await assert.rejects(
    group.run(tx => insert(tx, 1), {}),
    { message: 'BEGIN IMMEDIATE is refused' },
  )
  assert.deepEqual([connection.inTransaction, told.includes('COMMIT')], [false, false])
  connection.close()
})

test('while the log cannot be looked at, changes are refused and the failure is noted', async () => {
  const { connection } = await onEngine([])
  let failure: Error | undefined = Object.assign(new Error('permission denied'), { code: 'EACCES' })
  const group = new GroupCommit(connection, new Mutex(), () => {
    if (failure) throw failure
    return true
  })
  const change = () => group.run(tx => insert(tx, 1), {})
  await assert.rejects(change, StorageForbidden)
  assert.ok(group.failure instanceof StorageForbidden)
  failure = Object.assign(new Error('input/output error'), { code: 'EIO' })
  await assert.rejects(change, StoreUnavailable)
  failure = undefined
  await change()
  assert.equal(group.failure, undefined)
  connection.close()
})

test('where the engine cannot commit, everything is rolled back, and each caller learns why', async () => {
  const { group, connection } = await onEngine(['COMMIT'])
  const own = new Error('own')
  const all = [
    group.run(tx => insert(tx, 1), {}),
    group.run(() => Promise.reject(own), {}),
    group.run(tx => insert(tx, 3), {}),
  ]
  const reasons = (await Promise.allSettled(all)).map(result => (result as PromiseRejectedResult).reason.message)
  assert.deepEqual(reasons, ['COMMIT is refused', 'own', 'COMMIT is refused'])
  assert.equal(connection.inTransaction, false)
  assert.deepEqual(connection.all(sql`SELECT * FROM t`), [])
  connection.close()
})

test('a commit is on the disk before it is confirmed, unless all of its transactions are relaxed (D40.1)', async () => {
  const { group, connection, told } = await onEngine([])
  const relaxed = { durability: 'relaxed' } as const
  const levels = async (...all: TransactionOptions[]): Promise<string[]> => {
    told.length = 0
    await Promise.all(all.map(options => group.run(async () => {}, options)))
    return told.filter(text => text.startsWith('PRAGMA synchronous'))
  }
  const [full, normal] = ['PRAGMA synchronous = FULL', 'PRAGMA synchronous = NORMAL']
  assert.deepEqual(await levels({}), [full])
  assert.deepEqual(await levels(relaxed, relaxed), [normal])
  assert.deepEqual(await levels(relaxed, {}, relaxed), [full])
  assert.deepEqual(await levels(...Array.from({ length: 32 }, () => relaxed), {}), [normal, full])
  connection.close()
})

test('once the disk has not confirmed a commit, all later transactions are refused', async () => {
  const refused = ['COMMIT']
  const { group, connection } = await onEngine(refused, { errcode: 1034 })
  await assert.rejects(
    group.run(tx => insert(tx, 1), {}),
    StoreUnavailable,
  )
  refused.length = 0
  await assert.rejects(
    group.run(tx => insert(tx, 2), {}),
    StoreUnavailable,
  )
  assert.equal(connection.inTransaction, false)
  assert.deepEqual(connection.all(sql`SELECT * FROM t`), [])
  connection.close()
})

test('after a commit that could not be written the next one is tried', async () => {
  const refused = ['COMMIT']
  const { group, connection } = await onEngine(refused, { errcode: 778 })
  await assert.rejects(
    group.run(tx => insert(tx, 1), {}),
    StoreUnavailable,
  )
  assert.ok(group.failure instanceof StoreUnavailable)
  refused.length = 0
  await group.run(tx => insert(tx, 2), {})
  assert.equal(group.failure, undefined)
  assert.deepEqual(
    connection.all(sql`SELECT * FROM t`).map(row => ({ ...(row as object) })),
    [{ a: 2 }],
  )
  connection.close()
})

test('a long transaction does not block the event loop', async t => {
  const database = await open(t)
  let turns = 0
  await database.transaction(async tx => {
    const count = (): void => void (++turns < 3 && setImmediate(count))
    setImmediate(count)
    for (let a = 0; a < MAX_INSERTS; a++) {
      if (turns === 3) break
      await insert(tx, a)
    }
  })
  assert.equal(turns, 3)
})

test('after relaxed transactions one that must be on the disk begins a commit of its own', async t => {
  const database = await open(t)
  let full: Promise<number[]> | undefined
  await database.transaction(
    async tx => {
      await insert(tx, 0)
      // Comes when the level of the commit is settled.
      full = database.transaction(() => present(database))
    },
    { durability: 'relaxed' },
  )
  assert.deepEqual(await full, [0])
})

test('one that fails takes back what it did and nothing else, wherever it stands', async t => {
  for (const failing of [0, 1, 2]) {
    const database = await open(t)
    const all = [0, 1, 2].map(index =>
      database.transaction(async tx => {
        await insert(tx, index)
        if (index === failing) throw new Error('no')
      }),
    )
    const expected = [0, 1, 2].map(index => (index === failing ? 'rejected' : 'fulfilled'))
    assert.deepEqual(await statuses(all), expected)
    assert.deepEqual(
      await present(database),
      [0, 1, 2].filter(index => index !== failing),
    )
  }
})

test('a transaction that fails because of another in the same commit is notified when the other’s changes can be read', async t => {
  const database = await open(t)
  const all = [1, 1].map(a =>
    database
      .transaction(tx => insert(tx, a))
      .catch(async (error: unknown) => {
        assert.ok(error instanceof UniqueViolation)
        return await present(database)
      }),
  )
  assert.deepEqual((await Promise.all(all))[1], [1])
})

test('when the engine rolls back everything, all transactions of the commit fail, and the next ones continue', async t => {
  const database = await open(t)
  await database.run(sql`CREATE TRIGGER full BEFORE INSERT ON t WHEN new.a = 13
    BEGIN SELECT RAISE(ROLLBACK, 'the disk is full'); END`)
  const all = [1, 13, 2].map(a => database.transaction(tx => insert(tx, a)))
  assert.deepEqual(await statuses(all), ['rejected', 'rejected', 'fulfilled'])
  for (const one of all.slice(0, 2)) await assert.rejects(one, { message: 'the disk is full' })
  assert.deepEqual(await present(database), [2])
})

test('work that passes over an error by which the engine took everything back has failed, and nothing of it is there', async t => {
  for (const order of [
    [13, 1, 2],
    [1, 13, 2],
    [1, 2, 13],
  ]) {
    const database = await open(t)
    await database.run(sql`CREATE TRIGGER full BEFORE INSERT ON t WHEN new.a = 13
      BEGIN SELECT RAISE(ROLLBACK, 'the disk is full'); END`)
    const all = order.map(a => database.transaction(tx => insert(tx, a).catch(() => undefined)))
    const failing = all[order.indexOf(13)] ?? assert.fail('the failing one is not there')
    await assert.rejects(failing, { message: 'the engine has ended the transaction' })
    const done = (await statuses(all)).map((status, index) => (status === 'fulfilled' ? order[index] : undefined))
    assert.deepEqual(
      await present(database),
      done.filter(a => a !== undefined),
      String(order),
    )
    assert.ok(!done.includes(13), String(order))
  }
})

test('when the commit fails, no transaction is reported as committed, and none is', async t => {
  const database = await open(t)
  await database.run(sql`CREATE TABLE u (a INTEGER REFERENCES t DEFERRABLE INITIALLY DEFERRED)`)
  const all = [
    database.transaction(tx => insert(tx, 1)),
    database.transaction(tx => tx.run(sql`INSERT INTO u VALUES (7)`)),
  ]
  assert.deepEqual(await statuses(all), ['rejected', 'rejected'])
  assert.deepEqual(await present(database), [])
  await database.transaction(tx => insert(tx, 3))
  assert.deepEqual(await present(database), [3])
})

test('however transactions succeed, fail and come in between one another, what is there is what was confirmed', async t => {
  const database = await open(t)
  const options = fc.constantFrom<TransactionOptions>({}, {}, { durability: 'relaxed' }, { ownCommit: true })
  const one = fc.record({ options, fails: fc.boolean(), pauses: fc.nat(3), doubles: fc.nat(9) })
  let next = 100
  await fc.assert(
    fc.asyncProperty(fc.array(one, { maxLength: 60 }), async plan => {
      const before = await present(database)
      const confirmed: number[] = []
      const all = plan.map(async ({ options, fails, pauses, doubles }) => {
        const a = next++
        for (let n = 0; n < doubles; n++) await Promise.resolve()
        await database.transaction(async tx => {
          await insert(tx, a)
          for (let n = 0; n < pauses; n++) await new Promise(resolve => setImmediate(resolve))
          if (fails) throw new Error('no')
        }, options)
        confirmed.push(a)
      })
      assert.deepEqual(
        await statuses(all),
        plan.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
      )
      assert.deepEqual(
        await present(database),
        [...before, ...confirmed].sort((x, y) => x - y),
      )
    }),
    { numRuns: 50 },
  )
})
