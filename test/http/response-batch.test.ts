import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ResponseBatch } from '../../src/http/protocol/response-batch.ts'

test('responses of one turn of the event loop are sent at its end, in their order', async () => {
  const batch = new ResponseBatch()
  const sent: number[] = []
  for (const n of [1, 2, 3]) batch.add(() => void sent.push(n))
  assert.equal(sent.length, 0)
  await setImmediate()
  assert.deepEqual(sent, [1, 2, 3])
  batch.add(() => void sent.push(4))
  await setImmediate()
  assert.deepEqual(sent, [1, 2, 3, 4])
})

test('no more than 32 responses wait for each other', async () => {
  const batch = new ResponseBatch()
  let sent = 0
  for (let n = 1; n <= 70; n++) batch.add(() => void sent++)
  assert.equal(sent, 64)
  await setImmediate()
  assert.equal(sent, 70)
})

test('a response that cannot be sent gets the error, and the others are sent', async () => {
  const batch = new ResponseBatch()
  const events: unknown[] = []
  const broken = new Error('no such header')
  batch.add(error => {
    events.push(error)
    if (!error) throw broken
  })
  batch.add(error => void events.push(error))
  await setImmediate()
  assert.deepEqual(events, [undefined, broken, undefined])
})
