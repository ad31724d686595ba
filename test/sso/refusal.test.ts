import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterLimit, MetadataRefused, SsoRefused } from '../../src/features/sso/refusal.ts'
import { TaskLimitExceeded } from '../../src/workers/thread-pool.ts'

test('a refusal names its check, and what to quote once it has been reported (D8.5)', () => {
  const failed = { check: 'audience', expected: 'us', received: 'them' } as const
  const refused = new SsoRefused(failed)
  const { code, message, failureUrl, extra } = refused
  assert.deepEqual([code, message, failureUrl], ['sso-refused', 'The sign-on was refused (audience).', undefined])
  assert.deepEqual(extra ?? {}, {})
  const reported = refused.reportedAs('abc', 'https://failed/')
  assert.equal(reported.message, 'The sign-on was refused (audience). Quote abc to the operator.')
  assert.deepEqual(reported.extra, { check: 'audience', correlation: 'abc' })
  assert.deepEqual([reported.failed, reported.failureUrl, reported.cause], [failed, 'https://failed/', refused])
  assert.equal(refused.reportedAs('abc', undefined).failureUrl, undefined)
})

test('a user who lacks a required value sees which one (D27.4)', () => {
  const extraOf = (more: object) =>
    new SsoRefused({ check: 'attribute', ...more } as never).reportedAs('c', undefined).extra
  const common = { check: 'attribute', correlation: 'c' }
  assert.deepEqual(extraOf({ missing: 'mail' }), { ...common, missing: 'mail' })
  assert.deepEqual(extraOf({}), common)
})

test('a task that takes too much time or memory is a refusal, any other error stays (D8.3)', () => {
  for (const limit of ['time', 'memory'] as const) {
    const exceeded = new TaskLimitExceeded(limit)
    const refused = afterLimit(exceeded)
    assert.ok(refused instanceof SsoRefused)
    assert.equal(refused.failed.check, 'time')
    assert.match(refused.failed.received ?? '', new RegExp(limit))
    assert.equal(refused.cause, exceeded)
  }
  for (const other of [new Error('other'), undefined]) assert.equal(afterLimit(other), other)
})

test('unusable metadata are refused for the document, or for its signature (D8.6)', () => {
  const cause = new Error('x')
  const plain = new MetadataRefused('why', { cause })
  assert.deepEqual([plain.name, plain.message, plain.check, plain.cause], ['MetadataRefused', 'why', 'metadata', cause])
  assert.equal(new MetadataRefused('why').check, 'metadata')
  assert.equal(new MetadataRefused('why', { check: 'metadata-signature' }).check, 'metadata-signature')
})
