import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Mutex } from '../../src/base/semaphore.ts'

test('work runs one at a time, in the order of the calls', async () => {
  const mutex = new Mutex()
  const events: string[] = []
  const work = (name: string) => async (): Promise<string> => {
    events.push(`${name} begins`)
    await setImmediate()
    events.push(`${name} ends`)
    return name
  }
  const names = await Promise.all(['a', 'b', 'c'].map(name => mutex.run(work(name))))
  assert.deepEqual(names, ['a', 'b', 'c'])
  assert.deepEqual(events, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('failed work passes its error to its caller, and the next one runs', async () => {
  const mutex = new Mutex()
  const thrown = mutex.run(() => {
    throw new Error('at once')
  })
  const rejected = mutex.run(() => Promise.reject(new Error('later')))
  const next = mutex.run(() => 'done')
  await assert.rejects(thrown, { message: 'at once' })
  await assert.rejects(rejected, { message: 'later' })
  assert.equal(await next, 'done')
})

test('work never begins inside the call of run', async () => {
  let begun = false
  const running = new Mutex().run(() => {
    begun = true
  })
  assert.equal(begun, false)
  await running
  assert.equal(begun, true)
})
