import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { addErrorCodes, type ErrorCode, errorCodes } from '../../src/base/error-codes.ts'
import * as errors from '../../src/base/errors.ts'
import { features } from '../../src/features/features.ts'
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

test('every code has a status for errors, and only an error of the service has 500', () => {
  for (const code of codes) {
    const { status } = errorCodes[code]
    assert.ok(status >= 400 && status < 600, code)
    assert.equal(status === 500, code === 'internal-error', code)
  }
})

test('codes of features are among all codes, and none of them is declared twice', () => {
  const ofFeatures = features.map(feature => feature.codes).filter(some => Object.keys(some).length > 0)
  assert.ok(ofFeatures.length > 0)
  for (const some of ofFeatures) assert.throws(() => addErrorCodes(some), /declared twice/)
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

test('every error code stands in docs/errors.md under its status, and none there is unknown', () => {
  const page = readFileSync(join(repository, 'docs/errors.md'), 'utf8')
  const documented = page
    .split(/^## (?=\d{3} )/m)
    .slice(1)
    .flatMap(section =>
      [...section.matchAll(/^### `([a-z-]+)`$/gm)].map(
        ([, code = '']) => [code, Number.parseInt(section, 10)] as const,
      ),
    )
  const expected = codes.map(code => [code, errorCodes[code].status] as const)
  assert.deepEqual(new Map(documented), new Map(expected))
})
