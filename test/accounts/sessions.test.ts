import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionOptions } from '../../src/accounts/session-options.ts'
import { isCurrent, Sessions } from '../../src/accounts/sessions.ts'
import { digestOf, TokenSealer } from '../../src/accounts/tokens.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { userOf } from '../support/user.ts'

const SECOND = 1000
const client = { address: '192.0.2.7', userAgent: 'test' }
const bob = userOf('bob')

function open(options: Partial<SessionOptions> = {}) {
  const system = new FakeSystem()
  const store = new MemoryEphemeralStore(system)
  const sessions = new Sessions(store, new TokenSealer([system.randomBytes(32)], system), system, {
    maxAge: 100,
    refreshOnAccess: true,
    absoluteMaxAge: -1,
    maxPerUser: 100,
    accessInterval: 0,
    ...options,
  })
  return { sessions, system, store }
}

test('a token has 256 bits from the secure source, in URL-safe characters, and no two are alike (D2.5)', async () => {
  const { sessions } = open()
  const tokens = new Set<string>()
  for (let count = 0; count < 50; count++) tokens.add((await sessions.open(userOf(`u${count}`), client)).token)
  assert.equal(tokens.size, 50)
  for (const token of tokens) assert.match(token, /^[A-Za-z0-9_-]{43}$/)
})

test('a login lasts its max age and not a millisecond longer (I3.1)', async () => {
  const { sessions, system } = open({ refreshOnAccess: false })
  const { token } = await sessions.open(bob, client)
  system.pass(100 * SECOND - 1)
  assert.ok(await sessions.find(token))
  system.pass(1)
  assert.equal(await sessions.find(token), undefined)
})

test('a requested max age shortens the login, and above the configured one is capped to it (D2.3)', async () => {
  const { sessions, system } = open()
  for (const [requested, life] of [
    [1, 1],
    [99, 99],
    [100, 100],
    [101, 100],
    [Number.POSITIVE_INFINITY, 100],
  ] as const) {
    const session = await sessions.open(bob, client, { requested })
    assert.equal(session.expires, system.now() + life * SECOND)
    assert.equal(sessions.cookieMaxAge(session), life)
  }
})

test('max-age -1: the server keeps the login a day, and auth_maxage can only shorten that (D2.5)', async () => {
  const { sessions, system } = open({ maxAge: -1 })
  assert.equal((await sessions.open(bob, client)).endsWithBrowser, true)
  assert.equal((await sessions.open(bob, client)).expires, system.now() + 86_400 * SECOND)
  assert.equal((await sessions.open(bob, client, { requested: 10 })).expires, system.now() + 10 * SECOND)
  assert.equal((await sessions.open(bob, client, { requested: 1e9 })).expires, system.now() + 86_400 * SECOND)
})

test('a successful access prolongs by the max age of that login, a failed one only counts as access (I3.1)', async () => {
  const { sessions, system } = open()
  const opened = await sessions.open(bob, client, { requested: 50 })
  system.pass(40 * SECOND)
  await sessions.noteAccess(opened, false)
  const refused = await sessions.find(opened.token)
  assert.equal(refused?.expires, opened.expires)
  assert.equal(refused?.lastAccess, system.now())
  await sessions.noteAccess(opened, true)
  assert.equal((await sessions.find(opened.token))?.expires, system.now() + 50 * SECOND)
})

test('with refresh off an access is noted and nothing is prolonged or sent again (D2.6)', async () => {
  const { sessions, system } = open({ refreshOnAccess: false })
  const opened = await sessions.open(bob, client)
  system.pass(99 * SECOND)
  assert.equal(await sessions.noteAccess(opened, true), undefined)
  assert.equal((await sessions.find(opened.token))?.lastAccess, system.now())
  system.pass(SECOND)
  assert.equal(await sessions.find(opened.token), undefined)
})

test('no number of accesses carries a login over its absolute cap, nor does the cookie promise it (D2.6)', async () => {
  const { sessions, system } = open({ absoluteMaxAge: 250 })
  const { token } = await sessions.open(bob, client)
  for (let passed = 0; passed < 249; passed++) {
    system.pass(SECOND)
    const session = await sessions.find(token)
    assert.ok(session, `after ${passed + 1} s`)
    const renewed = await sessions.noteAccess(session, true)
    if (renewed) assert.ok((sessions.cookieMaxAge(renewed) ?? Infinity) <= 250 - passed - 1)
  }
  system.pass(SECOND)
  assert.equal(await sessions.find(token), undefined)
  assert.deepEqual(await sessions.list(bob), [])
})

test('a cap below the max age shortens the login from the start (D2.6)', async () => {
  const { sessions, system } = open({ absoluteMaxAge: 30 })
  const session = await sessions.open(bob, client)
  assert.equal(session.expires, system.now() + 30 * SECOND)
  assert.equal(sessions.cookieMaxAge(session), 30)
})

