import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { StartupError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import type { Capacity, EphemeralStore } from '../../src/stores/ephemeral-store.ts'
import { openRedisEphemeralStore } from '../../src/stores/redis/redis-ephemeral-store.ts'
import { ephemeralStoreSuite } from '../conformance/ephemeral-store.ts'
import { after } from '../support/after.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { redis, startRedis } from '../support/peers/redis.ts'
import { age, aged } from '../support/redis-age.ts'

const LONG = 60_000
const log = createLog('silent')
let databases = 0
const server = redis.available() ? await startRedis({ after }) : undefined

/** Each store in a database of its own, on one server. */
const freshUrl = (): string => `${server?.url}${databases++}`

async function open(t: TestContext, url: string, capacity: readonly Capacity[] = []): Promise<EphemeralStore> {
  const store = await openRedisEphemeralStore(url, log, { capacity })
  t.after(() => store.close())
  return store
}

if (server) {
  const openAged = async (capacity: readonly Capacity[]) => {
    const database = databases
    return {
      store: await openRedisEphemeralStore(freshUrl(), log, { capacity }),
      pass: async (duration: number) => {
        age(server, database, duration)
        await aged()
      },
    }
  }
  ephemeralStoreSuite('Redis', () => openAged([]))
  ephemeralStoreSuite('Redis, keys of a bounded kind', () => openAged([{ prefix: '', max: 1000 }]))
} else {
  test('the rules of a store of forgettable facts, by Redis', t => void requirePeer(t, redis))
}

test('50 parallel updates of one key from each of three nodes lose none', async t => {
  if (!requirePeer(t, redis)) return
  const url = freshUrl()
  const nodes = await Promise.all([1, 2, 3].map(() => open(t, url)))
  const increase = async (node: EphemeralStore) =>
    await node.update<number>('a:1', (old = 0) => ({ value: old + 1, ttl: LONG }))
  const results = await Promise.all(nodes.flatMap(node => Array.from({ length: 50 }, () => increase(node))))
  assert.equal(await nodes[0]?.get('a:1'), 150)
  assert.equal(new Set(results).size, 150)
})

test('of two nodes one adds, one takes', async t => {
  if (!requirePeer(t, redis)) return
  const url = freshUrl()
  const nodes = await Promise.all([1, 2].map(() => open(t, url)))
  const added = await Promise.all(nodes.map(node => node.add('a:1', 'x', LONG)))
  assert.deepEqual(new Set(added), new Set([false, true]))
  const taken = await Promise.all(nodes.map(node => node.take('a:1')))
  assert.deepEqual(new Set(taken), new Set(['x', undefined]))
})

test('of a bounded kind as many as allowed are kept; others are not counted, and what is taken makes room', async t => {
  if (!requirePeer(t, redis)) return
  const store = await open(t, freshUrl(), [{ prefix: 'name:', max: 10 }])
  const names = async (): Promise<string[]> => {
    const found = []
    for await (const [key] of store.scan('name:')) found.push(key)
    return found.sort()
  }
  for (let index = 10; index < 15; index++) await store.add(`name:${index}`, index, LONG + index)
  for (let index = 15; index < 40; index++)
    await store.update(`name:${index}`, () => ({ value: index, ttl: LONG + index }))
  for (let index = 10; index < 40; index++) await store.add(`user:${index}`, index, LONG)
  assert.deepEqual(
    await names(),
    Array.from({ length: 10 }, (_, index) => `name:${30 + index}`),
  )
  assert.equal(await store.get('user:10'), 10)
  await store.take('name:39')
  await store.update('name:38', () => undefined)
  for (const name of ['name:50', 'name:51']) await store.add(name, 1, LONG * 2)
  assert.equal((await names()).length, 10)
  assert.ok((await names()).includes('name:30'))
})

test('expired entries do not count towards the capacity', async t => {
  if (!requirePeer(t, redis)) return
  const database = databases
  const store = await open(t, freshUrl(), [{ prefix: 'name:', max: 2 }])
  await store.add('name:long', 1, 2 * LONG)
  for (let index = 0; index < 5; index++) await store.add(`name:${index}`, index, 1000)
  if (server) age(server, database, 1000)
  await aged()
  await store.add('name:next', 1, LONG)
  assert.deepEqual([await store.get('name:long'), await store.get('name:next')], [1, 1])
})

test('an entry whose life was left as it was still ends, and one that never was is not kept', async t => {
  if (!requirePeer(t, redis)) return
  const database = databases
  const store = await open(t, freshUrl())
  await store.add('a:1', 1, LONG)
  await store.update<number>('a:1', (old = 0) => ({ value: old + 1 }))
  await store.update('a:2', () => ({ value: 1 }))
  assert.deepEqual([await store.get('a:1'), await store.get('a:2')], [2, undefined])
  if (server) age(server, database, LONG)
  await aged()
  assert.equal(await store.get('a:1'), undefined)
})

test('a lifetime of no whole number of milliseconds is rounded up, and what has none left is not kept', async t => {
  if (!requirePeer(t, redis)) return
  const store = await open(t, freshUrl())
  for (const [key, ttl] of [
    ['a:1', 0.2],
    ['a:2', -5],
    ['a:3', LONG + 0.5],
  ] as const)
    assert.equal(await store.add(key, 1, ttl), true, String(ttl))
  assert.equal(await store.get('a:3'), 1)
  await store.update('a:4', () => ({ value: 1, ttl: LONG + 0.5 }))
  await store.update('a:5', () => ({ value: 1, ttl: 0 }))
  assert.deepEqual([await store.get('a:4'), await store.get('a:5')], [1, undefined])
})

test('a start without Redis ends with a message that names the place and not the password', async t => {
  if (!requirePeer(t, redis)) return
  const { port } = await startRedis(t, { password: 'right-secret' })
  const nobody = await freePort()
  for (const url of [
    `redis://someone:wrong-secret@127.0.0.1:${nobody}/3`,
    `redis://:wrong-secret@127.0.0.1:${port}/3`,
    `redis://:right-secret@127.0.0.1:${port}/no-number`,
    `redis://:right-secret@127.0.0.1:${port}/5000`,
  ]) {
    await assert.rejects(openRedisEphemeralStore(url, log), error => {
      assert.ok(error instanceof StartupError, String(error))
      assert.match(error.message, /^Redis at 127\.0\.0\.1:\d+\/\S+ cannot be used: /)
      assert.doesNotMatch(`${error.message}${error.stack}`, /secret/)
      return true
    })
  }
})

test('a start at a server that stands still ends too', async t => {
  if (!requirePeer(t, redis)) return
  const frozen = await startRedis(t)
  frozen.freeze()
  await assert.rejects(openRedisEphemeralStore(frozen.url, log), StartupError)
  frozen.thaw()
})
