import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newEntry } from '../../src/model/entry.ts'
import { kindOfField } from '../../src/search/fields.ts'
import {
  type IndexFields,
  indexFieldsOf,
  predicateHash,
  readDate,
  readInteger,
  READERS,
} from '../../src/search/index-fields.ts'
import { literal, uri } from '../../src/graph/graph.ts'
import { schema } from '../../src/assembly/stores.ts'
import { realSystem } from '../../src/base/system.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { sql } from '../../src/stores/sql.ts'
import { insertEntry } from '../support/entries.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'

const R = './3/resource/1'
const DCT = 'http://purl.org/dc/terms/'
const FOAF = 'http://xmlns.com/foaf/0.1/'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const place = { context: '3', id: '1', by: '7', now: 1000 }
const strings = ({ strings }: IndexFields, field: string): string[] =>
  strings.filter(([name]) => name === field).map(([, value]) => value)

test('the names of predicates are hashed as clients hash them (W3.10.4)', () => {
  const known = {
    [`${DCT}title`]: '3f2ae919',
    [`${FOAF}name`]: '893797ba',
    'http://www.w3.org/1999/02/22-rdf-syntax-ns#type': 'c74e2b73',
    'http://www.w3.org/ns/dcat#keyword': 'a6424133',
    [`${DCT}subject`]: '256bd150',
  }
  for (const [predicate, hash] of Object.entries(known)) assert.equal(predicateHash(predicate), hash)
})

test('every field that is filled is one that can be searched (W3.10.4)', async () => {
  const entry = newEntry({
    ...place,
    acl: { admin: ['a'], mread: ['b'], mwrite: ['c'], rread: ['d'], rwrite: ['e'] },
    graphType: 'List',
    resourceType: 'NamedResource',
    statements: {
      './3/entry/1': { 'http://entrystore.org/terms/status': [uri('http://entrystore.org/terms/Pending')] },
      './3/metadata/1': { 'http://entrystore.org/terms/profile': [uri('x:profile')] },
      [R]: { 'http://entryscape.com/terms/projectType': [uri('x:project')] },
    },
    metadata: {
      [R]: {
        [`${DCT}title`]: [{ ...literal('T'), lang: 'en-GB' }],
        [`${DCT}description`]: [literal('D')],
        [`${DCT}subject`]: [literal('tag'), uri('x:tag')],
        [`${DCT}language`]: [literal('sv')],
        [`${FOAF}mbox`]: [uri('mailto:ann@example.org')],
        [`${DCT}extent`]: [literal('5', `${XSD}integer`), literal('6', `${XSD}integer`)],
        [`${DCT}issued`]: [literal('2020', `${XSD}gYear`)],
      },
    },
  })
  const index = indexFieldsOf(entry, { userName: 'ann', contextName: 'Home' })
  const groups = { string: index.strings, ngram: index.ngrams, text: index.texts, number: index.numbers }
  for (const [group, pairs] of Object.entries(groups)) {
    for (const [field] of pairs) {
      // No query names these.
      if (field === READERS || field.endsWith('~')) continue
      const kind = kindOfField(field) ?? 'none'
      const wanted = group === 'string' ? ['string', 'uri'] : group === 'number' ? ['integer', 'date'] : [group]
      assert.ok(wanted.includes(kind), `${field} is ${kind}, filled as ${group}`)
    }
  }
  assert.deepEqual(strings(index, 'email'), ['ann@example.org'])
  assert.deepEqual(strings(index, 'acl.metadata.r'), ['b'])
  assert.deepEqual(strings(index, 'acl.resource.rw'), ['e'])
  assert.deepEqual(strings(index, 'rdfType'), [
    'http://entrystore.org/terms/List',
    'http://entrystore.org/terms/NamedResource',
  ])
  assert.deepEqual([strings(index, 'status'), strings(index, 'profile'), strings(index, 'projectType')].flat(), [
    'http://entrystore.org/terms/Pending',
    'x:profile',
    'x:project',
  ])
  assert.equal(index.ngrams.get('title.en-gb'), 'T')
  assert.equal(index.texts.get('all'), 'T\nD\ntag')
  const numbers = new Map(index.numbers)
  assert.equal(numbers.get(`metadata.predicate.integer.${predicateHash(`${DCT}extent`)}`), 5, 'the first of several')
  assert.equal(numbers.get(`metadata.predicate.date.${predicateHash(`${DCT}issued`)}`), Date.UTC(2020))
})

