import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseSize } from '../../src/config/quantities.ts'

test('a size is a whole number of bytes or of a power of 1024, in any case; -1 is unlimited (D7.8)', () => {
  const sizes: Readonly<Record<string, number>> = {
    '0': 0,
    '-1': -1,
    '1023': 1023,
    '007': 7,
    '1k': 1024,
    '1K': 1024,
    '5m': 5 * 2 ** 20,
    '2G': 2 ** 31,
    '3t': 3 * 2 ** 40,
    '0t': 0,
    '9007199254740991': Number.MAX_SAFE_INTEGER,
    '8191t': 8191 * 2 ** 40,
  }
  for (const [text, bytes] of Object.entries(sizes)) assert.equal(parseSize(text), bytes, text)
})

test('fractions, KB, blanks, other signs and overflow are not sizes (D7.8)', () => {
  const wrong = ['', ' ', '1.5', '1.5k', '1KB', '1kb', '1 k', ' 1', '1k ', '+1', '-2', '-0', '-1k', 'k', '1e3', '0x10']
  const overflow = [
    '9007199254740992',
    '8192t',
    '9999999999t',
    '99999999999999999999999999',
    '٣',
    '1k\n',
    '1p',
    '1,000',
  ]
  for (const text of [...wrong, ...overflow]) assert.equal(parseSize(text), undefined, JSON.stringify(text))
})

test('a size with a unit is the number times the power, or nothing when it is beyond 2^53-1', () => {
  const power = fc.constantFrom<readonly [string, number]>(['', 0], ['k', 1], ['m', 2], ['g', 3], ['t', 4])
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 31 - 1 }), power, (number, [unit, exponent]) => {
      const exact = BigInt(number) * 1024n ** BigInt(exponent)
      const expected = exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : undefined
      assert.equal(parseSize(`${number}${unit}`), expected)
    }),
  )
})
