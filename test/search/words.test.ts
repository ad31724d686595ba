import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { trigramsOf, wordsOf } from '../../src/search/words.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'

/** What FTS5 makes of a text. */
async function openTokenizer(t: { after(work: () => Promise<void>): void }, tokenizer: 'porter unicode61' | 'trigram') {
  const database = await openSqliteDatabase(':memory:')
  t.after(() => database.close())
  await database.run(
    tokenizer === 'trigram'
      ? sql`CREATE VIRTUAL TABLE texts USING fts5 (value, tokenize = 'trigram')`
      : sql`CREATE VIRTUAL TABLE texts USING fts5 (value, tokenize = 'porter unicode61')`,
  )
  await database.run(sql`CREATE VIRTUAL TABLE terms USING fts5vocab (texts, instance)`)
  return async (text: string): Promise<string[]> => {
    await database.run(sql`DELETE FROM texts`)
    await database.run(sql`INSERT INTO texts (value) VALUES (${text})`)
    const rows = await database.all<{ term: string }>(sql`SELECT term FROM terms ORDER BY "offset"`)
    return rows.map(({ term }) => term)
  }
}

const letters = fc.constantFrom(...'aeiouybcdlmnrstvwxzàéñüçœßøđłАбвΣσςµſıßİ09', ' ', '-', '\u0301')
const endings = ['ational', 'izer', 'ed', 'ing', 'eed', 'sses', 'ies', 's', 'y', 'iveness', 'fulness', 'logi', 'bli']
const more = [
  'ance',
  'ement',
  'ment',
  'ent',
  'ion',
  'tion',
  'sion',
  'ate',
  'ive',
  'ize',
  'icate',
  'alize',
  'e',
  'll',
  'able',
]
const word = fc
  .tuple(
    fc.string({ unit: letters, maxLength: 8 }),
    fc.constantFrom(...endings, ...more, ''),
    fc.constantFrom(...endings, ''),
  )
  .map(parts => parts.join(''))

test('words are cut and stemmed as SQLite does it', async t => {
  const expected = await openTokenizer(t, 'porter unicode61')
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 12 }), async words => {
      const text = words.join(' ')
      assert.deepEqual(wordsOf(text), await expected(text))
    }),
    { numRuns: 500 },
  )
})

test('runs of three characters are those of SQLite', async t => {
  const expected = await openTokenizer(t, 'trigram')
  const text = fc.string({ unit: fc.constantFrom(...'abcABCäÄéÉ€😀Бб 	\n'), maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(text, async text => {
      assert.deepEqual(trigramsOf(text), [...new Set(await expected(text))])
    }),
  )
})
