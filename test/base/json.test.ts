import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooLarge } from '../../src/base/errors.ts'
import { isTooCostly, MAX_JSON_COST, MAX_JSON_DEPTH, parseJson } from '../../src/base/json.ts'

const isTooDeep = (text: string): boolean => isTooCostly(text, Number.POSITIVE_INFINITY)
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

test('a body with more values than may be parsed in one step is refused before it is parsed (D35.12)', () => {
  const list = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, n) => `e,[{:${n}`))
  const names = (count: number): string =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`n"${n}\\`, 'a'])))
  const objects = (count: number): string => `[${'{},'.repeat(count)}1]`
  for (const text of ['1', list(149_000), names(13_000), objects(74_000), JSON.stringify(',[:'.repeat(500_000))])
    assert.doesNotThrow(() => parseJson(text, { maxCost: MAX_JSON_COST }))
  for (const text of [list(150_000), names(14_000), objects(75_000), '"a":'.repeat(20_000)])
    assert.throws(() => parseJson(text, { maxCost: MAX_JSON_COST }), TooLarge)
})

test('a name that occurs twice in one object is refused, however it is written, and named', () => {
  const repeated = (text: string, name: string) =>
    assert.throws(() => parseJson(text), {
      code: 'invalid-json',
      message: `The name ${name} occurs twice in one object.`,
    })
  repeated('{"a":1,"a":1}', '"a"')
  repeated('{"a":1,"\\u0061":2}', '"a"')
  repeated('[{"b":{"x":{},"y":[{"a":":"}],"x" : 1}}]', '"x"')
  repeated('{"":1,"":2}', '""')
  repeated('{"__proto__":1,"__proto__":2}', '"__proto__"')
  repeated(`{"${'n'.repeat(300)}":1,"${'n'.repeat(300)}":2}`, `"${'n'.repeat(199)}…`)
  for (const text of ['{"a":{"a":[{"a":1},{"a":"a"}]},"b":"a"}', '{"a":"\\"a\\":1,","A":1}', '{"constructor":1}'])
    assert.deepEqual(parseJson(text), JSON.parse(text))
  assert.equal(isTooCostly('{"a":1,"a":1}', 1000), false, 'it costs no more than any other')
})
