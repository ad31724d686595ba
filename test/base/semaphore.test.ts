import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import { Overloaded } from '../../src/base/errors.ts'
import { Semaphore } from '../../src/base/semaphore.ts'

/** Work that ends when the test ends it. */
function gate() {
  let open = (): void => undefined
  const passed = new Promise<void>(resolve => (open = resolve))
  return { open, work: () => passed }
}

test('no more than the permitted number run at once, the rest wait in order of arrival', async () => {
  const semaphore = new Semaphore({ concurrency: 2, queue: 3, what: 'things' })
  const gates = Array.from({ length: 5 }, gate)
  const begun: number[] = []
  const all = gates.map(({ work }, index) =>
    semaphore.run(() => {
      begun.push(index)
      return work()
    }),
  )
  await setImmediate()
  assert.deepEqual(begun, [0, 1])
  assert.deepEqual(semaphore.load, { running: 2, waiting: 3 })
  gates[1]?.open()
  await setImmediate()
  assert.deepEqual(begun, [0, 1, 2])
  for (const { open } of gates) open()
  await Promise.all(all)
  assert.deepEqual(begun, [0, 1, 2, 3, 4])
  assert.deepEqual(semaphore.load, { running: 0, waiting: 0 })
})

test('work beyond the queue is refused before it begins, with the name of what there is too much of (D5.1)', async () => {
  const semaphore = new Semaphore({ concurrency: 1, queue: 0, what: 'password checks' })
  const { open, work } = gate()
  const running = semaphore.run(work)
  let begun = false
  const refused = semaphore.run(async () => {
    begun = true
  })
  await assert.rejects(
    refused,
    (error: unknown) => error instanceof Overloaded && error.retryAfter >= 1 && /password checks/.test(error.message),
  )
  assert.equal(begun, false)
  open()
  await running
  await semaphore.run(async () => {
    begun = true
  })
  assert.equal(begun, true)
})

test('a permit comes back when work fails, at once or later', async () => {
  const semaphore = new Semaphore({ concurrency: 1, queue: 5, what: 'things' })
  const thrown = semaphore.run(() => {
    throw new Error('at once')
  })
  const rejected = semaphore.run(() => Promise.reject(new Error('later')))
  await assert.rejects(thrown, /at once/)
  await assert.rejects(rejected, /later/)
  assert.equal(await semaphore.run(async () => 7), 7)
  assert.deepEqual(semaphore.load, { running: 0, waiting: 0 })
})

test('in any order of tasks the limit holds and every permit is returned', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 4 }),
      fc.array(fc.record({ turns: fc.nat(3), fails: fc.boolean() }), { maxLength: 20 }),
      async (concurrency, queue, jobs) => {
        const semaphore = new Semaphore({ concurrency, queue, what: 'things' })
        let running = 0
        let most = 0
        const outcomes = await Promise.allSettled(
          jobs.map(({ turns, fails }) =>
            semaphore.run(async () => {
              most = Math.max(most, ++running)
              for (let turn = 0; turn < turns; turn++) await setImmediate()
              running--
              if (fails) throw new Error('failed')
            }),
          ),
        )
        assert.ok(most <= concurrency)
        const refused = outcomes.filter(
          ({ status, ...rest }) => status === 'rejected' && 'reason' in rest && rest.reason instanceof Overloaded,
        )
        assert.equal(refused.length, Math.max(0, jobs.length - concurrency - queue))
        assert.deepEqual(semaphore.load, { running: 0, waiting: 0 })
      },
    ),
    { numRuns: 100 },
  )
})

test('one caller has a limited number running and waiting, and others begin at once', async () => {
  const semaphore = new Semaphore({ concurrency: 3, concurrencyOfOne: 2, queue: 10, queueOfOne: 2, what: 'things' })
  const gates = Array.from({ length: 6 }, gate)
  const begun: string[] = []
  const run = (index: number, of: string) =>
    semaphore.run(
      () => {
        begun.push(`${of}${index}`)
        return gates[index]?.work() ?? Promise.resolve()
      },
      { of },
    )
  const all = [0, 1, 2, 3].map(index => run(index, 'a'))
  await assert.rejects(run(4, 'a'), { message: 'You have too many things waiting.' })
  all.push(run(5, 'b'))
  await setImmediate()
  assert.deepEqual(begun, ['a0', 'a1', 'b5'])
  gates[5]?.open()
  await setImmediate()
  assert.deepEqual(begun, ['a0', 'a1', 'b5'], 'a free place is not for the caller who has two')
  gates[0]?.open()
  await setImmediate()
  assert.deepEqual(begun, ['a0', 'a1', 'b5', 'a2'])
  for (const { open } of gates) open()
  await Promise.all(all)
  assert.deepEqual(semaphore.load, { running: 0, waiting: 0 })
})

test('a signal takes a task out of the queue, and leaves the one that runs', async () => {
  const semaphore = new Semaphore({ concurrency: 1, queue: 10, what: 'things' })
  const { open, work } = gate()
  const gone = new AbortController()
  const share = { of: 'a', signal: gone.signal }
  const running = semaphore.run(work, share)
  const waiting = semaphore.run(async () => assert.fail('it has begun'), share)
  const other = semaphore.run(async () => 'other', { of: 'b' })
  gone.abort(new Error('gone'))
  await assert.rejects(waiting, { message: 'gone' })
  await assert.rejects(semaphore.run(work, share), { message: 'gone' })
  open()
  await running
  assert.equal(await other, 'other')
  assert.deepEqual(semaphore.load, { running: 0, waiting: 0 })
})
