import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertRows, type Row, rowsOf } from '../../src/backup/rows.ts'
import type { Queries } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'

const table = { name: 'things', key: ['id'] }

async function* of(rows: readonly Row[]): AsyncGenerator<Row> {
  yield* rows
}

test('rows are inserted a hundred with each statement, fewer where they are large, and all arrive', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await database.run(sql`CREATE TABLE things (id INTEGER PRIMARY KEY, note TEXT)`)
  const counts: number[] = []
  const counting: Queries = {
    engine: 'sqlite',
    all: statement => database.all(statement),
    get: statement => database.get(statement),
    run: async statement => {
      const count = await database.run(statement)
      counts.push(count)
      return count
    },
  }
  const small = Array.from({ length: 250 }, (_, id) => ({ id, note: id % 2 === 0 ? null : `Note ${id}` }))
  const large = [250, 251, 252].map(id => ({ id, note: 'x'.repeat(600_000) }))
  const rows: Row[] = [...small, ...large]

  await insertRows(counting, table, of([]))
  await insertRows(counting, table, of(rows))

  assert.deepEqual(counts, [100, 100, 52, 1])
  const found: Row[] = []
  for await (const row of rowsOf(database, table)) found.push({ ...row })
  assert.deepEqual(found, rows)
})
