import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { SharedCalls } from '../../src/base/shared-calls.ts'

/** Calls that end when the test says so. */
function controlled() {
  const begun: Array<{ readonly key: string; readonly end: (error?: Error) => void }> = []
  const calls = new SharedCalls(
    key =>
      new Promise((resolve, reject) => {
        begun.push({ key, end: error => (error ? reject(error) : resolve()) })
      }),
  )
  return { calls, begun }
}

test('who comes during a call shares the next, which begins when it has ended', async () => {
  const { calls, begun } = controlled()
  const ended: string[] = []
  const run = (name: string): void => void calls.run('a').then(() => ended.push(name))
  run('first')
  run('with the first')
  await setImmediate()
  assert.equal(begun.length, 1)
  run('second')
  run('with the second')
  await setImmediate()
  assert.equal(begun.length, 1)
  begun[0]?.end()
  await setImmediate()
  assert.deepEqual(ended, ['first', 'with the first'])
  assert.equal(begun.length, 2)
  run('third')
  begun[1]?.end()
  await setImmediate()
  assert.deepEqual(ended.slice(2), ['second', 'with the second'])
  begun[2]?.end()
  await setImmediate()
  assert.deepEqual(ended.slice(4), ['third'])
  run('alone')
  await setImmediate()
  assert.equal(begun.length, 4)
})

test('calls for different keys do not wait for each other', async () => {
  const { calls, begun } = controlled()
  const both = Promise.all([calls.run('a'), calls.run('b')])
  await setImmediate()
  assert.deepEqual(
    begun.map(({ key }) => key),
    ['a', 'b'],
  )
  for (const { end } of begun) end()
  await both
})

test('a failure reaches all who share the call, and nobody else', async () => {
  const { calls, begun } = controlled()
  const failing = [calls.run('a'), calls.run('a')].map(call => assert.rejects(call, { message: 'lost' }))
  await setImmediate()
  const next = calls.run('a')
  begun[0]?.end(new Error('lost'))
  await Promise.all(failing)
  await setImmediate()
  begun[1]?.end()
  await next
})
