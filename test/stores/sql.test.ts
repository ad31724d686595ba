import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeOf } from '../../src/stores/postgres/postgres-pool.ts'
import { bindable, databaseTime, listed, name, portionsOf, type Sql, sql, storableText } from '../../src/stores/sql.ts'

test('a value that an engine would store as another one is refused with its type, not with itself', () => {
  for (const [value, message] of [
    [new Date(0), 'a value of type Date cannot be bound'],
    [new Map(), 'a value of type Map cannot be bound'],
    [undefined, 'a value of type Undefined cannot be bound'],
    [Number.NaN, 'a number that is not finite cannot be bound'],
    [2n ** 63n, 'an integer beyond 64 bits cannot be bound'],
    ['secret\0', 'text with NUL cannot be bound'],
    ['secret\uD800', 'text with a lone surrogate cannot be bound'],
  ] as const)
    assert.throws(() => bindable(value as never), { name: 'TypeError', message })
})

test('whole numbers are bound as integers, within 64 bits', () => {
  const values = [true, false, 7, -(2 ** 53) + 1, 0.5, 2 ** 53, 2n ** 63n - 1n, -(2n ** 63n), null, 'ü']
  assert.deepEqual(values.map(bindable), [
    1n,
    0n,
    7n,
    -9007199254740991n,
    0.5,
    2 ** 53,
    9223372036854775807n,
    -9223372036854775808n,
    null,
    'ü',
  ])
})

test('of the address of a PostgreSQL server host, port and database are shown, never the password', () => {
  assert.equal(placeOf('postgres://user:secret@db.example/store?sslmode=require'), 'db.example:5432/store')
  assert.equal(placeOf('postgres://user:secret@db.example:6000/store'), 'db.example:6000/store')
})

/** The statement with a question mark for each value, and the values. */
const shown = ({ parts, values }: Sql): readonly unknown[] => [parts.join('?'), values]

test('statements are composed of parts and values, which stay apart', () => {
  assert.deepEqual(shown(sql`SELECT 1`), ['SELECT 1', []])
  assert.deepEqual(shown(sql`a = ${1} AND b = ${'x'}`), ['a = ? AND b = ?', [1, 'x']])
  const condition = sql`b = ${2} OR c = ${3}`
  assert.deepEqual(shown(sql`a = ${1} AND (${condition}) AND d = ${4}`), [
    'a = ? AND (b = ? OR c = ?) AND d = ?',
    [1, 2, 3, 4],
  ])
  assert.deepEqual(shown(sql`${condition}`), ['b = ? OR c = ?', [2, 3]])
  assert.deepEqual(shown(sql`${condition}${condition}`), ['b = ? OR c = ?b = ? OR c = ?', [2, 3, 2, 3]])
  assert.deepEqual(shown(sql`x ${sql`TRUE`}, ${null}`), ['x TRUE, ?', [null]])
  const bytes = new Uint8Array([1])
  assert.deepEqual(shown(sql`${bytes}`), ['?', [bytes]])
})

test('a list of values or of parts has commas between', () => {
  assert.deepEqual(shown(listed([])), ['', []])
  assert.deepEqual(shown(listed([1, 'x', null])), ['?, ?, ?', [1, 'x', null]])
  assert.deepEqual(shown(listed([sql`(${1}, ${2})`, sql`(${3})`, 4])), ['(?, ?), (?), ?', [1, 2, 3, 4]])
  assert.deepEqual(shown(sql`IN (${listed([sql`now()`])})`), ['IN (now())', []])
})

test('only a plain name becomes part of a statement as text', () => {
  assert.deepEqual(shown(name('a_1')), ['a_1', []])
  for (const text of ['', '1a', '_a', 'A', 'a b', 'a;', 'a"', 'a\n', 'xa-', 'ä'])
    assert.throws(() => name(text), { name: 'TypeError', message: `"${text}" is not a name of a table or column` })
})

test('items are split into portions, by default of 200', () => {
  const sizes = (count: number, size?: number) => [...portionsOf(Array(count).keys(), size)].map(({ length }) => length)
  assert.deepEqual(sizes(0), [])
  assert.deepEqual(sizes(200), [200])
  assert.deepEqual(sizes(401), [200, 200, 1])
  assert.deepEqual(sizes(4, 2), [2, 2])
  assert.deepEqual([...portionsOf(['a', 'b', 'c'], 2)], [['a', 'b'], ['c']])
})

test('text is made storable: no NUL, no half characters', () => {
  assert.equal(storableText('a\0b\0\uD800😀'), 'a b \uFFFD😀')
})

test('the time is that of the server where several nodes share it', () => {
  assert.deepEqual(shown(databaseTime({ engine: 'sqlite' }, { now: () => 7 })), ['?', [7]])
  assert.deepEqual(shown(databaseTime({ engine: 'postgres' }, { now: () => 7 })), [
    'CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)',
    [],
  ])
})
