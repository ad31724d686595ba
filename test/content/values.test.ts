import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Conflict, InvalidInput } from '../../src/base/errors.ts'
import { requireDistinct, requireIds } from '../../src/content/values.ts'

const COUNT = 50_000
const ids = Array.from({ length: COUNT }, (_, n) => `x${n}`)

test('a wrong id, or one that is named twice, is found wherever it is', () => {
  assert.deepEqual(requireDistinct(requireIds(ids)), ids)
  for (const place of [0, 999, COUNT - 1]) {
    assert.throws(() => requireIds(ids.with(place, 'no id')), InvalidInput)
    assert.throws(() => requireDistinct(ids.with(place, ids[(place + 1) % COUNT] ?? '')), Conflict)
  }
  assert.throws(() => requireIds('x1'), InvalidInput)
})

test('ids may be numbers', () => {
  assert.deepEqual(requireIds([2, 'b', 1]), ['2', 'b', '1'])
})
