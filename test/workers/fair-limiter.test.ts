import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Overloaded } from '../../src/base/errors.ts'
import { FairLimiter } from '../../src/workers/fair-limiter.ts'

const limiterOf = (options: Partial<ConstructorParameters<typeof FairLimiter>[0]> = {}): FairLimiter =>
  new FairLimiter({
    concurrency: 1,
    concurrencyOfOne: 1,
    maxWaiting: 100,
    maxWaitingOfOne: 50,
    what: 'pieces of work',
    ...options,
  })

/** Work that ends when the test says so. */
function work(limiter: FairLimiter, caller: string, begun: string[], signal?: AbortSignal) {
  let resolve = (): void => undefined
  const promise = new Promise<void>(end => (resolve = end))
  const done = limiter.run(
    caller,
    async () => {
      begun.push(caller)
      await promise
    },
    signal,
  )
  return { end: () => resolve(), done }
}

/** Lets all promises that can settle do so. */
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('callers take turns, however much each of them has waiting', async () => {
  const limiter = limiterOf()
  const begun: string[] = []
  const all = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map(caller => work(limiter, caller, begun))
  for (const { end } of all) end()
  await Promise.all(all.map(({ done }) => done))
  assert.equal(begun.join(''), 'aabcaba')
  assert.deepEqual(limiter.load, { running: 0, waiting: 0 })
})

test('one caller never has all of it, so that another begins at once', async () => {
  const limiter = limiterOf({ concurrency: 3, concurrencyOfOne: 2 })
  const begun: string[] = []
  const all = ['a', 'a', 'a', 'a', 'b'].map(caller => work(limiter, caller, begun))
  await settled()
  assert.equal(begun.join(''), 'aab')
  assert.deepEqual(limiter.load, { running: 3, waiting: 2 })
  for (const { end } of all) end()
  await Promise.all(all.map(({ done }) => done))
  assert.equal(begun.join(''), 'aabaa')
})

test('a caller with too many waiting tasks is refused, and other callers are not', async () => {
  const limiter = limiterOf({ maxWaitingOfOne: 2, maxWaiting: 3 })
  const begun: string[] = []
  const all = ['a', 'a', 'a', 'b'].map(caller => work(limiter, caller, begun))
  await assert.rejects(
    limiter.run('a', async () => undefined),
    Overloaded,
  )
  // Now all together have too much waiting.
  await assert.rejects(
    limiter.run('c', async () => undefined),
    Overloaded,
  )
  for (const { end } of all) end()
  await Promise.all(all.map(({ done }) => done))
})

test('work of a client that has left is taken out of the queue', async () => {
  const limiter = limiterOf()
  const begun: string[] = []
  const gone = new AbortController()
  const first = work(limiter, 'a', begun)
  const second = work(limiter, 'a', begun, gone.signal)
  const third = work(limiter, 'a', begun)
  gone.abort(new Error('gone'))
  await assert.rejects(second.done, /gone/)
  assert.deepEqual(limiter.load, { running: 1, waiting: 1 })
  first.end()
  third.end()
  await Promise.all([first.done, third.done])
  assert.equal(begun.length, 2)
  await assert.rejects(
    limiter.run('a', async () => undefined, gone.signal),
    /gone/,
  )
})

test('work that fails gives its place back', async () => {
  const limiter = limiterOf()
  await assert.rejects(
    limiter.run('a', async () => await Promise.reject(new Error('failed'))),
    /failed/,
  )
  assert.deepEqual(limiter.load, { running: 0, waiting: 0 })
})
