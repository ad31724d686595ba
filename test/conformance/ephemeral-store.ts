import assert from 'node:assert/strict'
import { type TestContext, describe, test } from 'node:test'
import type { Milliseconds } from '../../src/base/units.ts'
import type { EphemeralStore } from '../../src/stores/ephemeral-store.ts'

export interface StoreWithTime {
  readonly store: EphemeralStore
  /** Moves the clock of the store forward. */
  readonly pass: (duration: Milliseconds) => Promise<void>
}

/** Times are long: the clock of a server goes on by itself. */
const SHORT: Milliseconds = 300_000
const LONG: Milliseconds = 60_000_000

/** What every store of forgettable facts keeps. `open` gives an empty one. */
export function ephemeralStoreSuite(name: string, open: (t: TestContext) => Promise<StoreWithTime>): void {
  const opened = async (t: TestContext): Promise<StoreWithTime> => {
    const opened = await open(t)
    t.after(() => opened.store.close())
    return opened
  }
  const pairs = async (store: EphemeralStore, prefix: string): Promise<Array<readonly [string, unknown]>> => {
    const found = []
    for await (const pair of store.scan<unknown>(prefix)) found.push(pair)
    return found.sort(([a], [b]) => (a < b ? -1 : 1))
  }

  describe(name, () => {
    test('a value comes back as it went in; an absent key gives undefined', async t => {
      const { store } = await opened(t)
      const value = { text: 'ä', list: [1, 2.5, null], nested: { yes: true } }
      assert.equal(await store.get('a:1'), undefined)
      assert.equal(await store.add('a:1', value, LONG), true)
      assert.deepEqual(await store.get('a:1'), value)
    })

    test('of many callers that add one key exactly one gets true, and its value stays', async t => {
      const { store } = await opened(t)
      const results = await Promise.all(Array.from({ length: 50 }, (_, index) => store.add('a:1', index, LONG)))
      assert.equal(results.filter(Boolean).length, 1)
      assert.equal(await store.get('a:1'), results.indexOf(true))
    })

    test('an entry is there until its time is over, then its key is free again', async t => {
      const { store, pass } = await opened(t)
      await store.add('a:1', 'old', SHORT)
      await pass(SHORT / 3)
      assert.equal(await store.get('a:1'), 'old')
      assert.equal(await store.add('a:1', 'new', LONG), false)
      await pass((SHORT * 2) / 3)
      assert.equal(await store.get('a:1'), undefined)
      assert.equal(await store.take('a:1'), undefined)
      assert.deepEqual(await pairs(store, 'a:'), [])
      assert.equal(await store.add('a:1', 'new', LONG), true)
      assert.equal(await store.get('a:1'), 'new')
    })

    test('update sees the live value only, and sets value and time anew', async t => {
      const { store, pass } = await opened(t)
      const seen: unknown[] = []
      const next = (value: number) =>
        store.update<number>('a:1', old => {
          seen.push(old)
          return { value, ttl: SHORT }
        })
      assert.equal(await next(1), 1)
      await pass((SHORT * 2) / 3)
      assert.equal(await next(2), 2)
      await pass((SHORT * 2) / 3)
      assert.equal(await store.get('a:1'), 2)
      await pass((SHORT * 2) / 3)
      assert.equal(await next(3), 3)
      assert.deepEqual(seen, [undefined, 1, undefined])
    })

    test('update deletes the key when there is nothing to keep', async t => {
      const { store } = await opened(t)
      await store.add('a:1', 1, LONG)
      assert.equal(await store.update('a:1', () => undefined), undefined)
      assert.equal(await store.get('a:1'), undefined)
      assert.equal(await store.update('a:2', () => undefined), undefined)
    })

    test('100 parallel updates lose none', async t => {
      const { store } = await opened(t)
      const increase = async () => await store.update<number>('a:1', (old = 0) => ({ value: old + 1, ttl: LONG }))
      const results = await Promise.all(Array.from({ length: 100 }, increase))
      assert.equal(await store.get('a:1'), 100)
      assert.equal(new Set(results).size, 100)
    })

    test('a change that throws leaves the value as it was', async t => {
      const { store } = await opened(t)
      await store.add('a:1', 1, LONG)
      const change = (): never => {
        throw new Error('no')
      }
      await assert.rejects(async () => await store.update('a:1', change), { message: 'no' })
      assert.equal(await store.get('a:1'), 1)
    })

    test('of many callers that take one key exactly one gets the value', async t => {
      const { store } = await opened(t)
      await store.add('a:1', 'once', LONG)
      const results = await Promise.all(Array.from({ length: 50 }, () => store.take('a:1')))
      assert.deepEqual(
        results.filter(value => value !== undefined),
        ['once'],
      )
      assert.equal(await store.get('a:1'), undefined)
    })

    test('scan gives every live key of the prefix with its value, and no other; count counts them', async t => {
      const { store, pass } = await opened(t)
      for (let index = 0; index < 20; index++) await store.add(`a:${index}`, index, index % 2 ? 100 : LONG)
      await store.add('b:1', 'other', LONG)
      await store.add('*:1', 'a pattern is only text', LONG)
      await pass(150)
      const even = Array.from({ length: 10 }, (_, index) => [`a:${index * 2}`, index * 2] as const)
      assert.deepEqual(
        await pairs(store, 'a:'),
        even.sort(([a], [b]) => (a < b ? -1 : 1)),
      )
      assert.equal((await pairs(store, '*')).length, 1)
      assert.equal((await pairs(store, '')).length, 12)
      assert.deepEqual([await store.count('a:'), await store.count('*'), await store.count('c')], [10, 1, 0])
    })

    test('a scan of many keys gives each of them once', async t => {
      const { store } = await opened(t)
      for (const count of [200, 400, 401]) {
        const keys = Array.from({ length: count }, (_, index) => `${count}:${String(index).padStart(3, '0')}`)
        await Promise.all(keys.map((key, index) => store.add(key, index, LONG)))
        const found = await pairs(store, `${count}:`)
        assert.deepEqual(
          found,
          keys.map((key, index) => [key, index]),
        )
        assert.equal(await store.count(`${count}:`), count)
      }
    })

    test('a change without a time keeps the remaining one', async t => {
      const { store, pass } = await opened(t)
      await store.add('a:1', 1, SHORT)
      await pass(SHORT / 3)
      assert.equal(await store.update<number>('a:1', (old = 0) => ({ value: old + 1 })), 2)
      await pass((SHORT * 2) / 3)
      assert.equal(await store.get('a:1'), undefined)
    })

    test('keys that a Map or an object could confuse are keys like others', async t => {
      const { store } = await opened(t)
      for (const key of ['__proto__', 'constructor', 'a', 'a:', 'ä:1', 'a b']) {
        assert.equal(await store.get(key), undefined)
        assert.equal(await store.add(key, key, LONG), true)
        assert.equal(await store.get(key), key)
      }
    })
  })
}
