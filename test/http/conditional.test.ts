import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PreconditionFailed } from '../../src/base/errors.ts'
import { isRangeCurrent, isUnchanged, requirePreconditions, validatorHeaders } from '../../src/http/conditional.ts'

const modified = Date.UTC(2026, 10, 21, 10, 0, 0, 700)
const state = { etag: '"v2"', modified }
const nothing = { etag: undefined, modified }
const at = (offset: number): string => new Date(modified + offset).toUTCString()

type Headers = Readonly<Record<string, string>>

const changes: ReadonlyArray<readonly [headers: Headers, allowed: boolean]> = [
  [{}, true],
  [{ 'if-match': '"v2"' }, true],
  [{ 'if-match': '"v1", "v2"' }, true],
  [{ 'if-match': '*' }, true],
  [{ 'if-match': '"v1"' }, false],
  [{ 'if-match': 'W/"v2"' }, false],
  [{ 'if-match': 'v2' }, false],
  [{ 'if-match': '' }, false],
  [{ 'if-none-match': '*' }, false],
  [{ 'if-none-match': '"v2"' }, false],
  [{ 'if-none-match': 'W/"v2"' }, false],
  [{ 'if-none-match': '"v1"' }, true],
  [{ 'if-unmodified-since': at(0) }, true],
  [{ 'if-unmodified-since': at(1000) }, true],
  [{ 'if-unmodified-since': at(-1000) }, false],
  [{ 'if-unmodified-since': at(-86_400_000) }, false],
  [{ 'if-unmodified-since': 'Invalid Date' }, true],
  [{ 'if-unmodified-since': '' }, true],
  [{ 'if-match': '"v2"', 'if-unmodified-since': at(-86_400_000) }, true],
  [{ 'if-match': '"v1"', 'if-unmodified-since': at(0) }, false],
  [{ 'if-modified-since': at(0) }, true],
]
for (const [headers, allowed] of changes) {
  test(`a change under ${JSON.stringify(headers)} is ${allowed ? 'made' : 'refused'} (RFC 9110 13.2.2, W3.0.6)`, () => {
    if (allowed) requirePreconditions(headers, state)
    else assert.throws(() => requirePreconditions(headers, state), PreconditionFailed)
  })
}

test('before there is a representation, If-Match fails and If-None-Match: * holds (RFC 9110 13.1)', () => {
  assert.throws(() => requirePreconditions({ 'if-match': '*' }, nothing), PreconditionFailed)
  requirePreconditions({ 'if-none-match': '*' }, nothing)
})

const reads: ReadonlyArray<readonly [headers: Headers, unchanged: boolean | 412]> = [
  [{}, false],
  [{ 'if-none-match': '"v2"' }, true],
  [{ 'if-none-match': 'W/"v2"' }, true],
  [{ 'if-none-match': '"v1","v2"' }, true],
  [{ 'if-none-match': '*' }, true],
  [{ 'if-none-match': '"v1"' }, false],
  [{ 'if-modified-since': at(0) }, true],
  [{ 'if-modified-since': at(5000) }, true],
  [{ 'if-modified-since': at(-1000) }, false],
  [{ 'if-modified-since': 'yesterday' }, false],
  [{ 'if-none-match': '"v1"', 'if-modified-since': at(0) }, false],
  [{ 'if-match': '"v2"' }, false],
  [{ 'if-match': '"v1"' }, 412],
  [{ 'if-unmodified-since': at(-5000) }, 412],
]
for (const [headers, unchanged] of reads) {
  const outcome = unchanged === 412 ? 'is refused' : unchanged ? 'is a 304' : 'gets it'
  test(`a reader with ${JSON.stringify(headers)} ${outcome} (RFC 9110 13.2.2)`, () => {
    if (unchanged === 412) assert.throws(() => isUnchanged(headers, state), PreconditionFailed)
    else assert.equal(isUnchanged(headers, state), unchanged)
  })
}

test('a range is current for the same strong tag or the very date, and for nothing else (RFC 9110 13.1.5)', () => {
  assert.equal(isRangeCurrent(undefined, state), true)
  assert.equal(isRangeCurrent('"v2"', state), true)
  assert.equal(isRangeCurrent(at(0), state), true)
  for (const other of ['"v1"', 'W/"v2"', at(1000), at(-1000), 'Invalid Date', '*', '']) {
    assert.equal(isRangeCurrent(other, state), false, other)
  }
})

test('the date that is sent matches itself when it comes back', () => {
  const { 'last-modified': sent = '' } = validatorHeaders(state)
  requirePreconditions({ 'if-unmodified-since': sent }, state)
  assert.equal(isUnchanged({ 'if-modified-since': sent }, state), true)
})
