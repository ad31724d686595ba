import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionOptions } from '../../src/accounts/session-options.ts'
import { handleOf, userOfHandle, digestOf, TokenSealer } from '../../src/accounts/tokens.ts'
import { unlessUnreachable, isCurrent, type Session, Sessions } from '../../src/accounts/sessions.ts'
import { StoreUnavailable } from '../../src/base/errors.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { userOf } from '../support/user.ts'

const SECOND = 1000
const client = { address: '192.0.2.7', userAgent: 'test' }
const [bob, eve] = [userOf('bob'), userOf('eve')]

function open(options: Partial<SessionOptions> = {}) {
  const system = new FakeSystem()
  const store = new MemoryEphemeralStore(system)
  const sealer = new TokenSealer([system.randomBytes(32)], system)
  const sessions = new Sessions(store, sealer, system, {
    maxAge: 100,
    refreshOnAccess: true,
    absoluteMaxAge: -1,
    maxPerUser: 100,
    accessInterval: 0,
    ...options,
  })
  return { sessions, system, store }
}

test('a session holds what its sign-in stated, and nothing that it did not state', async () => {
  const { sessions, system } = open()
  const now = system.now()
  const plain = await sessions.open(userOf('bob', { epoch: 3 }), { ...client, device: 'secret' })
  const common = { userId: 'bob', epoch: 3, loginTime: system.preciseNow(), lastAccess: now, cookieSent: now, client }
  const { token, id = token, ...rest } = plain
  assert.deepEqual(JSON.parse(JSON.stringify(rest)), {
    ...common,
    expires: now + 100 * SECOND,
    maxAge: 100,
    endsWithBrowser: false,
  })
  assert.ok(!id.includes(token))
  const stated = {
    notAfter: now + 50 * SECOND,
    provider: 'saml',
    hasSecondFactor: true,
    hasProviderFactor: true,
    providerSession: 'at the provider',
  } as const
  const full = await sessions.open(bob, client, { ...stated, maximum: 60 })
  const { sealed: _sealed, ...shown } = full as Session & { readonly sealed: string }
  assert.deepEqual(JSON.parse(JSON.stringify(shown)), {
    ...common,
    ...stated,
    epoch: 1,
    token: full.token,
    id: full.id,
    expires: now + 50 * SECOND,
    maxAge: 60,
    endsWithBrowser: false,
  })
  for (const session of [plain, full]) assert.deepEqual(await sessions.find(session.token), session)
  const unproven = await sessions.open(bob, client, { hasSecondFactor: false, hasProviderFactor: false })
  assert.deepEqual([unproven.hasSecondFactor, unproven.hasProviderFactor], [undefined, undefined])
})

test('the store forgets a session at its end, and lists of sessions when none of them can live any more', async () => {
  const { sessions, system, store } = open({ absoluteMaxAge: 500 })
  const held = async (): Promise<string[]> => {
    const kinds: string[] = []
    for await (const [key] of store.scan('')) kinds.push(key.split(':')[0] ?? '')
    return kinds.sort()
  }
  const session = await sessions.open(bob, client, { logoutKeys: ['key'] })
  system.pass(40 * SECOND)
  await sessions.noteAccess(session, true)
  await sessions.noteAccess(session, false)
  system.pass(30 * SECOND)
  await sessions.noteProof(session, false)
  system.pass(70 * SECOND - 1)
  assert.deepEqual(await held(), ['session', 'sessions-by-key', 'sessions-of'])
  system.pass(1)
  assert.deepEqual(await held(), ['sessions-by-key', 'sessions-of'])
  system.pass(360 * SECOND)
  assert.deepEqual(await held(), [])
})

test('the end of a session after this request is known before the request ends', async () => {
  for (const [refreshOnAccess, left] of [
    [true, 100],
    [false, 60],
  ] as const) {
    const { sessions, system } = open({ refreshOnAccess })
    const session = await sessions.open(bob, client)
    system.pass(40 * SECOND)
    assert.equal(sessions.expiryAfterAccess(session), system.now() + left * SECOND)
  }
})

