import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BlobMissing, isBlobKey, newBlobKey, requireBlobKey, requireRange } from '../../src/stores/blob-store.ts'

const KEY = '0123456789abcdef0123456789abcdef01234567'

test('a key has 160 bits in lower-case hexadecimal, and nothing else is part of a path', () => {
  assert.equal(
    newBlobKey(count => new Uint8Array(count).fill(0xa5)),
    'a5'.repeat(20),
  )
  assert.ok(isBlobKey(KEY))
  requireBlobKey(KEY)
  for (const text of ['', KEY.slice(1), `${KEY}0`, KEY.toUpperCase(), `${KEY}\n`, `../${KEY}`, `${KEY.slice(1)}g`]) {
    assert.ok(!isBlobKey(text), text)
    assert.throws(() => requireBlobKey(text), {
      name: 'TypeError',
      message: 'a blob key has 40 lower-case hexadecimal digits',
    })
  }
})

test('a range is two whole numbers in order', () => {
  for (const [first, last] of [
    [0, 0],
    [0, 5],
    [5, 5],
    [0, Number.MAX_SAFE_INTEGER],
  ] as const)
    requireRange({ first, last })
  for (const [first, last] of [
    [-1, 5],
    [6, 5],
    [0.5, 5],
    [0, 5.5],
    [0, Infinity],
    [Number.NaN, 5],
    [0, Number.NaN],
    [-5, -1],
    [0, 2 ** 53],
  ] as const)
    assert.throws(() => requireRange({ first, last }), {
      name: 'RangeError',
      message: `bytes ${first} to ${last} are not a range`,
    })
})

test('a missing blob is named', () => {
  const cause = new Error('ENOENT')
  const error = new BlobMissing(KEY, { cause })
  assert.deepEqual([error.name, error.message, error.cause], ['BlobMissing', `no blob has the key ${KEY}`, cause])
})
