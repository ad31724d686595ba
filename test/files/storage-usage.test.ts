import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { growthOf, reachedThreshold, THRESHOLDS } from '../../src/files/quota-thresholds.ts'
import { type Amount, STORE, type Usage } from '../../src/files/quota-usage.ts'

const usageOf = (limit: Amount, used: Amount): Usage => ({
  owner: STORE,
  limit,
  used,
  held: used,
  hasDefaultQuota: false,
})
const reachedBy = (growth: Amount, usage: Usage): number | undefined =>
  growthOf([usage], growth).map(reachedThreshold)[0]

test('growth reaches a threshold exactly when it comes to it or passes it, and the highest one counts', () => {
  const level = (bytes: number, growth: number, limit = 1000) =>
    reachedBy({ bytes: growth, files: 1 }, usageOf({ bytes: limit, files: -1 }, { bytes, files: 1 }))
  const count = (files: number) =>
    reachedBy({ bytes: 5, files: 1 }, usageOf({ bytes: -1, files: 10 }, { bytes: 5, files }))
  assert.equal(level(799, 799), undefined)
  assert.equal(level(800, 1), 80)
  assert.equal(level(801, 1), undefined, 'it was there before')
  assert.equal(level(900, 200), 90)
  assert.equal(level(1000, 1000), 100)
  assert.equal(level(850, -100), undefined, 'shrinking')
  assert.equal(level(10, 10, -1), undefined, 'no limit')
  assert.deepEqual([7, 8, 9, 10, 11].map(count), [undefined, 80, 90, 100, undefined], 'in files')
})

test('a lower limit reaches a threshold like growth does; a higher one, or one of an owner without files, reaches none', () => {
  const lowered = (before: number, after: number, bytes = 700): number | undefined => {
    const used = { bytes, files: 1 }
    const limits = (most: number): Amount => ({ bytes: most, files: -1 })
    return reachedThreshold({ before: usageOf(limits(before), used), after: usageOf(limits(after), used) })
  }
  assert.equal(lowered(1000, 876), undefined)
  assert.deepEqual(
    [875, 777, 700, 10, 0].map(limit => lowered(1000, limit)),
    [80, 90, 100, 100, 100],
  )
  assert.equal(lowered(-1, 700), 100)
  assert.equal(lowered(700, 600), undefined, 'it was there before')
  assert.equal(lowered(700, 800), undefined)
  assert.equal(lowered(700, -1), undefined)
  assert.equal(lowered(1000, 0, 0), undefined)
})

test('each threshold is reported at most once while a context grows', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400 })), steps => {
      let fillLevel = 0
      const reported: number[] = []
      for (const step of steps) {
        fillLevel += step
        const usage = usageOf({ bytes: 1000, files: -1 }, { bytes: fillLevel, files: 1 })
        const reached = reachedBy({ bytes: step, files: 0 }, usage)
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
