import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ErrorCode, errorCodes } from '../../src/base/error-codes.ts'
import * as errors from '../../src/base/errors.ts'
import { problemOf } from '../../src/http/problem.ts'
import { repository } from '../support/service.ts'

const codes = Object.keys(errorCodes) as ErrorCode[]

/** Every refusal there is: what `base/errors.ts` exports below `ServiceError`. */
const refusals = Object.entries(errors).filter(
  ([name, value]) => name !== 'ServiceError' && value.prototype instanceof errors.ServiceError,
)

const made: Readonly<Record<string, errors.ServiceError>> = {
  WrongMethod: new errors.WrongMethod('PUT', ['GET', 'HEAD']),
  RangeNotSatisfiable: new errors.RangeNotSatisfiable(7),
  LockedOut: new errors.LockedOut(30),
  Overloaded: new errors.Overloaded('Too much.', 3),
  StorageFull: new errors.StorageFull(),
  StorageReadOnly: new errors.StorageReadOnly(),
  StoreDamaged: new errors.StoreDamaged(),
  FileUnreadable: new errors.FileUnreadable('file-missing'),
  StoreUnavailable: new errors.StoreUnavailable('The database', { retryAfter: 7 }),
}

function make(name: string): errors.ServiceError {
  const present = made[name]
  if (present) return present
  const type = refusals.find(([known]) => known === name)?.[1] as new (
    code: ErrorCode,
    detail: string,
  ) => errors.ServiceError
  return new type('bad-request', 'Told.')
}

test('every class of refusal has a status of its own, none of them 500', () => {
  // A refused sign-on is one kind of not being signed in, a store that is away one kind of not now.
  const notNow = ['StoreUnavailable', 'StorageReadOnly', 'StoreDamaged', 'FileUnreadable']
  const own = refusals.filter(([name]) => !['SsoRefused', ...notNow].includes(name))
  const statuses = own.map(([name]) => problemOf(make(name), 'r').status)
  assert.ok(statuses.length >= 15)
  assert.equal(statuses.includes(500), false)
  assert.equal(new Set(statuses).size, statuses.length)
})

test('status, type, code, detail and error of a problem agree (D1.4)', () => {
  const { status, body } = problemOf(
    new errors.TooLarge('quota-exceeded', 'Too much.', { extra: { quota: 5, fillLevel: 4, needed: 2 } }),
    'r',
  )
  assert.equal(status, 413)
  assert.deepEqual(body, {
    type: 'urn:stowage:problem:quota-exceeded',
    title: 'Quota exceeded',
    status: 413,
    detail: 'Too much.',
    code: 'quota-exceeded',
    error: 'Too much.',
    quota: 5,
    fillLevel: 4,
    needed: 2,
  })
})

test('refusals that ask for a header have it: Allow, Retry-After, Content-Range (D1.5, D5.1, D6.1)', () => {
  assert.deepEqual(problemOf(make('WrongMethod'), 'r').headers, { allow: 'GET, HEAD' })
  assert.deepEqual(problemOf(make('LockedOut'), 'r').headers, { 'retry-after': '30' })
  assert.deepEqual(problemOf(make('StoreUnavailable'), 'r').headers, { 'retry-after': '7' })
  assert.deepEqual(problemOf(make('Overloaded'), 'r').headers, { 'retry-after': '3' })
  assert.deepEqual(problemOf(make('RangeNotSatisfiable'), 'r').headers, { 'content-range': 'bytes */7' })
})

test('what is not a refusal is a 500 that names the request and nothing of the cause', () => {
  for (const error of [new Error('secret path /etc'), 'text', undefined, { code: 'FST_ERR_OTHER' }, null]) {
    const { status, body } = problemOf(error, 'abc-1')
    assert.equal(status, 500)
    assert.equal(body['code'], 'internal-error')
    assert.match(String(body['detail']), /abc-1/)
    assert.doesNotMatch(JSON.stringify(body), /secret|etc/)
  }
})

test('every error code stands in docs/errors.md with its title, and none there is unknown', () => {
  const rows = readFileSync(join(repository, 'docs/errors.md'), 'utf8').matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|/gm)
  const documented = new Map([...rows].map(([, code = '', title = '']) => [code, title]))
  assert.deepEqual([...documented.keys()].sort(), [...codes].sort())
  for (const code of codes) assert.equal(documented.get(code), errorCodes[code].title)
})
