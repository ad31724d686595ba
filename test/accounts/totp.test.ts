import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newRecoveryCodes, recoveryDigest } from '../../src/features/factors/second-factors.ts'
import { base32, hotp, looksLikeCode, matchingStep, otpauthUri, stepAt } from '../../src/features/factors/totp.ts'
import { FakeSystem } from '../support/fake-system.ts'

/** The secret of the test vectors of both RFCs. */
const secret = Buffer.from('12345678901234567890')

test('codes are those of RFC 4226, appendix D (D28.1)', () => {
  const expected = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ')
  assert.deepEqual(
    expected.map((_code, counter) => hotp(secret, counter)),
    expected,
  )
})

test('codes are those of RFC 6238, appendix B (D28.1)', () => {
  const vectors = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const
  for (const [seconds, code] of vectors) assert.equal(hotp(secret, stepAt(seconds * 1000), 8), code, String(seconds))
})

test('a code is right during its step and one step before and after, and only after the last accepted one (D28.1)', () => {
  const step = 50_000_000
  const now = step * 30_000 + 7
  const found = [-2, -1, 0, 1, 2].map(distance => matchingStep(secret, hotp(secret, step + distance), now, 0))
  assert.deepEqual(found, [undefined, step - 1, step, step + 1, undefined])
  assert.equal(matchingStep(secret, hotp(secret, step), now, step), undefined, 'used already')
  assert.equal(matchingStep(secret, hotp(secret, step), now, step - 1), step)
  for (const wrong of ['', '1', '1234567', 'abcdef', `${hotp(secret, step)} `]) {
    assert.equal(matchingStep(secret, wrong, now, 0), undefined, wrong)
  }
})

test('six digits, and nothing more or less, look like a code', () => {
  const texts = ['000000', '123456', '12345', '1234567', '12345a', 'a12345', 'abcdef', '123 456', '123456\n', '']
  assert.deepEqual(texts.filter(looksLikeCode), ['000000', '123456'])
})

test('the secret is written in base 32 (RFC 4648, section 10), and apps get it with issuer and account', () => {
  const vectors = {
    '': '',
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  }
  for (const [text, encoded] of Object.entries(vectors)) assert.equal(base32(Buffer.from(text)), encoded)
  const uri = otpauthUri('MZXW6YTB', { issuer: 'data.example.org', account: 'a b@example.org' })
  assert.equal(new URL(uri).pathname, '/data.example.org:a%20b%40example.org')
  const query = { secret: 'MZXW6YTB', issuer: 'data.example.org', algorithm: 'SHA1', digits: '6', period: '30' }
  assert.deepEqual(Object.fromEntries(new URL(uri).searchParams), query)
  const odd = otpauthUri('MZXW6YTB', { issuer: 'a:b&c', account: 'd?e' })
  assert.equal(odd.startsWith('otpauth://totp/a%3Ab%26c:d%3Fe?secret=MZXW6YTB&issuer=a%3Ab%26c&'), true, odd)
})

test('ten recovery codes of 80 bits differ, and are found however they are typed, for their user only (D28.1)', () => {
  const codes = newRecoveryCodes(new FakeSystem())
  assert.equal(new Set(codes).size, 10)
  for (const code of codes) assert.match(code, /^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/)
  // All 80 bits of the random bytes are in the code: each byte that differs makes another code.
  const codeOf = (bytes: Uint8Array) =>
    newRecoveryCodes(Object.assign(new FakeSystem(), { randomBytes: () => bytes }))[0]
  const bytes = Array.from({ length: 10 }, (_, at) => new Uint8Array(10).with(at, 255))
  assert.equal(new Set(bytes.map(codeOf)).size, 10)
  assert.equal(codeOf(new Uint8Array(10).fill(255)), 'zzzz-zzzz-zzzz-zzzz')
  const digest = recoveryDigest('7', 'a0b1-c2d3-e4f5-g6h7')
  assert.equal(recoveryDigest('7', ' AOBI c2d3e4f5-G6H7 '), digest)
  assert.equal(recoveryDigest('7', 'aobl c2d3 e4f5 g6h7'), digest)
  assert.notEqual(recoveryDigest('8', 'a0b1-c2d3-e4f5-g6h7'), digest)
})
