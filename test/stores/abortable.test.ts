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
