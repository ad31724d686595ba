import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { SsoFailures } from '../../src/features/sso/failures.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { keptLog } from '../support/kept-log.ts'

function setUp() {
  const { log, lines: kept } = keptLog('warn')
  const system = new FakeSystem()
  const failures = new SsoFailures({ system, log })
  const lines = () => kept.splice(0)
  return { system, failures, lines }
}

test('a refusal is one line of the log with everything, and the latest in the list (D8.5)', async () => {
  const { system, failures, lines } = setUp()
  const correlation = failures.report(new SsoRefused({ check: 'audience', expected: 'a\nb', received: 'c' }), 'cas')
  assert.match(correlation, /^[0-9a-f]{10}$/)
  const reported = { provider: 'cas', correlation, check: 'audience', expected: 'a\nb', received: 'c' }
  const [line, ...others] = lines()
  assert.deepEqual(others, [])
  const { msg, level, ...rest } = line ?? {}
  assert.deepEqual([level, msg, rest], ['warn', 'a sign-on was refused', reported])
  assert.deepEqual(failures.list(), [{ time: system.now(), ...reported }])
})

test('the last hundred are kept, the latest first, each with a word of its own', async () => {
  const { failures } = setUp()
  const words = Array.from({ length: 150 }, (_, n) => {
    return failures.report(new SsoRefused({ check: 'name', received: `c${n}` }), 'cas')
  })
  const kept = failures.list()
  assert.equal(kept.length, 100)
  assert.deepEqual([kept[0]?.received, kept[99]?.received], ['c149', 'c50'])
  assert.equal(new Set(words).size, 150)
})

test('what was compared is cut to 300 characters, and no character in two', async () => {
  const { failures, lines } = setUp()
  const long = '😀'.repeat(400)
  failures.report(new SsoRefused({ check: 'name', expected: 'x'.repeat(300), received: long }), 'cas')
  const [{ expected, received } = { expected: '', received: '' }] = failures.list()
  assert.equal(expected, 'x'.repeat(300))
  assert.equal(received, `${'😀'.repeat(299)}…`)
  assert.equal(lines()[0]?.['received'], received)
})
