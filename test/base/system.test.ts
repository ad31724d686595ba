import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realSystem } from '../../src/base/system.ts'

test('the precise wall clock is the wall clock, with its microseconds (I2.3)', () => {
  const microseconds = new Set<number>()
  while (microseconds.size < 10) {
    const before = realSystem.now()
    const precise = realSystem.preciseNow()
    assert.ok(before <= Math.floor(precise) && Math.floor(precise) <= realSystem.now(), `${precise} after ${before}`)
    microseconds.add(Math.round((precise % 1) * 1000))
  }
  assert.ok([...microseconds].every(count => count >= 0 && count < 1000))
})
