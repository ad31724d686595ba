import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  Argon2id,
  type Hasher,
  HashThreads,
  legacyPbkdf2,
  Passwords,
  requirePasswordShape,
} from '../../src/accounts/passwords.ts'
import { InvalidInput, Overloaded } from '../../src/base/errors.ts'
import { Semaphore } from '../../src/base/semaphore.ts'
import { after } from '../support/after.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { absurdParameters, RecordingHasher } from '../support/hashes.ts'

const cost = { memory: 19_456, iterations: 2, parallelism: 1 }
const threads = new HashThreads(2)
const semaphore = () => new Semaphore({ concurrency: 2, queue: 10, what: 'password checks' })
after(() => threads.close())
const refusal = (code: string) => (error: unknown) => error instanceof InvalidInput && error.code === code

const shapes: ReadonlyArray<readonly [what: string, password: string, code: string | undefined]> = [
  ['one character', 'x', undefined],
  ['2048 ASCII characters', 'x'.repeat(2048), undefined],
  ['2048 characters outside the basic plane', '🗝'.repeat(2048), undefined],
  ['2047 astral and one ASCII', `${'🗝'.repeat(2047)}x`, undefined],
  ['blanks only', '   ', undefined],
  ['a NUL', '\0', undefined],
  ['2049 ASCII characters', 'x'.repeat(2049), 'password-too-long'],
  ['2049 characters outside the basic plane', '🗝'.repeat(2049), 'password-too-long'],
  ['2048 astral and one ASCII', `${'🗝'.repeat(2048)}x`, 'password-too-long'],
  ['a million characters', 'x'.repeat(1_000_000), 'password-too-long'],
  ['nothing', '', 'password-missing'],
]
for (const [what, password, code] of shapes) {
  test(`${what} ${code === undefined ? 'can be' : 'cannot be'} a password, counted in code points (D2.3)`, () => {
    if (code === undefined) requirePasswordShape(password)
    else assert.throws(() => requirePasswordShape(password), refusal(code))
  })
}

// Made with Python: base64(salt) + '$' + base64(hashlib.pbkdf2_hmac('sha1', password.encode(), salt, 10240, 24))
const legacyVectors = [
  ['password', 'c2FsdHNhbHRzYWx0c2FsdA==$msC9OzxJukbdj2ZIUPOrM82MtPvM5eaI'],
  ['Tr0ub4dor & 3 – ünïcode 🗝', 'AAECAwQFBgcICQoLDA0ODw==$hTQ2Y4BR1PqhWXHOjCqF02/meElbqMr5'],
  ['', 'c2FsdA==$5j9AjZESTtctUmElTY7IChoFOiCov7+X'],
] as const

test('a legacy hash made by another program verifies, and with no other password (D5.1)', async () => {
  for (const [password, stored] of legacyVectors) {
    assert.ok(legacyPbkdf2.understands(stored))
    assert.ok(legacyPbkdf2.outdated(stored))
    assert.equal(await legacyPbkdf2.verify(password, stored), true)
    assert.equal(await legacyPbkdf2.verify(`${password} `, stored), false)
  }
})

test('a legacy hash that was cut short verifies nothing, not even an empty key (D5.1)', async () => {
  for (const stored of ['c2FsdA==$', 'c2FsdA==$AA==', '$', 'c2FsdA==$5j9AjZESTtctUmElTY7IChoFOiCov7+XAAAA']) {
    assert.equal(await legacyPbkdf2.verify('', stored), false, stored)
  }
})

test('a new hash is argon2id as a PHC string with a salt of its own (D5.1)', async () => {
  const scheme = new Argon2id(cost, threads)
  const [one, two] = await Promise.all([scheme.hash('Good-Password-12'), scheme.hash('Good-Password-12')])
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22,}\$[A-Za-z0-9+/]{43}$/)
  assert.notEqual(one, two)
  assert.equal(await scheme.verify('Good-Password-12', one), true)
  assert.equal(await scheme.verify('Good-Password-13', one), false)
})

// Made with the reference implementation's test vector: `password`, salt `somesalt`, t=2, m=64 MiB, p=1 (argon2id, v=19).
const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'

test('argon2id agrees with the vector of the reference implementation (D5.1)', async () => {
  assert.equal(await new Argon2id(cost, threads).verify('password', reference), true)
  assert.equal(await new Argon2id(cost, threads).verify('passwort', reference), false)
})