test('first and last name together are a title (W3.10.4)', async () => {
  const metadata = { [R]: { [`${FOAF}firstName`]: [literal('Ann')], [`${FOAF}lastName`]: [literal('Lee')] } }
  assert.equal(indexFieldsOf(newEntry({ ...place, metadata })).ngrams.get('title'), 'Ann Lee')
  const half = { [R]: { [`${FOAF}firstName`]: [literal('Ann')] } }
  assert.equal(indexFieldsOf(newEntry({ ...place, metadata: half })).ngrams.get('title'), undefined)
})

test('metadata are the local ones, for a Reference the copy, for a LinkReference both (W3.10.4)', async () => {
  const graph = (text: string) => ({ 'x:r': { [`${DCT}title`]: [literal(text)] } })
  const given = { ...place, externalResource: 'x:r', metadata: graph('near'), cachedExternalMetadata: graph('far') }
  const titleOf = async (entryType: 'Link' | 'Reference' | 'LinkReference') =>
    indexFieldsOf(newEntry({ ...given, entryType })).ngrams.get('title')
  assert.equal(await titleOf('Link'), 'near')
  assert.equal(await titleOf('Reference'), 'far')
  assert.equal(await titleOf('LinkReference'), 'near\nfar')
})

test('values that cannot be searched are left out, and long values are cut (W3.10.4)', async () => {
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`x:p${n}`, [literal('v')]]))
  assert.equal(indexFieldsOf(newEntry({ ...place, metadata: { [R]: many } })).ngrams.size, 1001, 'and `name`')
  const long = { [R]: { [`${DCT}title`]: [literal(`a\0${'b'.repeat(100_000)}`)] } }
  const index = indexFieldsOf(newEntry({ ...place, metadata: long }))
  assert.equal(index.ngrams.get('title')?.length, 32_768)
  assert.ok(!index.ngrams.get('title')?.includes('\0'))
  assert.deepEqual(strings(index, 'metadata.predicate.literal_s.3f2ae919'), [])
})

test('a value is one line, with one space for each white space in it (W3.10.4)', async () => {
  const piece = fc.constantFrom('a', ' ', ' ', '\n', '\t', '\r\n', '\u00A0', '\u2028', '\uFEFF', 'b')
  await fc.assert(
    fc.asyncProperty(fc.array(piece), async pieces => {
      const value = pieces.join('')
      const { ngrams } = indexFieldsOf(newEntry({ ...place, metadata: { [R]: { [`${DCT}title`]: [literal(value)] } } }))
      assert.equal(ngrams.get('title'), value.replace(/\s+/g, ' ').trim())
    }),
    { seed: 35 },
  )
})

test('dates are of ISO 8601, whole numbers are those that can be told apart (W3.10.4)', () => {
  assert.equal(readDate('2020-02-03'), Date.UTC(2020, 1, 3))
  assert.equal(readDate('2020-02-03T04:05:06.700Z'), Date.UTC(2020, 1, 3, 4, 5, 6, 700))
  assert.equal(readDate('2020-02-03T04:05:06+02:00'), Date.UTC(2020, 1, 3, 2, 5, 6))
  for (const wrong of ['', 'soon', '2020-13-01', '20', '2020-02-03T25:00:00Z'])
    assert.equal(readDate(wrong), undefined, wrong)
  assert.equal(readInteger('-12'), -12)
  for (const wrong of ['', '1.5', '9007199254740993', 'x']) assert.equal(readInteger(wrong), undefined, wrong)
})

test('PostgreSQL indexes a text whose words are cut within a character', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await openPostgresDatabase(await postgresDatabase(), { system: realSystem })
  t.after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  const text = `aaa${'\u{20000}'.repeat(50_000)}`
  const entry = newEntry({ ...place, metadata: { [R]: { [`${DCT}description`]: [literal(text)] } } })
  await database.transaction(tx => insertEntry(tx, entry))
  const words = sql`SELECT count(*) AS count FROM search_texts WHERE words @@ to_tsquery('stowage', 'aaa')`
  assert.ok(((await database.get<{ count: number }>(words))?.count ?? 0) > 0)
})
