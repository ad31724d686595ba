import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type Access, AccessWriteBuffer } from '../../src/accounts/access-write-buffer.ts'
import { StoreUnavailable } from '../../src/base/errors.ts'
import { until } from '../support/waiting.ts'

test('accesses that the store did not take because it was out of reach are written again by themselves', async () => {
  const access: Access = { lastAccess: 1, expires: 2, cookieSent: 3 }
  const written: Array<ReadonlyMap<string, Access>> = []
  let attempts = 0
  const buffer = new AccessWriteBuffer(1, async notes => {
    if (++attempts === 1) throw new StoreUnavailable('The store')
    written.push(notes)
  })
  buffer.add('one', access)
  await until(
    () => written.length,
    count => count > 0,
  )
  assert.deepEqual(written, [new Map([['one', access]])])
  await buffer.flush()
  assert.equal(buffer.of('one'), undefined)
})

const access = (lastAccess: number): Access => ({ lastAccess, expires: 2, cookieSent: 3 })

/** A buffer with a delay of a second, whose writes end when the test says so. */
function newBuffer() {
  const written: Array<ReadonlyMap<string, Access>> = []
  const ends: Array<(error?: Error) => void> = []
  const write = (notes: ReadonlyMap<string, Access>): Promise<void> => {
    written.push(notes)
    return new Promise((resolve, reject) => ends.push(error => (error ? reject(error) : resolve())))
  }
  return { buffer: new AccessWriteBuffer(1000, write), written, ends }
}

test('the latest accesses are written together after the delay, and are known until they have been written', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { buffer, written, ends } = newBuffer()
  buffer.add('one', access(1))
  t.mock.timers.tick(999)
  buffer.add('two', access(2))
  buffer.add('one', access(3))
  await setImmediate()
  assert.equal(written.length, 0)
  t.mock.timers.tick(1)
  await setImmediate()
  const expected = { one: access(3), two: access(2) }
  assert.deepEqual(written, [new Map(Object.entries(expected))])
  assert.deepEqual([buffer.of('one'), buffer.of('two')], [access(3), access(2)])
  // An access that comes during the write keeps waiting for the next one.
  buffer.add('two', access(4))
  ends[0]?.()
  await setImmediate()
  assert.deepEqual([buffer.of('one'), buffer.of('two')], [undefined, access(4)])
  t.mock.timers.tick(1000)
  await setImmediate()
  assert.deepEqual(written[1], new Map([['two', access(4)]]))
  ends[1]?.()
  await setImmediate()
  t.mock.timers.tick(10_000)
  await setImmediate()
  assert.equal(written.length, 2, 'nothing waits any more')
})

test('accesses that the store refuses for another reason are dropped; those that came since wait', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { buffer, written, ends } = newBuffer()
  buffer.add('one', access(1))
  const flushed = buffer.flush()
  await setImmediate()
  buffer.add('two', access(2))
  ends[0]?.(new Error('broken'))
  await flushed
  assert.deepEqual([buffer.of('one'), buffer.of('two')], [undefined, access(2)])
  t.mock.timers.tick(1000)
  await setImmediate()
  assert.deepEqual(written[1], new Map([['two', access(2)]]))
})

test('two flushes write one after the other', async () => {
  const { buffer, written, ends } = newBuffer()
  buffer.add('one', access(1))
  const first = buffer.flush()
  await setImmediate()
  buffer.add('two', access(2))
  const second = buffer.flush()
  await setImmediate()
  assert.equal(written.length, 1)
  ends[0]?.()
  await first
  await setImmediate()
  assert.deepEqual(written[1], new Map([['two', access(2)]]))
  ends[1]?.()
  await second
  await buffer.flush()
  assert.equal(written.length, 2, 'there is nothing to write')
})
