import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { nameLockoutKey, userLockoutKey, Lockout, UNKNOWN_NAME_PREFIX } from '../../src/accounts/lockout.ts'
import { LockedOut, StoreUnavailable } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { realSystem, type System } from '../../src/base/system.ts'
import { LoginFlows } from '../../src/features/sso/login-flows.ts'
import type { EphemeralStore } from '../../src/stores/ephemeral-store.ts'
import { openRedisEphemeralStore } from '../../src/stores/redis/redis-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { redis, startRedis } from '../support/peers/redis.ts'
import { until } from '../support/waiting.ts'

const log = createLog('silent')
const LIMIT = 5
const server = redis.available() ? await startRedis({ after }) : undefined
let databases = 0

/** Nodes that share nothing but a database of the server. */
async function openNodes(
  t: TestContext,
  count: number,
  { url = `${server?.url}${databases++}`, system = realSystem }: { url?: string; system?: System } = {},
) {
  const capacity = [{ prefix: UNKNOWN_NAME_PREFIX, max: 100 }]
  const open = async (): Promise<{ store: EphemeralStore; lockout: Lockout }> => {
    const store = await openRedisEphemeralStore(url, log, { capacity })
    t.after(() => store.close())
    return { store, lockout: new Lockout(store, system, { maxAttempts: LIMIT, duration: 60_000 }) }
  }
  return await Promise.all(Array.from({ length: count }, open))
}

const bob = userLockoutKey({ id: 'bob', unlocks: 0 })

test('of 50 parallel wrong guesses spread over two nodes exactly five are checked (D6.2)', async t => {
  if (!requirePeer(t, redis)) return
  const nodes = await openNodes(t, 2)
  const at = (index: number): Lockout => (nodes[index % 2] as { lockout: Lockout }).lockout
  for (const counted of [bob, nameLockoutKey('nobody')]) {
    let checked = 0
    const guess = (index: number) =>
      at(index).attempt(counted, async () => {
        checked++
        await until(
          () => checked,
          inProgress => inProgress >= LIMIT,
        )
        return false
      })
    const results = await Promise.allSettled(Array.from({ length: 50 }, (_, index) => guess(index)))
    assert.equal(checked, LIMIT)
    const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    assert.equal(refused.length, 45)
    for (const { reason } of refused) assert.ok(reason instanceof LockedOut, String(reason))
    for (const { lockout } of nodes) await assert.rejects(lockout.requireNotLocked(counted), LockedOut)
  }
})

test('attempts on several nodes are counted together: four wrong ones, a right one and four wrong ones cause no lock (D6.1)', async t => {
  if (!requirePeer(t, redis)) return
  const nodes = await openNodes(t, 3)
  const at = (index: number): Lockout => (nodes[index % 3] as { lockout: Lockout }).lockout
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 4; index++) await at(index).attempt(bob, async () => false)
    assert.deepEqual(await at(4).attempt(bob, async () => true), { right: true, locked: false })
  }
  for (let index = 0; index < 4; index++) await at(index).attempt(bob, async () => false)
  assert.deepEqual(await at(1).attempt(bob, async () => false), { right: false, locked: true })
  await assert.rejects(
    at(2).attempt(bob, () => assert.fail('checked during the lock')),
    LockedOut,
  )
})

test('of many nodes that consume one assertion id one succeeds, and a login flow is completed once (D8.2, D8.3)', async t => {
  if (!requirePeer(t, redis)) return
  const nodes = (await openNodes(t, 4)).map(({ store }) => new LoginFlows(store, realSystem))
  const until = realSystem.now() + 60_000
  const claims = await Promise.allSettled(nodes.map(node => node.consumeAssertionId('idp', 'assertion-1', until)))
  assert.equal(claims.filter(({ status }) => status === 'fulfilled').length, 1)
  const flow = await nodes[0]?.create({ provider: 'idp', successUrl: undefined, failureUrl: undefined }, '192.0.2.1')
  const finished = await Promise.all(nodes.map(node => node.consume(flow?.id ?? '')))
  assert.deepEqual(
    finished.filter(Boolean).map(found => found?.requestId),
    [flow?.requestId],
  )
})

test('an attempt whose result cannot be stored is rejected, is not counted and locks no user', async t => {
  if (!requirePeer(t, redis)) return
  const own = await startRedis(t)
  const [node] = await openNodes(t, 1, { url: own.url })
  assert.ok(node)
  const lost = node.lockout.attempt(bob, async () => {
    await own.kill()
    return true
  })
  await assert.rejects(lost, StoreUnavailable)
  let checked = 0
  await assert.rejects(
    node.lockout.attempt(bob, async () => ++checked > 0),
    StoreUnavailable,
  )
  assert.equal(checked, 0, 'no password is looked at that could not be counted')
  await own.restart()
  const outcome = await until(
    () => node.lockout.attempt(bob, async () => true).catch((error: unknown) => error),
    outcome => !(outcome instanceof StoreUnavailable),
  )
  assert.deepEqual(outcome, { right: true, locked: false })
})

test('guesses in progress while Redis hangs delay no user once it responds again', async t => {
  if (!requirePeer(t, redis)) return
  const own = await startRedis(t)
  // The clock of this node stands still: a reservation that is not released stays for ever.
  const [node] = await openNodes(t, 1, { url: own.url, system: new FakeSystem() })
  assert.ok(node)
  let inProgress = 0
  const checks = Array.from({ length: LIMIT }, () =>
    node.lockout.attempt(bob, async () => {
      inProgress++
      await until(
        () => inProgress,
        count => count === LIMIT,
      )
      own.freeze()
      return true
    }),
  )
  for (const { status } of await Promise.allSettled(checks)) assert.equal(status, 'rejected')
  own.thaw()
  const attempt = await until(
    () => node.lockout.attempt(bob, async () => true).catch((error: unknown) => error),
    outcome => !(outcome instanceof StoreUnavailable),
  )
  assert.deepEqual(attempt, { right: true, locked: false })
})
