import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { reachedThreshold, THRESHOLDS } from '../../src/files/quota-ledger.ts'

test('growth reaches a threshold exactly when it comes to it or passes it, and the highest one counts', () => {
  const level = (fillLevel: number, growth: number) => reachedThreshold({ quota: 1000, fillLevel }, growth)
  assert.equal(level(799, 799), undefined)
  assert.equal(level(800, 1), 80)
  assert.equal(level(801, 1), undefined, 'it was there before')
  assert.equal(level(900, 200), 90)
  assert.equal(level(1000, 1000), 100)
  assert.equal(level(850, -100), undefined, 'shrinking')
  assert.equal(reachedThreshold({ quota: -1, fillLevel: 10 }, 10), undefined, 'no limit')
})

test('each threshold is reported at most once while a context grows', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400 })), steps => {
      let fillLevel = 0
      const reported: number[] = []
      for (const step of steps) {
        fillLevel += step
        const reached = reachedThreshold({ quota: 1000, fillLevel }, step)
        if (reached !== undefined) reported.push(reached)
      }
      const highest = THRESHOLDS.findLast(percent => fillLevel * 100 >= 1000 * percent)
      assert.deepEqual(
        reported,
        reported.toSorted((a, b) => a - b).filter((percent, index) => percent !== reported[index - 1]),
      )
      assert.equal(reported.at(-1), highest)
    }),
  )
})
