import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { superfluous } from '../../src/features/backups/keep.ts'

const DAY = 86_400_000
const dates = (...texts: string[]): number[] => texts.map(text => Date.parse(text))
const isoDays = (times: readonly number[]): string[] => times.map(time => new Date(time).toISOString().slice(0, 10))

test('the newest backup of each of the last days, weeks and months with one is kept', () => {
  const nightly = Array.from({ length: 400 }, (_, age) => Date.parse('2026-11-27T03:00:00Z') - age * DAY)
  const removed = new Set(superfluous(nightly, '7d 4w 12m'))
  const lastDays = '2026-11-27 2026-11-26 2026-11-25 2026-11-24 2026-11-23 2026-11-22 2026-11-21'
  const sundays = '2026-11-15 2026-11-08'
  const endsOfMonths =
    '2026-10-31 2026-09-30 2026-08-31 2026-07-31 2026-06-30 2026-05-31 2026-04-30 2026-03-31 2026-02-28 2026-01-31 2025-12-31'
  assert.equal(isoDays(nightly.filter(time => !removed.has(time))).join(' '), `${lastDays} ${sundays} ${endsOfMonths}`)
})

test('periods without a backup do not count, so old backups stay while none are made', () => {
  const old = dates('2024-01-01T03:00:00Z', '2024-02-01T03:00:00Z', '2020-05-05T03:00:00Z')
  assert.deepEqual(superfluous(old, '3d'), [])
  const twice = dates('2026-11-27T03:00:00Z', '2026-11-27T15:00:00Z')
  assert.deepEqual(superfluous(twice, '7d'), [twice[0]])
})

test('whatever the rule and the times: the newest stays, no more are kept than the rule counts, and a second look removes nothing', () => {
  const rule = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.constantFrom('d', 'w', 'm')), { minLength: 1, maxLength: 3 })
    .map(parts => ({
      text: parts.map(part => part.join('')).join(' '),
      most: parts.reduce((sum, [count]) => sum + count, 0),
    }))
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 4e12 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(times, rule, (all, { text, most }) => {
      const removed = new Set(superfluous(all, text))
      const kept = all.filter(time => !removed.has(time))
      assert.ok(kept.includes(Math.max(...all)))
      assert.ok(kept.length <= most)
      assert.deepEqual(superfluous(kept, text), [])
      // One more backup, newer than all: what had to go before still has to.
      const next = new Set(superfluous([...all, Math.max(...all) + DAY], text))
      for (const time of removed) assert.ok(next.has(time))
    }),
  )
})
