import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Conflict, InvalidInput } from '../../src/base/errors.ts'
import { distinct, requireDistinct, requireIds } from '../../src/content/values.ts'

const COUNT = 50_000
const ids = Array.from({ length: COUNT }, (_, n) => `x${n}`)

test('while many ids are checked, others have their turn (D40.15)', async () => {
  let turns = 0
  const count = (): void => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  assert.deepEqual(await requireDistinct(await requireIds(ids)), ids)
  clearImmediate(next)
  assert.ok(turns > 10, String(turns))
})

test('a wrong id, or one that is named twice, is found wherever it is (D40.15)', async () => {
  for (const place of [0, 999, 1000, COUNT - 1]) {
    await assert.rejects(requireIds(ids.with(place, 'no id')), InvalidInput)
    await assert.rejects(requireDistinct(ids.with(place, ids[(place + 1) % COUNT] ?? '')), Conflict)
  }
  await assert.rejects(requireIds('x1'), InvalidInput)
})

test('ids may be numbers, and keep the order of their first', async () => {
  assert.deepEqual([...(await distinct(await requireIds([2, 'b', '2', 1, 'b'])))], ['2', 'b', '1'])
})
