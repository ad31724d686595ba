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

test('parts of the full-text tables are merged when nothing is written any more, and not again for a few changes (D35.9)', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  const make = (n: number) => {
    const metadata = { 'x:r': { 'http://purl.org/dc/terms/title': [literal(`numbat ${n}`)] } }
    return newEntry({ context: '3', id: String(n), by: undefined, now: 1, metadata })
  }
  const insert = (n: number): Promise<void> => database.transaction(tx => insertEntry(tx, make(n)))
  const parts = async (): Promise<number[]> => {
    const row = await database.get<Record<string, number>>(sql`SELECT
      (SELECT count(DISTINCT segid) FROM search_ngrams_idx) AS ngrams,
      (SELECT count(DISTINCT segid) FROM search_texts_idx) AS texts`)
    return Object.values(row ?? {})
  }
  const search = newSearch(database)
  const found = async (): Promise<number | undefined> => {
    const count = sql`SELECT count(*) AS count FROM search_ngrams WHERE search_ngrams MATCH '"numbat"'`
    return (await database.get<{ count: number }>(count))?.count
  }
  for (let n = 0; n < 135; n++) await insert(n)
  await database.transaction(tx => deleteEntry(tx, { context: '3', id: '7' }))
  const written = await parts()
  assert.ok(
    written.every(count => count >= 8),
    String(written),
  )

  await search.tidy()
  await insert(200)
  await search.tidy()
  const busy = await parts()
  assert.ok(
    busy.every(count => count > 1),
    `written since the call before: ${busy.join(', ')}`,
  )
  await search.tidy()
  assert.deepEqual(await parts(), [1, 1])
  assert.equal(await found(), 135)

  for (let n = 300; n < 312; n++) await insert(n)
  await search.tidy()
  await search.tidy()
  const few = await parts()
  assert.ok(
    few.every(count => count > 1),
    `few have changed: ${few.join(', ')}`,
  )
  for (let n = 400; n < 415; n++) await insert(n)
  await search.tidy()
  await search.tidy()
  assert.deepEqual(await parts(), [1, 1])
  assert.equal(await found(), 162)
})
