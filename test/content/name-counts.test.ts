import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NameCounts } from '../../src/features/statistics/statistics.ts'

test('names are counted in total and by entry, the most frequent first', () => {
  const names = new NameCounts()
  for (const [name, entry] of [
    ['b', 1],
    ['b', 1],
    ['a', 1],
    ['b', 3],
    ['c', 3],
  ] as const)
    names.add(name, entry)
  assert.deepEqual(
    names.list().map(({ name, total, usedIn }) => [name, total, usedIn]),
    [
      ['b', 3, 2],
      ['a', 1, 1],
      ['c', 1, 1],
    ],
  )
  assert.equal(names.entriesWithAny, 2)
  assert.ok(names.isComplete)
})

test('names of different languages are different, whatever they contain', () => {
  const names = new NameCounts()
  names.add('x', 1, 'de')
  names.add('de x', 1)
  names.add('x', 1)
  names.add('x', 2, 'de')
  assert.deepEqual(names.counts(), [
    { name: 'x', lang: 'de', count: 2 },
    { name: 'de x', count: 1 },
    { name: 'x', count: 1 },
  ])
})

test('there are limits on the number of names, on their length and on all of them together (D35.8)', () => {
  const many = new NameCounts()
  for (let n = 0; n < 100_002; n++) many.add(`${n}`, 1)
  many.add('7', 2)
  assert.equal(many.counts().length, 100_000)
  assert.deepEqual(many.counts()[0], { name: '7', count: 2 })
  assert.equal(many.isComplete, false)

  const long = new NameCounts()
  for (let n = 0; n < 5000; n++) long.add(`${n}`.padEnd(2000, 'x'), 1)
  assert.equal(long.isComplete, false)
  assert.ok(long.counts().every(({ name }) => name.length === 1000))
  assert.equal(long.counts().length, Math.floor((4 * 2 ** 20) / 1000))
  long.add('0'.padEnd(2000, 'x'), 2)
  assert.equal(long.counts()[0]?.count, 2)
})
