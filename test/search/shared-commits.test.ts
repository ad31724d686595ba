import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { findEntry } from '../../src/content/entry-records.ts'
import { type Entry, newEntry } from '../../src/model/entry.ts'
import { indexEntries, removeFromIndex } from '../../src/search/index-records.ts'
import { newSearch } from '../support/search-engine.ts'
import { literal } from '../../src/graph/graph.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/schema.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { changesOf } from '../support/entries.ts'

const contexts = ['3', '4']
const ids = ['1', '2']
/** More text than waits for the end of a commit. */
const LARGE = 'large '.repeat(3000)

const named = (context: string, id: string, title: string, now: number): Entry =>
  newEntry({
    context,
    id,
    by: '_admin',
    now,
    metadata: { [`./${context}/resource/${id}`]: { 'http://purl.org/dc/terms/title': [literal(title)] } },
  })

/** All rows of the index, with the address in place of the number of the document. */
async function indexOf(database: Database): Promise<unknown[]> {
  const rowsOf = (rows: ReturnType<typeof sql>): ReturnType<typeof sql> =>
    sql`SELECT e.context, e.id, e.modified, f.name, r.value FROM (${rows}) r
      LEFT JOIN search_entries e ON e.doc = r.doc LEFT JOIN search_fields f ON f.number = r.field ORDER BY 1, 2, 3, 4, 5`
  const found = []
  for (const rows of [
    sql`SELECT doc, field, value FROM search_strings`,
    sql`SELECT doc, field, value FROM search_numbers`,
    sql`SELECT rowid % 4294967296 AS doc, rowid / 4294967296 AS field, 'n' AS value FROM search_ngrams`,
    sql`SELECT rowid % 4294967296 AS doc, rowid / 4294967296 AS field, 't' AS value FROM search_texts`,
    sql`SELECT doc, 0 AS field, audience AS value FROM search_entries`,
  ])
    found.push((await database.all<object>(rowsOf(rows))).map(row => ({ ...row })))
  for (const word of ['red', 'green', 'blue', 'large']) {
    const match = sql`SELECT rowid % 4294967296 AS doc, 0 AS field, 'm' AS value FROM search_texts WHERE search_texts MATCH ${word}`
    found.push((await database.all<object>(rowsOf(match))).map(row => ({ ...row })))
  }
  return found
}

test('however transactions that share a commit change, delete and fail, the index is that of the entries', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  for (const context of contexts) await database.run(sql`INSERT INTO contexts (id) VALUES (${context})`)
  const changes = changesOf(database)
  const step = fc.record({
    context: fc.constantFrom(...contexts),
    id: fc.constantFrom(...ids),
    title: fc.constantFrom('red', 'green', 'blue', LARGE),
    does: fc.constantFrom('write', 'write', 'write', 'delete', 'empty'),
  })
  const plan = fc.array(fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 3 }), fails: fc.boolean() }), {
    maxLength: 12,
  })
  let now = 0
  await fc.assert(
    fc.asyncProperty(plan, async transactions => {
      const all = transactions.map(({ steps, fails }) =>
        changes.run(undefined, async writer => {
          for (const { context, id, title, does } of steps) {
            const present = await findEntry(writer.tx, { context, id })
            const entry = named(context, id, title, ++now)
            if (does === 'empty') await writer.deleteAllOf(context)
            else if (does === 'delete') await writer.delete(entry)
            else if (present) await writer.update(present, { ...present, metadata: entry.metadata }, '_admin')
            else await writer.insert(entry)
          }
          if (fails) throw new Error('planned')
        }),
      )
      for (const [index, end] of (await Promise.allSettled(all)).entries()) {
        assert.equal(end.status, transactions[index]?.fails ? 'rejected' : 'fulfilled')
      }
      await newSearch(database).tidy()
      const found = await indexOf(database)
      await database.transaction(async tx => {
        for (const context of contexts) {
          for (const id of ids) {
            await removeFromIndex(tx, { context, id })
            const entry = await findEntry(tx, { context, id })
            if (entry) await indexEntries(tx, [entry])
          }
        }
      })
      assert.deepEqual(found, await indexOf(database))
    }),
    { numRuns: 60 },
  )
})
