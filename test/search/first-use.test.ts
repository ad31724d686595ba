import assert from 'node:assert/strict'
import { test } from 'node:test'
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

test('the full-text index is looked into once for a word of few entries, also beside a word of many (D34.17)', async t => {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  await database.transaction(async tx => {
    for (let n = 0; n < 30; n++) {
      const metadata = { [`./3/resource/${n}`]: { 'http://purl.org/dc/terms/title': [literal(`wombat ${n}`)] } }
      await insertEntry(tx, newEntry({ context: '3', id: String(n), by: undefined, now: 1, metadata }))
    }
  })
  const get = t.mock.method(database, 'get')
  const search = newSearch(database, { scanThreshold: 20 })
  const total = async (query: string): Promise<number> => {
    const facets = { fields: [], minCount: 1, limit: 10, missing: false, matches: undefined }
    const names = { toRelative: (iri: string) => iri, toAbsolute: (iri: string) => iri }
    const request = { ...names, filters: [], limit: 10, offset: 0, order: [], facets, query: parseQuery(query) }
    return (await search.find(admin, request)).total
  }
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
