import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { abortable } from '../../src/stores/blob-store.ts'

async function* three(): AsyncGenerator<number> {
  yield* [1, 2, 3]
}

test('a source passes unchanged, and the signal keeps no listener', async () => {
  const { signal } = new AbortController()
  const seen: number[] = []
  for await (const value of abortable(three(), signal)) seen.push(value)
  assert.deepEqual(seen, [1, 2, 3])
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('an abort between two values ends the run before the next one', async () => {
  const controller = new AbortController()
  const seen: number[] = []
  const run = async (): Promise<void> => {
    for await (const value of abortable(three(), controller.signal)) {
      seen.push(value)
      if (value === 2) controller.abort(new Error('stop'))
    }
  }
  await assert.rejects(run, { message: 'stop' })
  assert.deepEqual(seen, [1, 2])
})

test('a source that is left early gets its return', async () => {
  let returned = false
  async function* source(): AsyncGenerator<number> {
    try {
      yield* three()
    } finally {
      returned = true
    }
  }
  for await (const value of abortable(source(), new AbortController().signal)) if (value === 2) break
  await new Promise(resolve => setImmediate(resolve))
  assert.equal(returned, true)
})

/** A source that is no generator: it may have no `return`, and counts the calls of it. */
function plain(hasReturn: boolean) {
  let value = 0
  const calls = { returns: 0 }
  const iterator = {
    next: async () =>
      value < 3 ? { done: false as const, value: ++value } : { done: true as const, value: undefined },
    ...(hasReturn
      ? {
          return: async () => {
            calls.returns++
            throw new Error('nobody waits for this')
          },
        }
      : {}),
  }
  return { source: { [Symbol.asyncIterator]: () => iterator } as AsyncIterable<number>, calls }
}

test('a source is closed when it is left early, and not after its end', async () => {
  for (const [hasReturn, stopAt, returns] of [
    [true, 2, 1],
    [true, 9, 0],
    [false, 2, 0],
    [false, 9, 0],
  ] as const) {
    const { source, calls } = plain(hasReturn)
    const { signal } = new AbortController()
    const seen: number[] = []
    for await (const value of abortable(source, signal)) if (seen.push(value) === stopAt) break
    assert.deepEqual([seen.length, calls.returns], [Math.min(stopAt, 3), returns])
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  }
})

test('a source that fails or is aborted while it is stuck leaves no listener either', async () => {
  const controller = new AbortController()
  async function* failing(): AsyncGenerator<number> {
    yield 1
    throw new Error('failed')
  }
  const all = async (source: AsyncIterable<number>): Promise<void> => {
    for await (const value of abortable(source, controller.signal)) assert.equal(value, 1)
  }
  await assert.rejects(all(failing()), { message: 'failed' })
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  async function* stuck(): AsyncGenerator<number> {
    yield 1
    setImmediate(() => controller.abort(new Error('stop')))
    await new Promise(() => {})
  }
  await assert.rejects(all(stuck()), { message: 'stop' })
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  let asked = false
  const untouched = { [Symbol.asyncIterator]: () => ((asked = true), failing()) }
  await assert.rejects(all(untouched), { message: 'stop' })
  assert.equal(asked, false)
})
