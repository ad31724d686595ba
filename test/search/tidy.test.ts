import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEntry } from '../../src/model/entry.ts'
import { deleteEntriesOf, deleteEntry, insertEntry } from '../support/entries.ts'
import { literal } from '../../src/graph/graph.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/schema.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../../src/stores/sql.ts'
import { newSearch } from '../support/search-engine.ts'

test('deleted entries leave nothing in the index, those of a deleted context nothing after the next tidying (W3.10.5)', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  const metadata = { 'x:r': { 'http://purl.org/dc/terms/title': [literal('numbat')] } }
  const make = (id: string) => newEntry({ context: '3', id, by: undefined, now: 1, metadata, acl: { mread: ['x:p'] } })
  const rows = async (): Promise<number[]> => {
    const row = await database.get<Record<string, number>>(sql`SELECT
      (SELECT count(*) FROM search_entries) AS entries, (SELECT count(*) FROM search_strings) AS strings,
      (SELECT count(*) FROM search_numbers) AS numbers, (SELECT count(*) FROM search_discarded) AS discarded,
      (SELECT count(*) FROM search_ngrams WHERE search_ngrams MATCH '"numbat"') AS ngrams,
      (SELECT count(*) FROM search_texts WHERE search_texts MATCH '"numbat"') AS texts`)
    return Object.values(row ?? {})
  }
  await database.transaction(tx => insertEntry(tx, make('1')))
  assert.ok((await rows()).filter(count => count > 0).length === 5)
  await database.transaction(tx => deleteEntry(tx, { context: '3', id: '1' }))
  assert.deepEqual(await rows(), [0, 0, 0, 0, 0, 0])

  for (let n = 0; n < 150; n++) await database.transaction(tx => insertEntry(tx, make(String(n))))
  await database.transaction(tx => deleteEntriesOf(tx, '3'))
  assert.deepEqual(
    (await rows()).filter((_, column) => column === 0 || column === 3),
    [0, 150],
  )
  await newSearch(database).tidy()
  assert.deepEqual(await rows(), [0, 0, 0, 0, 0, 0])
})
