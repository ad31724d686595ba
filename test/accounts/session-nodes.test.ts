import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionOptions } from '../../src/accounts/session-options.ts'
import { idOf, Sessions } from '../../src/accounts/sessions.ts'
import { digestOf, TokenSealer } from '../../src/accounts/tokens.ts'
import { StoreUnavailable } from '../../src/base/errors.ts'
import type { EphemeralStore } from '../../src/stores/ephemeral-store.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { userOf } from '../support/user.ts'

const client = { address: '192.0.2.7', userAgent: 'test' }
const SECOND = 1000
const bob = userOf('bob')

/** A store that can go out of reach, and counts the changes it makes. */
function switchable(store: EphemeralStore) {
  const state = { isAway: false, writes: 0 }
  const writing = new Set<PropertyKey>(['add', 'update', 'take'])
  const proxy = new Proxy(store, {
    get(target, name) {
      const verb: unknown = Reflect.get(target, name)
      if (typeof verb !== 'function') return verb
      return (...values: unknown[]): unknown => {
        if (state.isAway) return Promise.reject(new StoreUnavailable('away'))
        if (writing.has(name)) state.writes++
        return verb.apply(target, values)
      }
    },
  })
  return { store: proxy, state }
}

/** Two nodes on one store, to which they write an access now and then. */
function openNodes(options: Partial<SessionOptions> = {}) {
  const system = new FakeSystem()
  const shared = new MemoryEphemeralStore(system)
  const vault = new TokenSealer([system.randomBytes(32)], system)
  const { store, state } = switchable(shared)
  const node = (): Sessions =>
    new Sessions(store, vault, system, {
      maxAge: 1000,
      refreshOnAccess: true,
      absoluteMaxAge: -1,
      maxPerUser: 100,
      accessInterval: 40 * SECOND,
      ...options,
    })
  return { a: node(), b: node(), system, state, shared }
}

test('an access is written when the one in the store has become old (D37.5)', async () => {
  const { a, b, system, state } = openNodes({ maxAge: 100_000 })
  const { token } = await a.open(bob, client)
  const before = state.writes
  for (let count = 0; count < 80; count++) {
    system.pass(SECOND)
    await a.noteAccess((await a.find(token)) ?? assert.fail('the session is gone'), true)
    assert.equal(state.writes - before, Math.floor((count + 1) / 40))
  }
  assert.equal((await b.find(token))?.lastAccess, system.now())
  assert.equal((await b.find(token))?.expires, system.now() + 100_000 * SECOND)
})

test('what prolongs a login by a twentieth of its life is written at once, also where the cookie ends with the browser', async () => {
  for (const maxAge of [1000, -1]) {
    const { a, b, system } = openNodes({ maxAge })
    const session = await a.open(bob, client)
    system.pass(0.9 * (session.expires - session.loginTime))
    const renewed = await a.noteAccess(session, true)
    assert.equal(renewed === undefined, maxAge === -1)
    system.pass(0.5 * (session.expires - session.loginTime))
    assert.ok(await b.find(session.token), `max age ${maxAge}`)
  }
})

const ORDERS = ['ab', 'ba'] as const

/** A session that was used on both nodes at once, later on node b, which have written this in the given order. */
async function usedOnBoth(order: (typeof ORDERS)[number]) {
  const nodes = openNodes()
  const { a, b, system } = nodes
  const session = await a.open(bob, client)
  const seen = { ...session }
  system.pass(45 * SECOND)
  const early = system.now()
  const late = early + 2 * SECOND
  for (const node of order) {
    system.pass((node === 'a' ? early : late) - system.now())
    await (node === 'a' ? a : b).noteAccess(seen, true)
  }
  system.pass(late - system.now())
  return { ...nodes, session }
}

test('notes of two nodes, written in either order, leave the later access', async () => {
  for (const order of ORDERS) {
    const { a, session, system } = await usedOnBoth(order)
    assert.equal((await a.find(session.token))?.lastAccess, system.now(), order)
  }
})

test('the end of a session never moves back, whichever node writes last (D2.6)', async () => {
  for (const order of ORDERS) {
    const { a, session, system } = await usedOnBoth(order)
    assert.equal((await a.find(session.token))?.expires, system.now() + 1000 * SECOND, order)
  }
})

test('a login that was ended on one node is dead on the other at once, and no late note brings it back (D3.5)', async () => {
  const { a, b, system, shared } = openNodes()
  const session = await a.open(bob, client)
  system.pass(SECOND)
  await a.noteAccess(session, true)
  assert.equal(await b.end(session.token), true)
  assert.equal(await a.find(session.token), undefined)
  system.pass(45 * SECOND)
  await a.noteAccess(session, true)
  assert.equal(await a.find(session.token), undefined)
  assert.equal(shared.size, 0)
})

test('while the store is out of reach no access is written; the next one is, when it is back', async () => {
  const { a, b, system, state } = openNodes()
  const session = await a.open(bob, client)
  state.isAway = true
  await assert.rejects(async () => await a.find(session.token), StoreUnavailable)
  system.pass(100 * SECOND)
  assert.equal(await a.noteAccess(session, true), undefined, 'no cookie for what is not written')
  state.isAway = false
  assert.equal((await b.find(session.token))?.lastAccess, session.lastAccess)
  assert.ok(await a.noteAccess(session, true))
  assert.equal((await b.find(session.token))?.lastAccess, system.now())
})

test('a change of password that is done counts, also when the store is lost after it', async () => {
  const { a, b, state } = openNodes()
  const [own, other] = [await a.open(bob, client), await a.open(bob, client)]
  const changed = { ...bob, epoch: 2, keptSessionDigest: digestOf(own.token) }
  state.isAway = true
  await a.clearAway('bob', own)
  state.isAway = false
  assert.ok(await b.find(other.token), 'it is still there')
  assert.deepEqual(
    (await b.list(changed)).map(({ token }) => token),
    [own.token],
  )
})

test('an attacker who can write to the store cannot turn a user’s session into another’s', async () => {
  const { a, shared } = openNodes()
  const session = await a.open(bob, client)
  await shared.update<Record<string, unknown>>(`session:${session.id}`, old => ({
    value: { ...old, userId: '_admin' },
  }))
  assert.equal(await a.find(session.token), undefined)
  await shared.update<unknown>('sessions-of:_admin', () => ({ value: [session.id], ttl: SECOND }))
  assert.deepEqual(await a.list({ ...bob, id: '_admin' }), [])
})

test('the store contains no token, and its ids cannot be used as tokens', async () => {
  const { a, shared } = openNodes()
  const session = await a.open(bob, client)
  for await (const pair of shared.scan('')) assert.equal(JSON.stringify(pair).includes(session.token), false)
  assert.equal(await a.find(idOf(session)), undefined)
})

test('a single logout at one node ends the login that another node opened, once (D19.11)', async () => {
  const { a, b } = openNodes()
  const [session, other] = [await a.open(bob, client, { logoutKeys: ['cas ST-1'] }), await a.open(bob, client)]
  assert.deepEqual(await b.endByLogoutKey('cas ST-2'), [])
  assert.deepEqual(await b.endByLogoutKey('cas ST-1'), [{ id: session.id, userId: bob.id }])
  assert.deepEqual(await b.endByLogoutKey('cas ST-1'), [])
  assert.equal(await a.find(session.token), undefined)
  assert.deepEqual(
    (await a.list(bob)).map(({ id }) => id),
    [other.id],
  )
})
