import assert from 'node:assert/strict'
import { type TestContext, describe, test } from 'node:test'
import * as fc from 'fast-check'
import { type Database, type Queries, UniqueViolation } from '../../src/stores/database.ts'
import { type SqlValue, sql } from '../../src/stores/sql.ts'
import { turns } from '../support/waiting.ts'

interface Thing {
  readonly id: number
  readonly name: string | null
  readonly amount: number | null
}

/** What every engine behind `Database` keeps. `open` gives an empty database. */
export function databaseSuite(name: string, open: (t: TestContext) => Promise<Database>): void {
  const withThings = async (t: TestContext): Promise<Database> => {
    const database = await open(t)
    t.after(() => database.close())
    await database.run(sql`CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT UNIQUE, amount BIGINT)`)
    return database
  }
  const all = (queries: Queries): Promise<Thing[]> => queries.all<Thing>(sql`SELECT * FROM things ORDER BY id`)
  const insert = (queries: Queries, id: number, name: SqlValue = null, amount: SqlValue = null): Promise<number> =>
    queries.run(sql`INSERT INTO things (id, name, amount) VALUES (${id}, ${name}, ${amount})`)

  describe(name, () => {
    test('columns come back as text, numbers and null', async t => {
      const database = await withThings(t)
      await insert(database, 1, 'one', 2 ** 40)
      await insert(database, 2)
      const [first, second] = await all(database)
      assert.deepEqual({ ...first }, { id: 1, name: 'one', amount: 2 ** 40 })
      assert.deepEqual({ ...second }, { id: 2, name: null, amount: null })
    })

    test('a snapshot sees the store as it was when it began, while others write', async t => {
      const database = await withThings(t)
      await insert(database, 1)
      const seen = await database.snapshot(async at => {
        // Not awaited where there is but one connection: there, writers wait.
        const writing = insert(database, 2)
        await (database.engine === 'postgres' ? writing : Promise.race([writing, turns()]))
        const ids = (await all(at)).map(({ id }) => id)
        assert.equal((await at.get<{ many: number }>(sql`SELECT count(*) AS many FROM things`))?.many, 1)
        await assert.rejects(at.run(sql`DELETE FROM things`))
        return { ids, writing }
      })
      assert.deepEqual(seen.ids, [1])
      await seen.writing
      assert.equal((await all(database)).length, 2)
    })

    test('get gives the first row, or undefined', async t => {
      const database = await withThings(t)
      assert.equal(await database.get(sql`SELECT * FROM things`), undefined)
      await insert(database, 1)
      await insert(database, 2)
      const row = await database.get<Thing>(sql`SELECT id FROM things ORDER BY id DESC`)
      assert.equal(row?.id, 2)
    })

    test('run counts the rows it inserted, changed or deleted', async t => {
      const database = await withThings(t)
      assert.equal(await insert(database, 1), 1)
      await insert(database, 2)
      assert.equal(await database.run(sql`UPDATE things SET amount = ${5}`), 2)
      assert.equal(await database.run(sql`CREATE TABLE others (id BIGINT PRIMARY KEY)`), 0)
      assert.equal(await database.run(sql`UPDATE things SET amount = ${5} WHERE id = ${7}`), 0)
      assert.equal(await database.run(sql`DELETE FROM things`), 2)
    })

    test('whole numbers stay whole up to 2^53-1, in columns and as text', async t => {
      const database = await withThings(t)
      const most = Number.MAX_SAFE_INTEGER
      await insert(database, 1, null, most)
      await database.run(sql`UPDATE things SET amount = amount - ${1}`)
      assert.equal((await all(database))[0]?.amount, most - 1)
      const row = await database.get<{ text: string }>(sql`SELECT CAST(amount + ${1} AS TEXT) AS text FROM things`)
      assert.equal(row?.text, String(most))
    })

    test('a boolean is kept as 0 or 1', async t => {
      const database = await withThings(t)
      await insert(database, 1, null, true)
      await insert(database, 2, null, false)
      assert.deepEqual(
        (await all(database)).map(({ amount }) => amount),
        [1, 0],
      )
    })

    test('any text without NUL and lone surrogates comes back unchanged and is never read as SQL', async t => {
      const database = await withThings(t)
      await insert(database, 1, "'); DROP TABLE things; --")
      const text = fc.string({ unit: 'binary', maxLength: 50 }).filter(value => !value.includes('\0'))
      await fc.assert(
        fc.asyncProperty(text, async value => {
          await database.run(sql`UPDATE things SET name = ${value}`)
          assert.equal((await database.get<Thing>(sql`SELECT name FROM things WHERE name = ${value}`))?.name, value)
        }),
      )
    })

    test('a value that would be kept as something else is refused before it reaches the engine', async t => {
      const database = await withThings(t)
      const refused: unknown[] = ['a\0b', 'a\ud800', '\udc00\ud800', Number.NaN, Number.POSITIVE_INFINITY, 2n ** 63n]
      refused.push(-(2n ** 63n) - 1n, undefined, {}, [1], new Date(0), new Map(), () => {}, Symbol('s'), /x/)
      refused.push(new ArrayBuffer(1))
      for (const value of refused) {
        const statement = sql`INSERT INTO things (id, name) VALUES (${1}, ${value as SqlValue})`
        await assert.rejects(database.run(statement), TypeError)
        await assert.rejects(
          database.transaction(tx => tx.run(statement)),
          TypeError,
        )
      }
      assert.deepEqual(await all(database), [])
    })

    test('conditions are composed of parts that keep their values', async t => {
      const database = await withThings(t)
      for (const id of [1, 2, 3, 4]) await insert(database, id, `name ${id}`, id * 10)
      const condition = sql`amount > ${10} AND name <> ${'name 3'}`
      const rows = await database.all<Thing>(sql`SELECT id FROM things WHERE ${condition} AND id < ${4} ORDER BY id`)
      assert.deepEqual(
        rows.map(({ id }) => id),
        [2],
      )
    })

    test('a statement that writes and returns is asked with get and all', async t => {
      const database = await withThings(t)
      const row = await database.get<Thing>(sql`INSERT INTO things (id, amount) VALUES (${1}, ${2}) RETURNING amount`)
      assert.equal(row?.amount, 2)
      const rows = await database.all<Thing>(sql`UPDATE things SET amount = amount + ${1} RETURNING amount`)
      assert.equal(rows[0]?.amount, 3)
      assert.equal((await all(database))[0]?.amount, 3)
    })

    test('a transaction commits when its work resolves and gives the result', async t => {
      const database = await withThings(t)
      const result = await database.transaction(async tx => {
        await insert(tx, 1)
        await insert(tx, 2)
        return (await all(tx)).length
      })
      assert.equal(result, 2)
      assert.equal((await all(database)).length, 2)
    })

    test('a transaction rolls back when its work rejects, and passes the rejection on', async t => {
      const database = await withThings(t)
      const reason = new Error('no')
      const refused = database.transaction(async tx => {
        await insert(tx, 1)
        throw reason
      })
      await assert.rejects(refused, error => error === reason)
      assert.deepEqual(await all(database), [])
      assert.equal(await insert(database, 1), 1)
    })

    test('a read outside never sees what a transaction has not committed', async t => {
      const database = await withThings(t)
      let reading: Promise<Thing[]> = Promise.resolve([])
      const refused = database.transaction(async tx => {
        await insert(tx, 1)
        reading = all(database)
        await Promise.race([reading, turns()])
        throw new Error('no')
      })
      await assert.rejects(refused)
      assert.deepEqual(await reading, [])
    })

    test('64 parallel conditional updates reserve exactly what there is', async t => {
      const database = await withThings(t)
      await insert(database, 1, null, 0)
      const reserve = (queries: Queries): Promise<number> =>
        queries.run(sql`UPDATE things SET amount = amount + ${17} WHERE id = ${1} AND amount + ${17} <= ${500}`)
      const attempts = Array.from({ length: 64 }, (_, index) =>
        index % 2 ? reserve(database) : database.transaction(reserve),
      )
      const granted = (await Promise.all(attempts)).reduce((sum, count) => sum + count, 0)
      assert.equal(granted, 29)
      assert.equal((await all(database))[0]?.amount, 29 * 17)
    })

    test('64 parallel transactions that read and then write lose no update', async t => {
      const database = await withThings(t)
      await insert(database, 1, null, 0)
      const increase = (): Promise<number> =>
        database.transaction(async tx => {
          const row = await tx.get<Thing>(sql`SELECT amount FROM things WHERE id = ${1}`)
          await new Promise(resolve => setImmediate(resolve))
          return await tx.run(sql`UPDATE things SET amount = ${(row?.amount ?? 0) + 1} WHERE id = ${1}`)
        })
      await Promise.all(Array.from({ length: 64 }, increase))
      assert.equal((await all(database))[0]?.amount, 64)
    })

    test('a second row of the same key is a UniqueViolation that keeps its cause', async t => {
      const database = await withThings(t)
      await insert(database, 1, 'one')
      const breach = (error: unknown): boolean => error instanceof UniqueViolation && error.cause instanceof Error
      await assert.rejects(insert(database, 1, 'two'), breach)
      await assert.rejects(insert(database, 2, 'one'), breach)
      await assert.rejects(
        database.transaction(tx => insert(tx, 2, 'one')),
        breach,
      )
      assert.equal((await all(database)).length, 1)
      await database.run(sql`CREATE TABLE required (name TEXT NOT NULL)`)
      await assert.rejects(
        database.run(sql`INSERT INTO required (name) VALUES (${null})`),
        (error: unknown) => !(error instanceof UniqueViolation),
      )
    })

    test('a statement after the end of its transaction is refused', async t => {
      const database = await withThings(t)
      const kept: Queries[] = []
      await database.transaction(async tx => void kept.push(tx))
      await assert.rejects(database.transaction(tx => Promise.reject(new Error(String(kept.push(tx))))))
      assert.equal(kept.length, 2)
      for (const tx of kept) {
        await assert.rejects(insert(tx, 1))
        await assert.rejects(all(tx))
        await assert.rejects(tx.get(sql`SELECT * FROM things`))
      }
      assert.deepEqual(await all(database), [])
    })

    test('a relaxed transaction is visible and atomic like any other', async t => {
      const database = await withThings(t)
      await database.transaction(tx => insert(tx, 1), { durability: 'relaxed' })
      const refused = database.transaction(
        async tx => {
          await insert(tx, 2)
          throw new Error('no')
        },
        { durability: 'relaxed' },
      )
      await assert.rejects(refused)
      await database.transaction(tx => insert(tx, 3), { durability: 'full' })
      assert.deepEqual(
        (await all(database)).map(({ id }) => id),
        [1, 3],
      )
    })

    test('close waits for what has begun, refuses the rest and may be called again', async t => {
      const database = await withThings(t)
      let go = (): void => {}
      const refused = new Promise<void>(resolve => void (go = resolve))
      const running = database.transaction(async tx => {
        await refused
        return await insert(tx, 1)
      })
      const closing = database.close()
      await assert.rejects(insert(database, 2))
      await assert.rejects(all(database))
      await assert.rejects(database.transaction(async () => {}))
      go()
      assert.equal(await running, 1)
      await closing
      await database.close()
    })
  })
}
