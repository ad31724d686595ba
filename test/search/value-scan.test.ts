import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compilePattern } from '../../src/base/patterns.ts'
import { readDateMath } from '../../src/features/search/date-math.ts'
import { isWithinDistance } from '../../src/features/search/distance.ts'
import { readDate } from '../../src/search/index-fields.ts'
import { alternativesOf, literalsOf } from '../../src/features/search/value-scan.ts'

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 7 })

/** The same distance, by its definition. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length
  const [x, y] = [a.slice(1), b.slice(1)]
  const isSwap = a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0]
  return Math.min(
    distance(x, b) + 1,
    distance(a, y) + 1,
    distance(x, y) + (a[0] === b[0] ? 0 : 1),
    isSwap ? distance(a.slice(2), b.slice(2)) + 1 : Number.POSITIVE_INFINITY,
  )
}

test('the distance of two words is the least number of changes between them', () => {
  fc.assert(
    fc.property(letters, letters, fc.integer({ min: 0, max: 2 }), (a, b, most) => {
      assert.equal(isWithinDistance(a, b, most), distance(a, b) <= most)
    }),
  )
  assert.ok(isWithinDistance('wter', 'water', 1) && isWithinDistance('watre', 'water', 1))
  assert.ok(!isWithinDistance('wter', 'waters', 1) && isWithinDistance('wter', 'waters', 2))
  assert.ok(isWithinDistance('\u{1F986}a', '\u{1F987}a', 1), 'a character outside of the BMP is one')
})

test('a word with replaced, added, removed or exchanged characters contains one of the alternatives', () => {
  const change = fc.record({
    at: fc.nat(20),
    kind: fc.constantFrom('add', 'remove', 'replace', 'exchange'),
    by: fc.constantFrom('a', 'x'),
  })
  const changes = fc
    .array(change, { minLength: 1, maxLength: 2 })
    // Where two changes are allowed, an exchange counts as both: that is the limit of what is promised.
    .filter(edits => edits.length === 1 || edits.every(({ kind }) => kind !== 'exchange'))
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 3, maxLength: 12 })
  const changed = (text: string, { at, kind, by }: { at: number; kind: string; by: string }): string => {
    const place = at % text.length
    const [one = '', two = ''] = text.slice(place, place + 2)
    if (kind === 'exchange') return text.slice(0, place) + two + one + text.slice(place + 2)
    return text.slice(0, place) + (kind === 'remove' ? '' : by) + text.slice(place + (kind === 'add' ? 0 : 1))
  }
  fc.assert(
    fc.property(word, changes, (text, edits) => {
      const other = edits.reduce(changed, text)
      assert.ok(
        alternativesOf(text, edits.length).some(piece => other.includes(piece)),
        other,
      )
    }),
    { numRuns: 2000 },
  )
})

test('what an expression needs occurs in everything that it matches', () => {
  for (const [source, needed] of [
    ['wat.*', ['wat']],
    ['wat.*fall', ['wat', 'fall']],
    ['waters?', ['water']],
    ['waters*', ['water']],
    ['waters{0,2}', ['water']],
    ['waters+', ['waters']],
    ['[wW]ater', ['ater']],
    ['wa\\wter', ['ter']],
    ['Größe', ['große']],
    ['(water)?fall', []],
    ['water|fire', []],
    ['(?i)water', []],
    ['w.t', []],
    ['\\pLello', []],
    ['\\x41bcd', []],
    ['\\Qwa.ter\\E', []],
    ['wat\\.er\\\\ fall', ['wat', 'fall']],
    ['[]abc]def', ['def']],
    ['[^]abc]def', ['def']],
    ['[[:alpha:]abc]def', ['def']],
    ['data-set', ['data', 'set']],
    ['数据?', []],
  ] as const)
    assert.deepEqual(literalsOf(source), needed, source)
  const part = fc.constantFrom(
    'abc',
    'abcd',
    'x',
    '.',
    '.*',
    'b?',
    'c+',
    'd{2}',
    '[ab]',
    '\\w',
    '(abc)?',
    'abc|',
    '[]a]',
    '\\x61',
    '\\pLc',
  )
  const source = fc.array(part, { maxLength: 6 }).map(parts => parts.join(''))
  const value = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'x'), maxLength: 12 })
  fc.assert(
    fc.property(source, value, (expression, text) => {
      const isMatch = compilePattern(expression).test(text)
      if (isMatch)
        for (const literal of literalsOf(expression)) assert.ok(text.includes(literal), `${expression} ${text}`)
    }),
    { numRuns: 2000 },
  )
})

test('dates of queries are counted and rounded in UTC (known answers)', () => {
  const now = Date.parse('2024-03-31T15:16:17.123Z')
  const read = (text: string): string | undefined => {
    const time = readDateMath(text, now, readDate)
    return time === undefined ? undefined : new Date(time).toISOString()
  }
  for (const [text, expected] of [
    ['NOW', '2024-03-31T15:16:17.123Z'],
    ['NOW-1DAY', '2024-03-30T15:16:17.123Z'],
    ['NOW/DAY', '2024-03-31T00:00:00.000Z'],
    ['NOW/MONTH', '2024-03-01T00:00:00.000Z'],
    ['NOW/YEAR+2MONTHS-1SECOND', '2024-02-29T23:59:59.000Z'],
    ['NOW/HOUR', '2024-03-31T15:00:00.000Z'],
    ['NOW-90MINUTES/MINUTE', '2024-03-31T13:46:00.000Z'],
    ['NOW+5MILLIS/SECOND', '2024-03-31T15:16:17.000Z'],
    ['NOW-2YEARS/DATE', '2022-03-31T00:00:00.000Z'],
    ['1970-06-01T12:00:00Z/YEAR', '1970-01-01T00:00:00.000Z'],
    ['2023-01-31+1DAY', '2023-02-01T00:00:00.000Z'],
    ['2023-01-31T00:00:00Z+6MONTHS/MONTH', '2023-07-01T00:00:00.000Z'],
  ] as const)
    assert.equal(read(text), expected, text)
  for (const text of [
    '',
    'now',
    'NOW-1',
    'NOW-DAY',
    'NOW-1FORTNIGHT',
    'NOW+999999999YEARS',
    '2023-01-31',
    'x+1DAY',
    'NOWNOW',
  ])
    assert.equal(read(text), undefined, text)
})
