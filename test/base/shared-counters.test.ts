import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedCounters } from '../../src/base/shared-counters.ts'

test('counters that share their memory give each number once, in order', () => {
  const one = new SharedCounters()
  const other = new SharedCounters(one.shared)
  assert.deepEqual([one.next(), other.next(), one.next(), other.next()], [0, 1, 2, 3])
})

test('what happens in a minute is counted over all threads, and anew in the next minute', () => {
  const one = new SharedCounters()
  const other = new SharedCounters(one.shared)
  assert.deepEqual([one.inMinute(7), other.inMinute(7), one.inMinute(7)], [1, 2, 3])
  assert.deepEqual([other.inMinute(8), one.inMinute(8)], [1, 2])
})
