import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { schema } from '../../src/assembly/schema.ts'
import { guestFrom } from '../../src/accounts/caller.ts'
import { literal } from '../../src/graph/graph.ts'
import { newEntry } from '../../src/model/entry.ts'
import { parseQuery } from '../../src/search/query.ts'
import type { Found } from '../../src/search/search.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openSqliteDatabase, openSqliteReader } from '../../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../../src/stores/sql.ts'
import { deleteEntriesOf, deleteEntry, insertEntry, updateEntry } from '../support/entries.ts'
import { newSearch } from '../support/search-engine.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const guest = guestFrom({ address: '', userAgent: '' })
const admin = { ...guest, user: { ...guest.user, id: '_admin' } }

const title = 'http://purl.org/dc/terms/title'

/**
 * A store of 30 entries, and how many of them a query finds.
 * @param read searches through another connection, which only reads
 */
async function open(t: TestContext, read?: (path: string) => Promise<Database>) {
  const path = read ? join(await temporaryFolder(), 'store.sqlite') : ':memory:'
  const database = await openSqliteDatabase(path)
  t.after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('_contexts'), ('3'), ('other')`)
  const context = newEntry({ context: '_contexts', id: '3', graphType: 'Context', by: undefined, now: 1 })
  await database.transaction(tx => insertEntry(tx, context))
  const add = (id: string, predicate: string, text: string): Promise<void> =>
    database.transaction(async tx => {
      const metadata = { [`./3/resource/${id}`]: { [predicate]: [literal(text)] } }
      await insertEntry(tx, newEntry({ context: '3', id, by: undefined, now: 1, metadata }))
    })
  for (let n = 0; n < 30; n++) await add(String(n), title, `wombat ${n}`)
  const reader = await read?.(path)
  t.after(() => reader?.close())
  const search = reader
    ? newSearch(reader, { scanThreshold: 20, revision: () => reader.revision })
    : newSearch(database, { scanThreshold: 20 })
  const find = async (query: string): Promise<Found> => {
    const facets = { fields: [], minCount: 1, limit: 10, missing: false, matches: undefined }
    const names = { toRelative: (iri: string) => iri, toAbsolute: (iri: string) => iri }
    const request = { ...names, filters: [], limit: 10, offset: 0, order: [], facets, query: parseQuery(query) }
    return await search.find(admin, request)
  }
  const total = async (query: string): Promise<number> => (await find(query)).total
  const ids = async (query: string): Promise<string[]> => (await find(query)).hits.map(({ entry }) => entry.id)
  return { database: reader ?? database, add, total, ids }
}

/** How many statements with this text have run since the last call. */
function counting(t: TestContext, database: Database): (text: string) => number {
  const get = t.mock.method(database, 'get')
  const all = t.mock.method(database, 'all')
  return text => {
    const calls = [...get.mock.calls, ...all.mock.calls].filter(call =>
      call.arguments[0].parts.join('?').includes(text),
    )
    get.mock.resetCalls()
    all.mock.resetCalls()
    return calls.length
  }
}

test('the full-text index is looked into once for a word of few entries, also beside a word of many (D34.17)', async t => {
  const { database, total } = await open(t)
  const get = t.mock.method(database, 'get')
  for (const [query, hits, looked] of [
    ['title:"wombat 2"', 11, 1],
    ['title:numbat', 0, 1],
    ['title:"wombat 1"', 11, 1],
    // The first rows of many are not all.
    ['title:wombat', 30, 2],
    ['title:wombat AND title:"wombat 29"', 1, 1],
  ] as const) {
    get.mock.resetCalls()
    assert.equal(await total(query), hits, query)
    const looks = get.mock.calls.filter(call => call.arguments[0].parts.join('?').includes('MATCH'))
    assert.equal(looks.length, looked, query)
  }
})

test('the number of a field is looked up once, and a field is found as soon as an entry has it', async t => {
  const { database, add, total } = await open(t)
  const all = t.mock.method(database, 'all')
  const lookUps = (): number =>
    all.mock.calls.filter(call => call.arguments[0].parts.join('?').includes('FROM search_fields')).length
  assert.equal(await total('title:wombat'), 30)
  const first = lookUps()
  assert.ok(first > 0)
  assert.equal(await total('title:numbat'), 0)
  assert.equal(lookUps(), first)
  assert.equal(await total('description:numbat'), 0)
  await add('new', 'http://purl.org/dc/terms/description', 'A numbat')
  assert.equal(await total('description:numbat'), 1)
})

const PAGE = 'FROM search_entries\n      WHERE doc IN'

test('the rows of a page are read once, and again when an entry has changed (D34.22)', async t => {
  const { database, add, ids } = await open(t)
  const statements = counting(t, database)
  const query = 'title:"wombat 29" OR title:"wombat 28"'
  assert.deepEqual(await ids(query), ['29', '28'])
  assert.equal(statements(PAGE), 1)
  assert.deepEqual(await ids(`${query} OR title:numbat`), ['29', '28'])
  assert.equal(statements(PAGE), 0)
  const metadata = { './3/resource/28': { [title]: [literal('wombat 28')] } }
  const later = newEntry({ context: '3', id: '28', by: undefined, now: 2, metadata })
  await database.transaction(tx => updateEntry(tx, later))
  assert.deepEqual(await ids(query), ['28', '29'])
  assert.equal(statements(PAGE), 1)
  await database.transaction(tx => deleteEntry(tx, { context: '3', id: '29' }))
  assert.deepEqual(await ids(query), ['28'])
  await add('new', title, 'wombat 29')
  assert.deepEqual(await ids(query), ['28', 'new'])
  await database.transaction(tx => deleteEntriesOf(tx, '3'))
  assert.deepEqual(await ids(query), [])
})

test('who may read is listed when that costs no more than the tests so far, and tested again after a change of it (D34.22)', async t => {
  const { database, total } = await open(t)
  const statements = counting(t, database)
  const LISTED = 'FROM search_entries e WHERE TRUE'
  const search = async (): Promise<number> => {
    assert.equal(await total('title:"wombat 2"'), 11)
    return statements(LISTED)
  }
  // 11 and 22 of 31 entries have been tested, then 33.
  assert.deepEqual([await search(), await search(), await search(), await search()], [0, 0, 1, 0])
  await database.transaction(tx => deleteEntriesOf(tx, 'other'))
  assert.equal(await search(), 0)
  await database.transaction(async tx => {
    await insertEntry(tx, newEntry({ context: 'other', id: '1', by: undefined, now: 1 }))
    await deleteEntriesOf(tx, 'other')
  })
  assert.deepEqual([await search(), await search(), await search()], [0, 0, 1])
})

test('a reader looks which changes the index has when something was committed, also during the search (D34.22)', async t => {
  const { database, add, total } = await open(t, openSqliteReader)
  const statements = counting(t, database)
  const LOOK = 'max(generation)'
  assert.equal(await total('title:wombat'), 30)
  assert.equal(statements(LOOK), 1)
  assert.equal(await total('title:numbat'), 0)
  assert.equal(statements(LOOK), 0)
  await add('new', title, 'A numbat')
  assert.equal(await total('title:numbat'), 1)
  assert.equal(statements(LOOK), 1)
  const get = database.get.bind(database)
  const adding = async (...[statement]: Parameters<Database['get']>): Promise<unknown> => {
    const row = await get(statement)
    if (statement.parts.join('').includes('MATCH')) {
      database.get = get
      await add('other', title, 'Another numbat')
    }
    return row
  }
  database.get = adding as Database['get']
  assert.equal(await total('title:another'), 1)
})
