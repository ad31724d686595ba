import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'

type Store = MemoryEphemeralStore
type Options = ConstructorParameters<typeof MemoryEphemeralStore>[1]

const open = (options?: Options) => {
  const clock = { now: 5 }
  const system = {
    now: () => 0,
    preciseNow: () => 0,
    monotonic: () => clock.now,
    randomBytes: (count: number) => new Uint8Array(count),
  }
  return { store: new MemoryEphemeralStore(system, options), clock }
}
const keys = async (store: Store): Promise<string[]> => {
  const found = []
  for await (const [key] of store.scan('')) found.push(key)
  return found
}

test('a record has expired at the end of its lifetime, and one unit earlier it has not, for every operation', async () => {
  for (const [passed, isThere] of [
    [99, true],
    [100, false],
    [101, false],
  ] as const) {
    const { store, clock } = open()
    for (const key of ['a:get', 'a:take', 'a:update', 'a:add']) await store.add(key, key, 100)
    clock.now += passed
    assert.equal(await store.count('a:'), isThere ? 4 : 0)
    assert.equal((await keys(store)).length, isThere ? 4 : 0)
    assert.equal(await store.get('a:get'), isThere ? 'a:get' : undefined)
    assert.equal(await store.take('a:take'), isThere ? 'a:take' : undefined)
    const seen: unknown[] = []
    await store.update('a:update', old => {
      seen.push(old)
      return old === undefined ? undefined : { value: old }
    })
    assert.deepEqual(seen, isThere ? ['a:update'] : [undefined])
    assert.equal(await store.add('a:add', 'again', 100), !isThere)
    await store.close()
  }
})

test('a timer deletes what has expired, as often as it is told, and begins again with the next record', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  for (const [options, interval] of [
    [undefined, 10_000],
    [{ sweepInterval: 7 }, 7],
  ] as const) {
    const { store, clock } = open(options)
    for (let round = 0; round < 3; round++) {
      await store.add('a', 1, 10)
      await store.add('b', 1, 1000)
      clock.now += 10
      t.mock.timers.tick(interval - 1)
      assert.equal(store.size, 2)
      t.mock.timers.tick(1)
      assert.deepEqual([store.size, await keys(store)], [1, ['b']])
      clock.now += 990
      t.mock.timers.tick(interval)
      assert.equal(store.size, 0)
    }
    await store.update('c', () => ({ value: 1, ttl: 10 }))
    clock.now += 10
    t.mock.timers.tick(interval)
    assert.equal(store.size, 0)
    await store.close()
  }
})

test('a store that is closed has no timer any more', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { store, clock } = open()
  await store.add('a', 1, 10)
  const before = store.size
  await store.close()
  const closed = store.size
  clock.now += 10
  t.mock.timers.tick(1000)
  assert.deepEqual([before, store.size], [1, closed])
})

test('records of limited kinds are counted and listed with all others, and each kind has its own limit', async () => {
  const limits = [
    { prefix: 'a:', max: 2 },
    { prefix: 'b:', max: 1 },
  ]
  const { store } = open({ capacity: limits })
  for (const key of ['a:1', 'a:2', 'a:3', 'b:1', 'b:2', 'c:1', 'c:2', 'c:3']) await store.add(key, key, 100)
  assert.deepEqual((await keys(store)).sort(), ['a:2', 'a:3', 'b:2', 'c:1', 'c:2', 'c:3'])
  assert.deepEqual([store.size, await store.count(''), await store.count('a:'), await store.count('b:')], [6, 6, 2, 1])
  await store.close()
})

test('a store in the memory of this process holds nothing after its end', async () => {
  const store = new MemoryEphemeralStore({
    now: () => 0,
    preciseNow: () => 0,
    monotonic: () => 0,
    randomBytes: count => new Uint8Array(count),
  })
  await store.add('a', 1, 100)
  await store.close()
  assert.deepEqual([store.size, await store.get('a')], [0, undefined])
})