test('a proof is noted with its time, and as a second factor only where it was one (D28)', async () => {
  const { sessions, system } = open()
  const session = await sessions.open(bob, client)
  system.pass(SECOND)
  await sessions.noteProof(session, false)
  const proven = await sessions.find(session.token)
  assert.deepEqual(proven, { ...session, authenticated: system.now() })
  system.pass(SECOND)
  await sessions.noteProof(session, true)
  assert.deepEqual(await sessions.find(session.token), {
    ...session,
    authenticated: system.now(),
    hasSecondFactor: true,
  })
  await sessions.end(session.token)
  await sessions.noteProof(session, true)
  assert.equal(await sessions.find(session.token), undefined)
})

test('the cookie is renewed from exactly a twentieth of its life on, and never one that ends with the browser (D2.5)', async () => {
  for (const [passed, isSent] of [
    [4999, false],
    [5000, true],
  ] as const) {
    const { sessions, system } = open()
    const session = await sessions.open(bob, client)
    system.pass(passed)
    const renewed = await sessions.noteAccess(session, true)
    const now = system.now()
    const expected = { ...session, lastAccess: now, cookieSent: now, expires: now + 100 * SECOND }
    assert.deepEqual(renewed, isSent ? expected : undefined)
    assert.equal((await sessions.find(session.token))?.cookieSent, isSent ? now : session.cookieSent)
  }
  const { sessions, system } = open({ maxAge: -1 })
  const session = await sessions.open(bob, client)
  system.pass(86_000 * SECOND)
  assert.equal(await sessions.noteAccess(session, true), undefined)
  assert.equal((await sessions.find(session.token))?.cookieSent, system.now())
  assert.equal(sessions.cookieMaxAge(session), undefined)
})

test('sessions of all users are listed with the latest login first, and counted', async () => {
  const { sessions, system } = open()
  const first = await sessions.open(bob, client)
  system.pass(SECOND)
  const second = await sessions.open(eve, client)
  system.pass(SECOND)
  const third = await sessions.open(bob, client, { requested: 1 })
  assert.deepEqual(await sessions.listAll(), [third, second, first])
  assert.equal(await sessions.count(), 3)
  system.pass(SECOND)
  assert.deepEqual(await sessions.listAll(), [second, first])
  assert.equal(await sessions.count(), 2)
})

test('with a handle a session can be found and ended, and not be used (D3.3)', async () => {
  const { sessions } = open()
  const [one, other] = [await sessions.open(bob, client), await sessions.open(bob, client)]
  const handle = handleOf(other)
  assert.match(handle, /^[\da-f]{64}\.bob$/)
  assert.deepEqual([userOfHandle(handle), userOfHandle(other.token), userOfHandle('.x')], ['bob', undefined, undefined])
  assert.notEqual(handleOf({ ...other, token: one.token }), handle)
  assert.equal(await sessions.find(handle), undefined)
  assert.deepEqual(await sessions.findByHandle(handle), other)
  const wrong = [
    other.token,
    '',
    '.',
    `x.bob`,
    handle.replace('.bob', '.eve'),
    handle.replace('.bob', '.'),
    `x${handle}`,
  ]
  for (const text of wrong) {
    assert.equal(await sessions.findByHandle(text), undefined, text)
    assert.equal(await sessions.endByHandle(text), false, text)
  }
  assert.deepEqual([await sessions.endByHandle(handle), await sessions.endByHandle(handle)], [true, false])
  assert.deepEqual(await sessions.list(bob), [one])
})

