import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { schema } from '../../src/assembly/schema.ts'
import { type Graph, literal } from '../../src/graph/graph.ts'
import { type Entry, newEntry } from '../../src/model/entry.ts'
import { indexEntries, moveInIndex } from '../../src/search/index-records.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'

const DCT = 'http://purl.org/dc/terms/'
const predicates = [`${DCT}title`, `${DCT}description`, `${DCT}subject`, 'http://example.org/p', 'http://example.org/q']
const words = ['red', 'green fields', 'blue', 'Red', 'red and long '.repeat(20), 'red and long '.repeat(20) + 'end']
const ids = ['1', '2', '3']

const value = fc.oneof(
  fc.constantFrom(...words).map(text => literal(text)),
  fc.constantFrom('en', 'sv').map(lang => ({ ...literal('red'), lang })),
  fc.constantFrom('http://example.org/a', 'http://example.org/b').map(uri => ({ type: 'uri' as const, value: uri })),
)
const properties = fc.dictionary(fc.constantFrom(...predicates), fc.uniqueArray(value, { maxLength: 3, minLength: 1 }))
/** More strings than are compared at once, and long ones. */
const many = Array.from({ length: 2500 }, (_, number) => literal(`many ${number}`))
const long = Array.from({ length: 20 }, (_, number) => literal(`long ${number} `.padEnd(4000, '.')))
const metadata = fc.oneof(
  { weight: 12, arbitrary: properties },
  { weight: 1, arbitrary: properties.map(some => ({ ...some, 'http://example.org/many': many })) },
  { weight: 1, arbitrary: properties.map(some => ({ ...some, 'http://example.org/long': long })) },
)
const step = fc.record({
  written: fc.dictionary(fc.constantFrom(...ids), metadata, { minKeys: 1 }),
  // As an index is that an earlier version has written.
  isFromEarlier: fc.boolean(),
})

async function newIndex(): Promise<Database> {
  const database = await openSqliteDatabase(':memory:')
  await migrate(database, schema)
  await database.run(sql`CREATE VIRTUAL TABLE temp.ngram_words USING fts5vocab (main, search_ngrams, instance)`)
  await database.run(sql`CREATE VIRTUAL TABLE temp.text_words USING fts5vocab (main, search_texts, instance)`)
  return database
}

const entryOf = (now: number, id: string, properties: object, context = '7'): Entry =>
  newEntry({ context, id, by: '_admin', now, metadata: { [`./${context}/resource/${id}`]: properties } as Graph })

async function write(database: Database, now: number, written: Readonly<Record<string, object>>): Promise<void> {
  const entries = Object.entries(written).map(([id, properties]) => entryOf(now, id, properties))
  await database.transaction(tx => indexEntries(tx, entries))
}

/** All that a search can find, by the names of fields and the ids of entries. */
async function contentOf(database: Database): Promise<readonly object[]> {
  return await database.all<object>(sql`SELECT e.context, e.id, f.name, r.part, r.value FROM (
      SELECT doc, field, 's' AS part, value FROM search_strings UNION ALL
      SELECT doc, field, 'd', value FROM search_numbers UNION ALL
      SELECT doc % 4294967296, doc / 4294967296, 'n', term || ' ' || offset FROM ngram_words UNION ALL
      SELECT doc % 4294967296, doc / 4294967296, 't', term || ' ' || offset FROM text_words
    ) r JOIN search_entries e ON e.doc = r.doc JOIN search_fields f ON f.number = r.field ORDER BY 1, 2, 3, 4, 5`)
}

test('an index to which only differences are written is the one of entries that are written once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async steps => {
      const [changed, fresh] = [await newIndex(), await newIndex()]
      try {
        const last: Record<string, readonly [now: number, object]> = {}
        for (const [now, { written, isFromEarlier }] of steps.entries()) {
          if (isFromEarlier) await changed.run(sql`DELETE FROM search_digests`)
          await write(changed, now, written)
          for (const [id, properties] of Object.entries(written)) last[id] = [now, properties]
        }
        for (const [id, [now, properties]] of Object.entries(last)) await write(fresh, now, { [id]: properties })
        assert.deepEqual(await contentOf(changed), await contentOf(fresh))
      } finally {
        await changed.close()
        await fresh.close()
      }
    }),
    { numRuns: 60 },
  )
})

/** How many rows some work writes and deletes. */
async function rowsChanged(database: Database, work: () => Promise<void>): Promise<number> {
  const count = async (): Promise<number> =>
    (await database.get<{ count: number }>(sql`SELECT total_changes() AS count`))?.count ?? 0
  const before = await count()
  await work()
  return (await count()) - before
}

test('an entry that gets another address keeps the rows that are the same (D40.19)', async t => {
  const [changed, fresh] = [await newIndex(), await newIndex()]
  t.after(() => Promise.all([changed.close(), fresh.close()]))
  const properties = { [`${DCT}title`]: [literal('red')], 'http://example.org/many': many }
  const move = (): Promise<void> =>
    changed.transaction(async tx => {
      await moveInIndex(tx, { context: '7', id: '1' }, { context: '8', id: '5' })
      await indexEntries(tx, [entryOf(2, '5', properties, '8')])
    })
  await write(changed, 1, { 1: properties, 2: properties })
  const rows = await rowsChanged(changed, move)
  assert.ok(rows < 100, `${rows} rows were changed`)
  await write(fresh, 1, { 2: properties })
  await fresh.transaction(tx => indexEntries(tx, [entryOf(2, '5', properties, '8')]))
  assert.deepEqual(await contentOf(changed), await contentOf(fresh))
})

test('of many strings only those that differ are written (D40.19)', async t => {
  const database = await newIndex()
  t.after(() => database.close())
  const write = (now: number, strings: object[]): Promise<void> =>
    database.transaction(tx => indexEntries(tx, [entryOf(now, '1', { 'http://example.org/many': strings })]))
  await write(1, many)
  const one = await rowsChanged(database, () => write(2, [...many, literal('one more')]))
  assert.ok(one < 100, `${one} rows were changed`)
})

test('a text that stays is not written again', async t => {
  const database = await newIndex()
  t.after(() => database.close())
  const properties = { [`${DCT}title`]: [literal('red')], [`${DCT}description`]: [literal('green')] }
  await write(database, 1, { 1: properties })
  const cost = async (change: object, now: number): Promise<number> =>
    await rowsChanged(database, () => write(database, now, { 1: { ...properties, ...change } }))
  const [none, one] = [await cost({}, 2), await cost({ [`${DCT}title`]: [literal('blue')] }, 3)]
  const all = await cost({ [`${DCT}title`]: [literal('grey')], [`${DCT}description`]: [literal('grey')] }, 4)
  assert.ok(none < one && one < all, `${none}, ${one} and ${all} rows were changed`)
})

test('a document of many strings is deleted in several steps, and none of them is left (D35.10)', async t => {
  const [changed, fresh] = [await newIndex(), await newIndex()]
  t.after(() => Promise.all([changed.close(), fresh.close()]))
  const many = Array.from({ length: 12_000 }, (_, n) => ({ type: 'uri' as const, value: `http://example.org/${n}` }))
  const small = { 1: { [`${DCT}title`]: [literal('red')] }, 2: {} }
  await write(changed, 1, { 1: { 'http://example.org/p': many }, 2: {} })
  await write(changed, 2, small)
  await write(fresh, 2, small)
  assert.deepEqual(await contentOf(changed), await contentOf(fresh))
})
