import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { System } from '../../src/base/system.ts'
import type { Milliseconds } from '../../src/base/units.ts'
import { MemoryEphemeralStore, type MemoryEphemeralStoreOptions } from '../../src/stores/memory-ephemeral-store.ts'
import { ephemeralStoreSuite } from '../conformance/ephemeral-store.ts'
import { eventually } from '../support/waiting.ts'

interface Stopped {
  readonly store: MemoryEphemeralStore
  readonly pass: (duration: Milliseconds) => Promise<void>
}

/** A store whose clock moves only when the test moves it. No sweep runs unless an interval is given. */
function openStopped(options: MemoryEphemeralStoreOptions = {}): Stopped {
  let monotonic = 0.25
  const system: System = {
    now: () => 0,
    preciseNow: () => 0,
    monotonic: () => monotonic,
    randomBytes: count => new Uint8Array(count),
  }
  return {
    store: new MemoryEphemeralStore(system, { sweepInterval: 3_600_000, ...options }),
    async pass(duration) {
      monotonic += duration
    },
  }
}

ephemeralStoreSuite('process memory', async () => openStopped())

test('100 000 expired entries are invisible at once and deleted by the timer', async t => {
  const { store, pass } = openStopped({ sweepInterval: 1 })
  t.after(() => store.close())
  for (let index = 0; index < 100_000; index++) await store.add(`a:${index}`, index, 1000)
  await store.add('a:kept', 1, 10_000)
  assert.equal(store.size, 100_001)
  await pass(1001)
  assert.equal(await store.get('a:5'), undefined)
  await eventually('one entry is left', () => store.size === 1)
  assert.equal(await store.get('a:kept'), 1)
})

test('a scan and a count let other work run after each 5,000 entries, and not before', async t => {
  const { store } = openStopped()
  t.after(() => store.close())
  const all = async (): Promise<number> => {
    let found = 0
    for await (const [key] of store.scan('a:')) found += key.length > 0 ? 1 : 0
    return found
  }
  const count = (): Promise<number> => store.count('a:')
  const othersRun = async (read: () => Promise<number>, expected: number): Promise<boolean> => {
    let ran = false
    const other = setImmediate(() => (ran = true))
    assert.equal(await read(), expected)
    clearImmediate(other)
    return ran
  }
  for (let index = 0; index < 4_999; index++) await store.add(`a:${index}`, index, 1000)
  for (const read of [all, count]) assert.equal(await othersRun(read, 4_999), false)
  await store.add('a:last', 1, 1000)
  for (const read of [all, count]) assert.equal(await othersRun(read, 5_000), true)
})

test('of the keys of a limited prefix the one inserted first makes room; others stay', async t => {
  const { store } = openStopped({ capacity: [{ prefix: 'unknown:', max: 100 }] })
  t.after(() => store.close())
  await store.add('known:1', 1, 1000)
  for (let index = 0; index < 10_000; index++) {
    await store.update(`unknown:${index}`, () => ({ value: index, ttl: 1000 }))
    // An update in between does not make a key younger.
    await store.update<number>(`unknown:${Math.max(0, index - 50)}`, old => ({ value: old ?? -1, ttl: 1000 }))
  }
  assert.equal(store.size, 101)
  assert.equal(await store.get('unknown:9899'), undefined)
  assert.equal(await store.get('unknown:9900'), 9900)
  assert.equal(await store.get('unknown:9999'), 9999)
  assert.equal(await store.get('known:1'), 1)
})

test('a limited prefix that is emptied and filled again still gives up its oldest first', async t => {
  const { store, pass } = openStopped({ capacity: [{ prefix: 'u:', max: 3 }] })
  t.after(() => store.close())
  for (let round = 0; round < 50; round++) {
    for (let index = 0; index < 5; index++) await store.add(`u:${round}.${index}`, index, 10)
    const keys = []
    for await (const [key] of store.scan('u:')) keys.push(key)
    assert.deepEqual(
      keys,
      [2, 3, 4].map(index => `u:${round}.${index}`),
    )
    if (round % 3 === 0) await pass(10)
    else for (const key of keys) await store.take(key)
  }
})

test('a key that has expired and comes again is the youngest of its prefix', async t => {
  const { store, pass } = openStopped({ capacity: [{ prefix: 'u:', max: 2 }] })
  t.after(() => store.close())
  await store.add('u:1', 1, 10)
  await store.add('u:2', 2, 1000)
  await pass(10)
  await store.add('u:1', 3, 1000)
  await store.add('u:3', 4, 1000)
  assert.equal(await store.get('u:2'), undefined)
  assert.equal(await store.get('u:1'), 3)
})

test('any sequence of verbs behaves like the plainest model', async () => {
  const key = fc.constantFrom('a:1', 'a:2', 'a:3', 'b:1')
  const step = fc.record({
    verb: fc.constantFrom('add', 'update', 'delete', 'take', 'get', 'pass'),
    key,
    value: fc.nat(),
    duration: fc.nat(20),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
      const { store, pass } = openStopped()
      const model = new Map<string, { value: number; until: number }>()
      let now = 0
      const live = (key: string): number | undefined => {
        const entry = model.get(key)
        return entry && entry.until > now ? entry.value : undefined
      }
      for (const { verb, key, value, duration } of steps) {
        const old = live(key)
        switch (verb) {
          case 'add':
            assert.equal(await store.add(key, value, duration), old === undefined)
            if (old === undefined) model.set(key, { value, until: now + duration })
            break
          case 'update':
            assert.equal(await store.update(key, () => ({ value, ttl: duration })), value)
            model.set(key, { value, until: now + duration })
            break
          case 'delete':
            assert.equal(await store.update(key, () => undefined), undefined)
            model.delete(key)
            break
          case 'take':
            assert.equal(await store.take(key), old)
            model.delete(key)
            break
          case 'get':
            assert.equal(await store.get(key), old)
            break
          case 'pass':
            await pass(duration)
            now += duration
        }
      }
      await store.close()
    }),
  )
})
