import assert from 'node:assert/strict'
import { pbkdf2Sync } from 'node:crypto'
import { test } from 'node:test'
import { Argon2id, type Hasher, legacyPbkdf2, WrappedPbkdf2 } from '../../src/accounts/passwords.ts'

const cost = { memory: 1024, iterations: 2, parallelism: 1 }
const phc = ({ memory, iterations, parallelism }: typeof cost, rest = '$c2FsdA$aGFzaA'): string =>
  `$argon2id$v=19$m=${memory},t=${iterations},p=${parallelism}${rest}`

/** A hasher that computes nothing: a password matches the hash that names it. */
function fakeHasher() {
  const checked: string[] = []
  const hasher: Hasher = {
    hash: async (password, asked) => `${phc(asked)}.${password}`,
    async verify(password, stored) {
      checked.push(stored)
      return stored.endsWith(`.${password}`) || stored === phc(cost)
    },
    close: async () => undefined,
  }
  return { checked, scheme: new Argon2id(cost, hasher) }
}

test('a stored hash that would cost more than the limit, or has no cost, is refused without being computed (D5.1)', async () => {
  const most = { memory: 1_048_576, iterations: 64, parallelism: 64 }
  const { checked, scheme } = fakeHasher()
  await scheme.verify('x', phc(most))
  assert.deepEqual(checked, [phc(most)])
  const others = [
    ...(['memory', 'iterations', 'parallelism'] as const).map(member => phc({ ...most, [member]: most[member] + 1 })),
    phc(cost, ''),
    phc(cost, '$c2FsdA'),
    phc(cost, '$c2FsdA$aGFzaA$x'),
    ` ${phc(cost)}`,
    phc(cost).replace('v=19', 'v=16'),
    phc(cost).replace('t=2', 't=12345678901'),
    phc(cost).replace('argon2id', 'argon2i'),
    '',
  ]
  for (const stored of others) assert.equal(await scheme.verify('x', stored), false, stored)
  assert.equal(checked.length, 1)
})

test('a hash is outdated when any of its costs is below the settings; more than they ask for is kept (D5.1)', () => {
  const { scheme } = fakeHasher()
  assert.equal(scheme.outdated(phc(cost)), false)
  for (const member of ['memory', 'iterations', 'parallelism'] as const) {
    assert.equal(scheme.outdated(phc({ ...cost, [member]: cost[member] + 1 })), false, member)
    assert.equal(scheme.outdated(phc({ ...cost, [member]: cost[member] - 1 })), true, member)
  }
  assert.equal(scheme.outdated('no hash'), true)
})

const salt = Buffer.alloc(16, 7)
const keyOf = (password: string, bytes = 24): string =>
  pbkdf2Sync(password, salt, 10_240, bytes, 'sha1').toString('base64')
const oldHash = (password: string, bytes?: number): string => `${salt.toString('base64')}$${keyOf(password, bytes)}`

test('hashes of the earlier server are salt and key in Base64 and nothing else (D5.1)', async () => {
  const stored = oldHash('secret')
  assert.equal(legacyPbkdf2.understands(stored), true)
  assert.equal(legacyPbkdf2.outdated(stored), true)
  assert.equal(await legacyPbkdf2.verify('secret', stored), true)
  assert.equal(await legacyPbkdf2.verify('Secret', stored), false)
  for (const other of [
    '',
    '$',
    stored.slice(0, 24),
    `${stored}$x`,
    `${stored} `,
    ` ${stored}`,
    `$${stored}`,
    phc(cost),
  ]) {
    assert.equal(legacyPbkdf2.understands(other), false, other)
    assert.equal(await legacyPbkdf2.verify('', other), false, other)
  }
  // A key that was cut short must not match by its beginning.
  for (const bytes of [1, 23, 25]) assert.equal(await legacyPbkdf2.verify('secret', oldHash('secret', bytes)), false)
})

test('an old hash is wrapped without the password, and then checked by both schemes (D5.1)', async () => {
  const { checked, scheme } = fakeHasher()
  const wrapped = new WrappedPbkdf2(scheme)
  const stored = await wrapped.wrap(oldHash('secret'))
  const inner = `${phc(cost)}.${keyOf('secret')}`
  assert.equal(stored, `$argon2id-of-pbkdf2-sha1$${salt.toString('base64')}${inner}`)
  assert.deepEqual([wrapped.understands(stored), wrapped.outdated()], [true, true])
  assert.deepEqual([scheme.understands(stored), legacyPbkdf2.understands(stored)], [false, false])
  assert.equal(wrapped.understands(phc(cost)), false)
  const real = `$argon2id-of-pbkdf2-sha1$${salt.toString('base64')}${phc(cost)}`
  assert.equal(await wrapped.verify('secret', real), true)
  assert.deepEqual(checked, [phc(cost)])
  for (const wrong of [
    real.replace('==', ''),
    real.replace('==$', '==x$'),
    real.slice(0, 60),
    `${real.slice(0, 25)}x`,
  ]) {
    assert.equal(await wrapped.verify('secret', wrong), false, wrong)
  }
  assert.equal(checked.length, 1)
  await assert.rejects(wrapped.wrap(`${oldHash('secret')}!`), error => {
    assert.ok(error instanceof TypeError)
    assert.doesNotMatch(error.message, /secret|Bwc/, 'the hash is not repeated')
    return true
  })
})