test('a logout key ends its sessions once, and further ones of the same users where it is asked to (D19.11)', async () => {
  const { sessions, store } = open()
  const named = await sessions.open(bob, client, { logoutKeys: ['key', 'other key'], provider: 'saml' })
  const further = await sessions.open(bob, client, { provider: 'saml' })
  const kept = await sessions.open(bob, client)
  const others = await sessions.open(eve, client, { provider: 'saml' })
  const dead = await sessions.open(bob, client, { logoutKeys: ['key'] })
  await sessions.end(dead.token)
  const isOfProvider = (session: Session): boolean => session.provider === 'saml'
  assert.deepEqual(await sessions.endByLogoutKey('unknown', isOfProvider), [])
  assert.deepEqual(await sessions.endByLogoutKey('key', isOfProvider), [
    { id: named.id, userId: 'bob' },
    { id: further.id, userId: 'bob' },
  ])
  assert.deepEqual(await sessions.endByLogoutKey('key', isOfProvider), [])
  assert.deepEqual(await sessions.endByLogoutKey('other key'), [], 'the session has ended by another key')
  assert.deepEqual(await sessions.list(bob), [kept])
  assert.deepEqual(await sessions.list(eve), [others])
  assert.deepEqual(await store.get('sessions-of:bob'), [kept.id])
  const last = await sessions.open(eve, client, { logoutKeys: ['last'] })
  assert.deepEqual(await sessions.endByLogoutKey('last'), [{ id: last.id, userId: 'eve' }])
  assert.deepEqual(await sessions.list(eve), [others])
})

test('a session that ends leaves the list of its user; exactly as many as allowed stay', async () => {
  const { sessions, store, system } = open({ maxPerUser: 2 })
  const [first, second] = [await sessions.open(bob, client), await sessions.open(bob, client)]
  assert.deepEqual(await store.get('sessions-of:bob'), [first.id, second.id])
  const third = await sessions.open(bob, client)
  assert.deepEqual(await store.get('sessions-of:bob'), [second.id, third.id])
  assert.equal(await store.get(`session:${first.id}`), undefined)
  await sessions.end(third.token)
  assert.deepEqual(await store.get('sessions-of:bob'), [second.id])
  const short = await sessions.open(bob, client, { requested: 1 })
  system.pass(SECOND)
  const next = await sessions.open(bob, client)
  assert.deepEqual(await store.get('sessions-of:bob'), [second.id, next.id], `${short.id} has run out`)
  await sessions.endAll('bob', next)
  assert.deepEqual(await store.get('sessions-of:bob'), [next.id])
  await sessions.endAll('bob')
  assert.equal(await store.get('sessions-of:bob'), undefined)
  await sessions.endAll('nobody')
})

test('a session is over at the moment of its end, also where its store keeps it longer', async () => {
  const { sessions, system } = open({ refreshOnAccess: false })
  const { token } = await sessions.open(bob, client)
  // The store counts with the other clock.
  system.jump(100 * SECOND - 1)
  assert.ok(await sessions.find(token))
  system.jump(1)
  assert.equal(await sessions.find(token), undefined)
})

test('clearing away ends the sessions, and fails nothing while the store is away; other errors are thrown', async () => {
  const { sessions, store } = open()
  const [kept, other] = [await sessions.open(bob, client), await sessions.open(bob, client)]
  await sessions.clearAway('bob', kept)
  assert.deepEqual(await sessions.list(bob), [kept])
  assert.equal(await sessions.find(other.token), undefined)
  store.update = () => Promise.reject(new StoreUnavailable('away'))
  await sessions.clearAway('bob')
  assert.equal(unlessUnreachable(new StoreUnavailable('x')), undefined)
  const broken = new Error('broken')
  assert.throws(() => unlessUnreachable(broken), broken)
})

test('a user with a second factor keeps the sessions that have proven one, and the one that added it (D28.4)', async () => {
  const { sessions } = open()
  const plain = await sessions.open(bob, client)
  const proven = await sessions.open(bob, client, { hasSecondFactor: true })
  const careful = userOf('bob', { hasSecondFactor: true })
  assert.deepEqual([isCurrent(plain, bob), isCurrent(proven, bob)], [true, true])
  assert.deepEqual([isCurrent(plain, careful), isCurrent(proven, careful)], [false, true])
  assert.equal(isCurrent(plain, { ...careful, keptSessionDigest: digestOf(plain.token) }), true)
  assert.equal(isCurrent(proven, { ...careful, epoch: 2 }), false)
})
