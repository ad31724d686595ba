import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { RangeNotSatisfiable } from '../../src/base/errors.ts'
import { parseRange } from '../../src/http/download.ts'

type Outcome = readonly [first: number, last: number] | 'all' | 416

const table: ReadonlyArray<readonly [header: string | undefined, size: number, outcome: Outcome]> = [
  [undefined, 10, 'all'],
  ['bytes=0-4', 10, [0, 4]],
  ['bytes=9-9', 10, [9, 9]],
  ['bytes=5-', 10, [5, 9]],
  ['bytes=0-', 10, [0, 9]],
  ['bytes=0-999', 10, [0, 9]],
  ['bytes=0-99999999999999999999999', 10, [0, 9]],
  ['bytes=-3', 10, [7, 9]],
  ['bytes=-99', 10, [0, 9]],
  ['BYTES = 1 - 2', 10, [1, 2]],
  ['\tbytes =\t1 -  2 ', 10, [1, 2]],
  ['bytes=1 0-2', 10, 'all'],
  ['bytes=1-2-3', 10, 'all'],
  ['bytes=1', 10, 'all'],
  ['bytes=10-', 10, 416],
  ['bytes=10-12', 10, 416],
  ['bytes=99999999999999999999999-', 10, 416],
  ['bytes=-0', 10, 416],
  ['bytes=0-', 0, 416],
  ['bytes=-1', 0, 416],
  ['bytes=4-2', 10, 'all'],
  ['bytes=-', 10, 'all'],
  ['bytes=', 10, 'all'],
  ['bytes=a-b', 10, 'all'],
  ['bytes=0x1-2', 10, 'all'],
  ['bytes=--1', 10, 'all'],
  ['bytes=0-1,3-4', 10, 'all'],
  ['items=0-4', 10, 'all'],
  ['0-4', 10, 'all'],
]
for (const [header, size, outcome] of table) {
  test(`Range ${header} of ${size} bytes: ${JSON.stringify(outcome)} (D7.7, RFC 9110 14.2)`, () => {
    if (outcome === 416) {
      assert.throws(() => parseRange(header, size), RangeNotSatisfiable)
      return
    }
    const expected = outcome === 'all' ? undefined : { first: outcome[0], last: outcome[1] }
    assert.deepEqual(parseRange(header, size), expected)
  })
}

test('a range that is given lies inside the file and is not empty (RFC 9110 14.1.2)', () => {
  const header = fc.oneof(
    fc.string().map(text => `bytes=${text}`),
    fc.tuple(fc.option(fc.nat(30)), fc.option(fc.nat(30))).map(([a, b]) => `bytes=${a ?? ''}-${b ?? ''}`),
  )
  fc.assert(
    fc.property(header, fc.nat(20), (text, size) => {
      try {
        const range = parseRange(text, size)
        if (range) assert.ok(range.first >= 0 && range.first <= (range.last ?? 0) && (range.last ?? 0) < size, text)
      } catch (error) {
        assert.ok(error instanceof RangeNotSatisfiable)
        assert.equal(error.size, size)
      }
    }),
  )
})
