import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeOf } from '../../src/stores/postgres/postgres-pool.ts'
import { bindable } from '../../src/stores/sql.ts'

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
