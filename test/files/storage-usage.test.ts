import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { reachedThreshold, THRESHOLDS } from '../../src/files/quota-ledger.ts'

test('growth reaches a threshold exactly when it comes to it or passes it, and the highest one counts', () => {
  const level = (bytes: number, growth: number, limit = 1000) =>
    reachedThreshold({ limit: { bytes: limit, files: -1 }, used: { bytes, files: 1 } }, { bytes: growth, files: 1 })
  const count = (files: number) =>
    reachedThreshold({ limit: { bytes: -1, files: 10 }, used: { bytes: 5, files } }, { bytes: 5, files: 1 })
  assert.equal(level(799, 799), undefined)
  assert.equal(level(800, 1), 80)
  assert.equal(level(801, 1), undefined, 'it was there before')
  assert.equal(level(900, 200), 90)
  assert.equal(level(1000, 1000), 100)
  assert.equal(level(850, -100), undefined, 'shrinking')
  assert.equal(level(10, 10, -1), undefined, 'no limit')
  assert.deepEqual([7, 8, 9, 10, 11].map(count), [undefined, 80, 90, 100, undefined], 'in files')
})

test('each threshold is reported at most once while a context grows', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400 })), steps => {
      let fillLevel = 0
      const reported: number[] = []
      for (const step of steps) {
        fillLevel += step
        const reached = reachedThreshold(
          { limit: { bytes: 1000, files: -1 }, used: { bytes: fillLevel, files: 1 } },
          { bytes: step, files: 0 },
        )
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
