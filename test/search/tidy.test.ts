import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEntry } from '../../src/model/entry.ts'
import { deleteEntriesOf, deleteEntry, insertEntry } from '../support/entries.ts'
import { literal } from '../../src/graph/graph.ts'
import { tidyIndex } from '../../src/search/index-records.ts'
import { sql } from '../../src/stores/sql.ts'
import { newDatabase } from '../support/store.ts'

test('removed entries are not found at once, and leave nothing in the index after the next tidying (W3.10.5)', async t => {
  const database = await newDatabase(t)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  const metadata = { 'x:r': { 'http://purl.org/dc/terms/title': [literal('numbat')] } }
  const make = (id: string) => newEntry({ context: '3', id, by: undefined, now: 1, metadata, acl: { mread: ['x:p'] } })
  const rows = async (): Promise<number[]> => {
    const row = await database.get<Record<string, number>>(sql`SELECT
      (SELECT count(*) FROM search_entries) AS entries, (SELECT count(*) FROM search_strings) AS strings,
      (SELECT count(*) FROM search_numbers) AS numbers, (SELECT count(*) FROM search_removed) AS removed,
      (SELECT count(*) FROM search_ngrams) AS ngrams, (SELECT count(*) FROM search_texts) AS texts`)
    return Object.values(row ?? {})
  }
  await database.transaction(tx => insertEntry(tx, make('1')))
  await database.transaction(tx => deleteEntry(tx, { context: '3', id: '1' }))
  for (let n = 0; n < 50; n++) await database.transaction(tx => insertEntry(tx, make(String(n))))
  await tidyIndex(database)
  assert.equal((await rows())[0], 50)
  await database.transaction(tx => deleteEntriesOf(tx, '3'))
  assert.equal((await rows())[0], 0)
  const stopping = new AbortController()
  const tidied = tidyIndex(database, stopping.signal)
  stopping.abort()
  await tidied
  assert.ok(((await rows())[3] ?? 0) > 0, 'it stops with the service, and the next tidying goes on')
  await tidyIndex(database)
  assert.deepEqual(await rows(), [0, 0, 0, 0, 0, 0])
})