test('a stored hash that asks for more than the machine can give is refused unread, a garbled one too (D5.1)', async () => {
  const scheme = new Argon2id(cost, threads)
  const salted = 'c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  const garbled = [
    `$argon2id$v=19$m=4294967295,t=2,p=1$${salted}`,
    `$argon2id$v=19$m=65536,t=4294967295,p=1$${salted}`,
    `$argon2id$v=19$m=65536,t=2,p=255$${salted}`,
    `$argon2id$v=19$m=1,t=2,p=1$${salted}`,
    `$argon2id$v=19$m=65536,t=0,p=1$${salted}`,
    `$argon2id$v=16$m=65536,t=2,p=1$${salted}`,
    '$argon2id$v=19$m=65536,t=2,p=1$YQ$YQ',
    '$argon2id$',
    '$argon2id$v=19$m=65536,t=2,p=1$$',
  ]
  for (const stored of garbled) assert.equal(await scheme.verify('password', stored), false, stored)
})

test('a hash is outdated when any of its costs lies below the configured ones, and not when above (D5.1)', () => {
  const scheme = new Argon2id({ memory: 32_768, iterations: 3, parallelism: 2 }, threads)
  const at = (memory: number, iterations: number, parallelism: number): string =>
    `$argon2id$v=19$m=${memory},t=${iterations},p=${parallelism}$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc`
  assert.equal(scheme.outdated(at(32_768, 3, 2)), false)
  assert.equal(scheme.outdated(at(65_536, 4, 4)), false)
  assert.equal(scheme.outdated(at(32_767, 3, 2)), true)
  assert.equal(scheme.outdated(at(32_768, 2, 2)), true)
  assert.equal(scheme.outdated(at(32_768, 3, 1)), true)
  assert.equal(scheme.outdated('$argon2id$garbled'), true)
})

test('without a stored password, and with an unknown kind of hash, no password matches (D2.2)', async () => {
  const passwords = await Passwords.create(cost, semaphore(), new FakeSystem())
  assert.equal(await passwords.verify('anything', undefined), false)
  assert.equal(await passwords.verify('plain', 'plain'), false)
  assert.equal(await passwords.verify('', ''), false)
  assert.equal(passwords.outdated('plain'), false)
  assert.equal(await passwords.verify('password', legacyVectors[0][1]), true)
})

test('a wrong password costs one argon2id computation for every user, also with a legacy hash or a garbled one (D2.2)', async () => {
  const hasher = new RecordingHasher()
  const passwords = await Passwords.create(cost, semaphore(), new FakeSystem(), hasher)
  const own = await passwords.hash('right')
  for (const stored of [undefined, legacyVectors[0][1], 'plain', own]) {
    hasher.verified.length = 0
    assert.equal(await passwords.verify('wrong', stored), false)
    assert.deepEqual(hasher.verified, ['m=19456,t=2,p=1'], stored)
  }
})

test('a stored hash with absurd parameters is refused without computing anything (D5.1)', async () => {
  const hasher = new RecordingHasher()
  const scheme = new Argon2id(cost, hasher)
  const stored = await scheme.hash('right')
  for (const parameters of absurdParameters) {
    assert.equal(await scheme.verify('right', stored.replace('m=19456,t=2,p=1', parameters)), false, parameters)
  }
  assert.deepEqual(hasher.verified, [])
  assert.equal(await scheme.verify('right', stored), true)
})

test('a check beyond the queue is refused as overloaded, and nothing of it is done (D5.1)', async () => {
  const narrow = new Semaphore({ concurrency: 1, queue: 1, what: 'password checks' })
  const passwords = await Passwords.create(cost, narrow, new FakeSystem())
  const running = passwords.hash('one')
  const waiting = passwords.verify('two', undefined)
  await assert.rejects(passwords.verify('three', undefined), Overloaded)
  await Promise.all([running, waiting])
  assert.deepEqual(narrow.load, { running: 0, waiting: 0 })
})

test('220 guests at one address delay another login by one check, and a trusted device by none (D19.16)', async () => {
  const begun: string[] = []
  const waiting: Array<() => void> = []
  const hasher: Hasher = {
    hash: async () => '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$aGFzaA',
    verify: password => {
      begun.push(password)
      return new Promise(resolve => waiting.push(() => resolve(false)))
    },
    close: async () => {},
  }
  const queue = new Semaphore({ concurrency: 1, queue: 1000, what: 'password checks' })
  const passwords = await Passwords.create(cost, queue, new FakeSystem(), hasher)
  const all = Array.from({ length: 220 }, (_, n) => passwords.verify(`guess ${n}`, undefined, { of: '192.0.2.66' }))
  all.push(passwords.verify('honest', undefined, { of: '192.0.2.7' }))
  all.push(passwords.verify('trusted', undefined, { of: '192.0.2.8', isPreferred: true }))
  // Ends one check after the other, until none is begun any more.
  for (let turn = 0; turn < all.length; turn++) {
    await setImmediate()
    waiting.shift()?.()
  }
  await Promise.all(all)
  // The first check had begun before anybody waited.
  assert.deepEqual(begun.slice(0, 5), ['guess 0', 'trusted', 'guess 1', 'honest', 'guess 2'])
  assert.equal(begun.length, 222)
})
