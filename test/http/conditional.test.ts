import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PreconditionFailed } from '../../src/base/errors.ts'
import type { FileRecord } from '../../src/files/file-records.ts'
import {
  entryValidators,
  fileValidators,
  isRangeCurrent,
  isUnchanged,
  requirePreconditions,
  validatorHeaders,
  withoutVariants,
} from '../../src/http/representations.ts'
import { newEntry } from '../../src/model/entry.ts'

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
  [{ 'if-match': ' * ' }, true],
  [{ 'if-match': '"v1"' }, false],
  [{ 'if-match': 'W/"v2"' }, false],
  [{ 'if-match': 'v2' }, false],
  [{ 'if-match': '' }, false],
  [{ 'if-none-match': '*' }, false],
  [{ 'if-none-match': '"v2"' }, false],
  [{ 'if-none-match': 'W/"v2"' }, false],
  [{ 'if-none-match': '"v1"' }, true],
  [{ 'if-none-match': '"W/v2"' }, true],
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

test('a state without a date is judged by its tag alone (RFC 9110 13.1.3, 13.1.4)', () => {
  const dateless = { etag: '"v2"' }
  for (const date of [at(-5000), at(5000)]) {
    assert.equal(isUnchanged({ 'if-modified-since': date }, dateless), false)
    assert.equal(isUnchanged({ 'if-unmodified-since': date }, dateless), false)
    assert.equal(isUnchanged({ 'if-unmodified-since': date, 'if-none-match': '"v2"' }, dateless), true)
  }
  assert.throws(() => isUnchanged({ 'if-match': '"v1"' }, dateless), PreconditionFailed)
})

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

test('the tag of an entry is its version, and names the syntax unless it is JSON (RFC 9110 8.8.3)', () => {
  assert.deepEqual(entryValidators({ modified: 5 }), { etag: '"5"', modified: 5 })
  assert.deepEqual(entryValidators({ modified: 5 }, 'json'), { etag: '"5"', modified: 5 })
  assert.deepEqual(entryValidators({ modified: 5 }, 'turtle'), { etag: '"5-turtle"', modified: 5 })
})

test('for a change the tag of any syntax stands for the version; other tags and headers stay', () => {
  const headers = { 'if-match': '"15-turtle", "6-rdf1", "7", "x-turtle"', 'if-none-match': '"8-json"', host: 'h' }
  const plain = { 'if-match': '"15", "6", "7", "x-turtle"', 'if-none-match': '"8"', host: 'h' }
  assert.deepEqual(withoutVariants(headers), plain)
  assert.deepEqual(withoutVariants({}), { 'if-match': undefined, 'if-none-match': undefined })
})

test('the tag of a file is its digest; without a file there is none, and no header (W3.0.6)', () => {
  const entry = newEntry({ context: '3', id: '1', by: undefined, now: modified })
  const file = fileValidators(entry, { sha256: 'ab' } as FileRecord)
  assert.deepEqual(file, { etag: '"ab"', modified })
  const date = 'Sat, 21 Nov 2026 10:00:00 GMT'
  assert.deepEqual(validatorHeaders(file), { 'last-modified': date, etag: '"ab"' })
  assert.deepEqual(fileValidators(entry, undefined), { etag: undefined, modified })
  assert.deepEqual(validatorHeaders(fileValidators(entry, undefined)), { 'last-modified': date })
})

test('a refusal names the header that does not hold', () => {
  for (const [name, headers] of [
    ['If-Match', { 'if-match': '"v1"' }],
    ['If-None-Match', { 'if-none-match': '*' }],
    ['If-Unmodified-Since', { 'if-unmodified-since': at(-5000) }],
  ] as const)
    assert.throws(() => requirePreconditions(headers, state), {
      code: 'precondition-failed',
      message: `${name} does not hold: the resource has changed.`,
    })
})

test('a copy counts as old from one second on, because dates have no milliseconds (W3.0.6)', () => {
  const date = Date.parse(at(0))
  const header = { 'if-unmodified-since': at(0) }
  requirePreconditions(header, { etag: undefined, modified: date + 999 })
  assert.throws(() => requirePreconditions(header, { etag: undefined, modified: date + 1000 }), PreconditionFailed)
})
