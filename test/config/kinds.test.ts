import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { boolean, bytes, choice, duration, integer, pattern, secret, seconds, text } from '../../src/config/kinds.ts'
import { valueOf } from './parsing.ts'

const help = ''

test('booleans are on, off, true, false in any case and trimmed, and nothing else (D10.3)', () => {
  const row = boolean({ help })
  for (const written of ['on', 'ON', ' true', 'True\t', ' oN ']) assert.equal(valueOf(row, written), true, written)
  for (const written of ['off', 'FALSE', ' Off ']) assert.equal(valueOf(row, written), false, written)
  for (const written of ['', ' ', 'yes', '1', '0', 'o n', 'onn', 'null']) assert.equal(valueOf(row, written), undefined)
})

test('whole numbers are digits within their range', () => {
  const row = integer({ min: 0, max: 65535, help })
  assert.equal(valueOf(row, ' 8080 '), 8080)
  assert.equal(valueOf(row, '0'), 0)
  assert.equal(valueOf(row, '65535'), 65535)
  for (const written of ['65536', '-1', '-0', '+1', '1.0', '1e3', '0x10', '1 0', '１', '']) {
    assert.equal(valueOf(row, written), undefined, written)
  }
  assert.equal(valueOf(integer({ min: 0, help }), '9007199254740993'), undefined)
})

test('-1 is taken only where it has a meaning, and 0 is not taken for it (D6.4)', () => {
  const attempts = integer({ min: 1, unlimited: 'no lockout', help })
  assert.equal(valueOf(attempts, '-1'), -1)
  assert.equal(valueOf(attempts, '0'), undefined)
  assert.equal(valueOf(attempts, '-2'), undefined)
  assert.equal(valueOf(seconds({ min: 1, help }), '-1'), undefined)
})

test('seconds are numbers without a unit', () => {
  const row = seconds({ min: 1, unlimited: 'a session cookie', help })
  assert.equal(valueOf(row, '86400'), 86_400)
  assert.equal(valueOf(row, '-1'), -1)
  for (const written of ['1d', '60s', '0', '2147483648']) assert.equal(valueOf(row, written), undefined, written)
})

test('sizes are whole numbers with k, m, g or t in any case (D7.8)', () => {
  const row = bytes({ min: 0, unlimited: 'no limit', help })
  assert.equal(valueOf(row, '0'), 0)
  assert.equal(valueOf(row, '10k'), 10_240)
  assert.equal(valueOf(row, ' 1M '), 1_048_576)
  assert.equal(valueOf(row, '2G'), 2_147_483_648)
  assert.equal(valueOf(row, '1t'), 1_099_511_627_776)
  assert.equal(valueOf(row, '-1'), -1)
  for (const written of ['-1k', '1.5m', '10KB', '10 k', '9999999999t', '-2', 'k', '', '1e3', '9007199254740992']) {
    assert.equal(valueOf(row, written), undefined, written)
  }
})

test('durations are whole numbers with a unit, and milliseconds without (D10.4)', () => {
  const row = duration({ min: 0, help })
  assert.equal(valueOf(row, '5'), 5)
  assert.equal(valueOf(row, '5s'), 5000)
  assert.equal(valueOf(row, '5m'), 300_000)
  assert.equal(valueOf(row, '1500us'), 1.5)
  assert.equal(valueOf(row, '1D'), 86_400_000)
  for (const written of ['5x', '-1m', '-1', '1.5s', '5 m', '', 'm', '99999999999999999d']) {
    assert.equal(valueOf(row, written), undefined, written)
  }
  assert.equal(valueOf(duration({ min: 1, help }), '0'), undefined)
})

test('sizes and durations are shown as they may be written: reading them again gives the same value', () => {
  const size = bytes({ min: 0, unlimited: 'no limit', help }).kind
  const span = duration({ min: 0, help }).kind
  const whole = fc.tuple(fc.nat(5000), fc.constantFrom(1, 1000, 1024, 60_000, 2 ** 20, 86_400_000, 2 ** 40))
  fc.assert(
    fc.property(whole, ([count, factor]) => {
      assert.deepEqual(size.parse(size.show(count * factor)), { value: count * factor })
      assert.deepEqual(span.parse(span.show(count * factor)), { value: count * factor })
    }),
  )
  assert.equal(size.show(8 * 2 ** 20), '8m')
  assert.equal(size.show(-1), '-1')
  assert.equal(span.show(300_000), '5m')
  assert.equal(span.show(1.5), '1500000ns')
})

test('a choice is one of its words in any case', () => {
  const row = choice(['none', 'lax', 'strict'], { help })
  assert.equal(valueOf(row, ' Strict '), 'strict')
  for (const written of ['', 'stric', 'none,lax', 'constructor']) assert.equal(valueOf(row, written), undefined)
})

test('a text is trimmed, not empty and without control characters', () => {
  const row = text({ help })
  assert.equal(valueOf(row, '  a b '), 'a b')
  for (const written of ['', '   ', 'a\nb', 'a\u0000']) assert.equal(valueOf(row, written), undefined)
})

test('a pattern compiles on the linear-time engine or is refused with the reason; its blanks count (D5.2)', () => {
  const row = pattern({ help })
  assert.equal(valueOf(row, ' [a-z]{3} '), ' [a-z]{3} ')
  for (const written of ['', '[', '(?=a)', '(a)\\1', 'a{1001}', '*']) assert.equal(valueOf(row, written), undefined)
  const refused = row.kind.parse('[')
  assert.ok('problem' in refused && refused.problem.includes('missing closing ]'))
})

test('a secret is taken as written, blanks included, up to 2048 characters', () => {
  const row = secret({ help })
  assert.equal(valueOf(row, ' hunter2 '), ' hunter2 ')
  assert.equal(valueOf(row, '😀'.repeat(2048)), '😀'.repeat(2048))
  assert.equal(valueOf(row, 'a'.repeat(2049)), undefined)
  assert.equal(valueOf(row, ''), undefined)
})

test('no text makes a kind throw', () => {
  const rows = [boolean({ help }), integer({ min: 0, help }), bytes({ min: 0, help }), duration({ min: 0, help })]
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), written => {
      for (const row of [...rows, text({ help }), secret({ help }), pattern({ help })]) row.kind.parse(written)
    }),
  )
})
