import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Overloaded } from '../../src/base/errors.ts'
import { realSystem } from '../../src/base/system.ts'
import { SharedEphemeralStore } from '../../src/stores/shared/shared-ephemeral-store.ts'
import { SharedMemory } from '../../src/stores/shared/shared-memory.ts'
import { SharedTable, tableWords } from '../../src/stores/shared/shared-table.ts'
import { classBytes, MAX_SIZE, SIZE_CLASSES, sizeClass } from '../../src/stores/shared/size-class.ts'
import { ephemeralStoreSuite } from '../conformance/ephemeral-store.ts'
import { capacity } from '../support/shared-store-worker.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { runTasks } from '../support/thread-tasks.ts'

const THREADS = 4

ephemeralStoreSuite('shared memory', async () => {
  let monotonic = 0.25
  const store = new SharedEphemeralStore({ monotonic: () => monotonic })
  return { store, pass: async duration => void (monotonic += duration) }
})

test('parallel updates of several threads lose none', async () => {
  const store = new SharedEphemeralStore(realSystem, { capacity })
  const task = { kind: 'count', store: store.shared, keys: 7, rounds: 7000 } as const
  await runTasks(Array.from({ length: THREADS }, () => task))
  for (let key = 0; key < 7; key++) assert.equal(await store.get(`a:${key}`), THREADS * 1000)
})

test('of several threads exactly one adds a key, and exactly one takes it', async () => {
  const store = new SharedEphemeralStore(realSystem, { capacity })
  const rounds = 3000
  for (let round = 0; round < rounds; round++) await store.add(`take:${round}`, 1, 1_000_000)
  const task = { kind: 'win', store: store.shared, rounds } as const
  const won = await runTasks<{ added: number; taken: number }>(Array.from({ length: THREADS }, () => task))
  const sum = (of: 'added' | 'taken'): number => won.reduce((total, result) => total + result[of], 0)
  assert.deepEqual([sum('added'), sum('taken')], [rounds, rounds])
})

test('while threads add, change and delete at once, every value stays with its key, and nothing is lost of the memory', async () => {
  const store = new SharedEphemeralStore(realSystem, { capacity })
  const tasks = (round: number) =>
    Array.from(
      { length: THREADS },
      (_, index) => ({ kind: 'churn', store: store.shared, seed: round * 10 + index + 1, rounds: 5000 }) as const,
    )
  await runTasks(tasks(1))
  const after = store.shared.byteLength
  await runTasks(tasks(2))
  // Freed pieces are used again: the second half needs hardly more than the first.
  assert.ok(store.shared.byteLength <= after * 2, `${after} bytes, then ${store.shared.byteLength}`)
  let [few, all] = [0, 0]
  for await (const [key, value] of store.scan<{ key: string }>('')) {
    assert.equal(value.key, key)
    all++
    if (key.startsWith('few:')) few++
  }
  assert.ok(few <= 50)
  assert.deepEqual([await store.count(''), await store.count('few:')], [all, few])
})

test('what a thread reads repeatedly is parsed again only when any thread has changed it (D34.15)', async () => {
  const system = new FakeSystem()
  const one = new SharedEphemeralStore(system)
  const other = new SharedEphemeralStore(system, { shared: one.shared })
  await one.add('session:a', { count: 1 }, 1000)
  for (let n = 0; n < 2; n++) assert.deepEqual(one.get('session:a'), { count: 1 })
  assert.equal(one.get('session:a'), one.get('session:a'))
  await other.update('session:a', () => ({ value: { count: 2 } }))
  assert.deepEqual(one.get('session:a'), { count: 2 })
  assert.deepEqual(await other.take('session:a'), { count: 2 })
  assert.equal(one.get('session:a'), undefined)
  await other.add('session:a', { count: 3 }, 1000)
  assert.deepEqual(one.get('session:a'), { count: 3 })
  system.pass(1000)
  assert.equal(one.get('session:a'), undefined)
})

test('of the keys of a limited prefix the one inserted first makes room; others stay', async () => {
  let monotonic = 1
  const store = new SharedEphemeralStore({ monotonic: () => monotonic }, { capacity: [{ prefix: 'u:', max: 3 }] })
  await store.add('known', 1, 1000)
  for (let index = 0; index < 20; index++) {
    await store.add(`u:${index}`, index, 1000)
    // A change, larger than before too, does not make a key younger.
    await store.update(`u:${index - 2}`, old => (old === undefined ? undefined : { value: 'x'.repeat(index * 20) }))
  }
  const keys = async (): Promise<string[]> => {
    const found = []
    for await (const [key] of store.scan('u:')) found.push(key)
    return found
  }
  assert.deepEqual(await keys(), ['u:17', 'u:18', 'u:19'])
  monotonic += 1000
  // One that has expired and comes again is the youngest.
  await store.add('u:17', 1, 1000)
  assert.deepEqual(await keys(), ['u:17'])
  assert.equal(await store.get('known'), undefined)
})

test('what has expired is cleared away by later insertions', async () => {
  let monotonic = 1
  const store = new SharedEphemeralStore({ monotonic: () => monotonic }, { sweepInterval: 3_600_000 })
  for (let index = 0; index < 50_000; index++) {
    await store.add(`a:${index}`, index, 1000)
    monotonic += 1
  }
  assert.ok(store.size <= 2500, `${store.size} records for 1000 live ones`)
  await store.close()
})

test('a memory that is full refuses with 503 and keeps what it holds', async () => {
  const memory = new SharedMemory(undefined, 2 ** 20)
  const table = new SharedTable(memory, memory.allocate(tableWords(1000)), 1000)
  const write = (key: string, text: string) => table.write(key, text, { now: 0, expires: 1, expected: undefined })
  assert.ok(write('a', 'first'))
  assert.throws(() => write('b', 'x'.repeat(2 ** 20)), Overloaded)
  assert.equal(table.read('a', 0)?.text, 'first')
  assert.equal(table.read('b', 0), undefined)
  assert.throws(() => write('c', 'x'.repeat(MAX_SIZE)), Overloaded)
})

test('a size class is the smallest that holds a size', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: MAX_SIZE }), size => {
      const index = sizeClass(size)
      assert.ok(index >= 0 && index < SIZE_CLASSES)
      assert.ok(classBytes(index) >= size)
      assert.ok(index === 0 || classBytes(index - 1) < size)
    }),
  )
})