test('one session more than allowed ends the oldest of that user, and no other (D2.6)', async () => {
  const { sessions, system } = open({ maxPerUser: 3 })
  const other = await sessions.open(userOf('eve'), client)
  const tokens: string[] = []
  for (let count = 0; count < 5; count++) {
    tokens.push((await sessions.open(bob, client)).token)
    system.pass(SECOND)
  }
  assert.deepEqual(
    (await sessions.list(bob)).map(({ token }) => token),
    tokens.slice(2),
  )
  assert.equal(await sessions.find(tokens[0] ?? ''), undefined)
  assert.equal(await sessions.find(tokens[1] ?? ''), undefined)
  assert.ok(await sessions.find(other.token))
})

test('logins that have run out make room before a live one has to (D2.6)', async () => {
  const { sessions, system } = open({ maxPerUser: 2 })
  const oldest = await sessions.open(bob, client)
  await sessions.open(bob, client, { requested: 1 })
  system.pass(2 * SECOND)
  const newest = await sessions.open(bob, client)
  assert.deepEqual(
    (await sessions.list(bob)).map(({ token }) => token),
    [oldest.token, newest.token],
  )
})

test('of many logins at once just as many stay as are allowed (D2.6)', async () => {
  const { sessions } = open({ maxPerUser: 5 })
  const opened = await Promise.all(Array.from({ length: 40 }, () => sessions.open(bob, client)))
  assert.equal((await sessions.list(bob)).length, 5)
  const found = await Promise.all(opened.map(async ({ token }) => await sessions.find(token)))
  assert.equal(found.filter(session => session !== undefined).length, 5)
})

test('ending reports once whether the session was live', async () => {
  const { sessions, system } = open()
  const { token } = await sessions.open(bob, client)
  assert.equal(await sessions.end(token), true)
  assert.equal(await sessions.end(token), false)
  assert.equal(await sessions.end('no-such-token'), false)
  const short = await sessions.open(bob, client, { requested: 1 })
  system.pass(SECOND)
  assert.equal(await sessions.end(short.token), false)
})

test('ending all spares the one named, and other people (D3.3)', async () => {
  const { sessions } = open()
  const kept = await sessions.open(bob, client)
  await sessions.open(bob, client)
  const other = await sessions.open(userOf('eve'), client)
  await sessions.endAll('bob', kept)
  assert.deepEqual(
    (await sessions.list(bob)).map(({ token }) => token),
    [kept.token],
  )
  await sessions.endAll('bob')
  assert.deepEqual(await sessions.list(bob), [])
  assert.ok(await sessions.find(other.token))
})

test('a login that has ended is not brought back by the request that was on its way (I3.1)', async () => {
  const { sessions } = open()
  const session = await sessions.open(bob, client)
  await sessions.end(session.token)
  assert.equal(await sessions.noteAccess(session, true), undefined)
  assert.equal(await sessions.find(session.token), undefined)
})

test('a raised epoch takes every login out of the list but the one that raised it (D5.3)', async () => {
  const { sessions } = open()
  const kept = await sessions.open(bob, client)
  const other = await sessions.open(bob, client)
  const raised = userOf('bob', { epoch: 2, keptSessionDigest: digestOf(kept.token) })
  assert.deepEqual([isCurrent(kept, bob), isCurrent(other, bob)], [true, true])
  assert.deepEqual([isCurrent(kept, raised), isCurrent(other, raised)], [true, false])
  assert.deepEqual(
    (await sessions.list(raised)).map(({ token }) => token),
    [kept.token],
  )
  assert.deepEqual(await sessions.list(userOf('bob', { epoch: 3 })), [], 'another change spares no one')
})

test('the browser gets the cookie again before a twentieth of its life is gone by, and not at every request (D2.5)', async () => {
  const { sessions, system } = open()
  let session = await sessions.open(bob, client)
  const gaps: number[] = []
  let last = system.now()
  for (let count = 0; count < 400; count++) {
    system.pass(SECOND)
    const renewed = await sessions.noteAccess(session, true)
    if (renewed) {
      assert.equal(sessions.cookieMaxAge(renewed), 100)
      gaps.push(system.now() - last)
      last = system.now()
    }
    const found = await sessions.find(session.token)
    assert.ok(found)
    session = found
  }
  assert.ok(gaps.length > 0)
  assert.ok(Math.max(...gaps) <= 6 * SECOND)
  assert.ok(Math.min(...gaps) >= 2 * SECOND)
})

test('memory holds nothing of a user once all the logins have ended', async () => {
  const { sessions, store } = open()
  const opened = await Promise.all([1, 2, 3].map(() => sessions.open(bob, client)))
  for (const { token } of opened) await sessions.end(token)
  assert.equal(store.size, 0)
})
