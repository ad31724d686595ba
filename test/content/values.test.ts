import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Conflict, InvalidInput } from '../../src/base/errors.ts'
import { requireDistinct, requireIds } from '../../src/content/values.ts'

const COUNT = 50_000
const ids = Array.from({ length: COUNT }, (_, n) => `x${n}`)

test('a wrong id, or one that occurs twice, is found wherever it is, and named', () => {
  assert.deepEqual(requireDistinct(requireIds(ids)), ids)
  for (const place of [0, 999, COUNT - 1]) {
    assert.throws(() => requireIds(ids.with(place, 'no id')), InvalidInput)
    const twice = ids[(place + 1) % COUNT] ?? ''
    const message = `The id "${twice}" occurs twice. Send each id once.`
    assert.throws(() => requireDistinct(ids.with(place, twice)), { constructor: Conflict, message })
  }
  assert.throws(() => requireIds('x1'), { message: 'The members must be an array of entry ids, but are a string.' })
  assert.throws(() => requireIds([[]]), { message: 'Each member must be an entry id, but one is an array.' })
})

test('ids may be numbers', () => {
  assert.deepEqual(requireIds([2, 'b', 1]), ['2', 'b', '1'])
})
