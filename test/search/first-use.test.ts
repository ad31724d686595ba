import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { schema } from '../../src/assembly/schema.ts'
import { guestFrom } from '../../src/accounts/caller.ts'
import { literal } from '../../src/graph/graph.ts'
import { newEntry } from '../../src/model/entry.ts'
import { parseQuery } from '../../src/search/query.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../../src/stores/sql.ts'
import { insertEntry } from '../support/entries.ts'
import { newSearch } from '../support/search-engine.ts'

const guest = guestFrom({ address: '', userAgent: '' })
const admin = { ...guest, user: { ...guest.user, id: '_admin' } }

const title = 'http://purl.org/dc/terms/title'

/** A store of 30 entries, and how many of them a query finds. */
async function open(t: TestContext) {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  const add = (id: string, predicate: string, text: string): Promise<void> =>
    database.transaction(async tx => {
      const metadata = { [`./3/resource/${id}`]: { [predicate]: [literal(text)] } }
      await insertEntry(tx, newEntry({ context: '3', id, by: undefined, now: 1, metadata }))
    })
  for (let n = 0; n < 30; n++) await add(String(n), title, `wombat ${n}`)
  const search = newSearch(database, { scanThreshold: 20 })
  const total = async (query: string): Promise<number> => {
    const facets = { fields: [], minCount: 1, limit: 10, missing: false, matches: undefined }
    const names = { toRelative: (iri: string) => iri, toAbsolute: (iri: string) => iri }
    const request = { ...names, filters: [], limit: 10, offset: 0, order: [], facets, query: parseQuery(query) }
    return (await search.find(admin, request)).total
  }
  return { database, add, total }
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

test('the number of a field is looked up once, and a field is found as soon as an entry has it (D34.19)', async t => {
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
