import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteRows, type Queries } from '../../src/stores/database.ts'
import { name, type Sql, sql } from '../../src/stores/sql.ts'
import { newDatabase } from '../support/store.ts'

test('rows are deleted some at a time, and others stay', async t => {
  const database = await newDatabase(t)
  await database.run(sql`CREATE TABLE things (kind TEXT NOT NULL, number BIGINT NOT NULL)`)
  const insert = (kind: string, count: number) => sql`INSERT INTO things WITH RECURSIVE n (number) AS (
      SELECT 1 UNION ALL SELECT number + 1 FROM n WHERE number < ${count}
    ) SELECT ${kind}, number FROM n`
  for (const count of [1, 1000, 2500]) {
    await database.run(insert('gone', count))
    await database.run(insert('kept', 3))
    const statements: number[] = []
    const deleted = await database.transaction(async tx => {
      const counted: Queries = {
        engine: tx.engine,
        all: statement => tx.all(statement),
        get: statement => tx.get(statement),
        run: async (statement: Sql) => {
          const rows = await tx.run(statement)
          statements.push(rows)
          return rows
        },
      }
      return await deleteRows(counted, name('things'), sql`kind = 'gone'`)
    })
    assert.equal(deleted, count)
    if (database.engine === 'sqlite') assert.ok(Math.max(...statements) <= 1000)
    const left = await database.get<{ count: number }>(sql`SELECT count(*) AS count FROM things WHERE kind = 'kept'`)
    assert.equal(left?.count, 3)
    assert.equal(await database.get(sql`SELECT 1 AS one FROM things WHERE kind = 'gone'`), undefined)
    await database.run(sql`DELETE FROM things`)
  }
})
