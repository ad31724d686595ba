import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTooDeep, MAX_JSON_DEPTH, parseJson } from '../../src/base/json.ts'

const nested = (depth: number, inner = ''): string => '['.repeat(depth) + inner + ']'.repeat(depth)

test('JSON may be nested 500 levels deep; deeper it is refused before it is parsed', () => {
  assert.equal(MAX_JSON_DEPTH, 500)
  assert.doesNotThrow(() => parseJson(nested(500)))
  assert.throws(() => parseJson(nested(501)), /nested deeper than 500 levels/)
  assert.throws(() => parseJson('{"a":'.repeat(8_000_000)), /nested deeper than 500 levels/)
})

test('brackets inside strings, and brackets side by side, do not count as levels', () => {
  assert.equal(isTooDeep(JSON.stringify(Array.from({ length: 1000 }, () => [{}]))), false)
  assert.equal(isTooDeep(nested(400, JSON.stringify('['.repeat(1000)))), false)
  assert.equal(isTooDeep(nested(400, JSON.stringify(`\\"${'['.repeat(1000)}\\`))), false)
  assert.equal(isTooDeep(`["\\\\",${nested(600)}]`), true)
})
