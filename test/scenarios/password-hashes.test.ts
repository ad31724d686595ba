import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import {
  addUser,
  codeOf,
  guess,
  GOOD_PASSWORD,
  openStore,
  plantPassword,
  storedPassword,
  WRONG_PASSWORD,
} from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { absurdParameters } from '../support/hashes.ts'
import { startInProcess } from '../support/service.ts'
import { until } from '../support/waiting.ts'

const service = await startInProcess({ after }, { realHashes: true })
const admin = await service.admin()
const store = await openStore({ after }, service)

const signIn = async (name: string, password: string): Promise<number> =>
  (await service.visitor().signIn(name, password)).status
/** So slow that requests meet while one is computed. */
const SLOW = { memory: 49_152, iterations: 64, parallelism: 1 }
const parametersOf = (stored: string | null | undefined): string | undefined => stored?.split('$')[3]

test('a new password is stored as a PHC string of argon2id with its own salt (D5.1)', async () => {
  const [one, two] = [await addUser(admin, 'one'), await addUser(admin, 'two')]
  const stored = [await storedPassword(store, one.id), await storedPassword(store, two.id)]
  for (const hash of stored) {
    assert.match(hash ?? '', /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22,}\$[A-Za-z0-9+/]{43}$/)
  }
  assert.notEqual(stored[0], stored[1])
})

test('a known answer: a hash made by the reference implementation verifies (D5.1)', async () => {
  // From the test program of the reference implementation.
  const { id } = await addUser(admin, 'known')
  await plantPassword(
    store,
    id,
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  )
  assert.equal(await signIn('known', WRONG_PASSWORD), 401)
  assert.equal(await signIn('known', 'password'), 200)
})

test('a legacy PBKDF2 hash is verified, and a right password is stored anew at once (D5.1)', async () => {
  const { id } = await addUser(admin, 'legacy')
  // Made with Python's hashlib.pbkdf2_hmac.
  const legacy = 'MDEyMzQ1Njc4OWFiY2RlZg==$o19vYYpaLTB9G7NpK9auJMraOojfo5Ac'
  await plantPassword(store, id, legacy)
  assert.equal(await signIn('legacy', WRONG_PASSWORD), 401)
  assert.equal(await storedPassword(store, id), legacy, 'a wrong password changes nothing')
  const visitor = service.visitor()
  assert.equal((await visitor.signIn('legacy', 'alter Schlüssel')).status, 200)
  assert.equal(parametersOf(await storedPassword(store, id)), 'm=19456,t=2,p=1')
  assert.equal((await visitor.get('auth/user')).json()['user'], 'legacy', 'the session outlives the upgrade')
  assert.equal(await signIn('legacy', 'alter Schlüssel'), 200)
  assert.equal(await signIn('legacy', WRONG_PASSWORD), 401)
})

test('raised parameters renew the hash at the next login; lowered ones leave it (D5.1)', async t => {
  const first = await startInProcess(t, { realHashes: true })
  const { id } = await addUser(await first.admin(), 'bob')
  const database = await openStore(t, first)
  await first.close()
  for (const [memory, expected] of [
    ['20000', 'm=20000,t=2,p=1'],
    ['19456', 'm=20000,t=2,p=1'],
    ['20001', 'm=20001,t=2,p=1'],
  ] as const) {
    const next = await startInProcess(t, {
      folder: first.folder,
      settings: { 'service.auth.password.argon2.memory': memory },
    })
    const before = await storedPassword(database, id)
    assert.equal((await next.visitor().signIn('bob', WRONG_PASSWORD)).status, 401)
    assert.equal(await storedPassword(database, id), before)
    assert.equal((await next.visitor().signIn('bob', GOOD_PASSWORD)).status, 200)
    assert.equal(parametersOf(await storedPassword(database, id)), expected)
    assert.equal((await next.visitor().signIn('bob', GOOD_PASSWORD)).status, 200)
    await next.close()
  }
})

test('a planted hash with absurd parameters is refused without the memory that it requests (D5.1)', async () => {
  const { id } = await addUser(admin, 'absurd')
  const good = (await storedPassword(store, id)) ?? ''
  const rss = process.memoryUsage().rss
  for (const parameters of absurdParameters) {
    await plantPassword(store, id, good.replace('m=19456,t=2,p=1', parameters))
    assert.equal(await signIn('absurd', GOOD_PASSWORD), 401, parameters)
    service.system.pass(300_000)
  }
  const grown = (process.memoryUsage().rss - rss) / 2 ** 20
  assert.ok(grown < 200, `grew by ${grown} MiB`)
  await plantPassword(store, id, good)
  assert.equal(await signIn('absurd', GOOD_PASSWORD), 200)
})

test('a planted text that is not a hash matches no password and causes no 500 (D5.1)', async () => {
  const { id } = await addUser(admin, 'broken')
  for (const stored of [
    '',
    ' ',
    GOOD_PASSWORD,
    '$argon2id$',
    '$argon2id$v=19$m=0,t=0,p=0$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '$argon2id$v=19$m=8,t=1,p=64$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '$argon2id$v=19$m=19456,t=2,p=1$YQ$AAAA',
    '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$A',
    '$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
    'c29tZXNhbHQ=$AAAA',
    '=$=',
  ]) {
    await plantPassword(store, id, stored)
    assert.equal(await signIn('broken', GOOD_PASSWORD), 401, stored)
    service.system.pass(300_000)
  }
})

test('a full hash queue is 503 with Retry-After, counts nothing, and the permit is held until the hash ends (D5.1)', async t => {
  const first = await startInProcess(t, { realHashes: true })
  const { name } = await addUser(await first.admin(), 'bob')
  await first.close()
  const slow = await startInProcess(t, {
    folder: first.folder,
    hashing: { cost: SLOW, limits: { concurrency: 1, queue: 0 } },
  })
  const guessUnknown = () => slow.visitor().signIn('nobody-at-all', WRONG_PASSWORD)
  const form = `auth_username=somebody&auth_password=${WRONG_PASSWORD}`
  const begin = async () => {
    const leaving = request(`${slow.base}auth/cookie`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': form.length },
    })
    leaving.on('error', () => undefined)
    await new Promise<void>(resolve => leaving.end(form, resolve))
    return leaving
  }
  // It may be overtaken, and be the one that is refused: then once more.
  const { leaving, full } = await until(
    async () => ({ leaving: await begin(), full: await slow.visitor().signIn(name, GOOD_PASSWORD) }),
    ({ full }) => full.status === 503,
  )
  assert.deepEqual([codeOf(full), full.headers['retry-after']], ['overloaded', '1'])
  const closed = new Promise(resolve => leaving.once('close', resolve))
  leaving.destroy()
  await closed
  assert.equal((await guessUnknown()).status, 503, 'the client has gone, the hash has not')
  assert.equal((await slow.visitor().get('auth/user')).status, 200, 'who asks for no hash is served meanwhile')
  assert.deepEqual(new Set(await guess(slow.visitor(), name, 8)), new Set([503]))
  const after = await until(
    () => slow.visitor().signIn(name, GOOD_PASSWORD),
    ({ status }) => status !== 503,
  )
  assert.equal(after.status, 200, 'what was not checked did not count')
})

test('with room for one in the queue, one of many waits and the rest is refused (D5.1)', async t => {
  const queued = await startInProcess(t, { hashing: { cost: SLOW, limits: { concurrency: 1, queue: 1 } } })
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => queued.visitor().signIn(`nobody-${index}`, WRONG_PASSWORD)),
  )
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter(status => status === 401).length, 2, statuses.join(', '))
  assert.equal(statuses.filter(status => status === 503).length, 10, statuses.join(', '))
})
