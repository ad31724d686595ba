import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Dependents } from '../../src/stores/dependents.ts'

test('the keys of a subject are those that were added and not removed, few or many', () => {
  const step = fc.record({ adds: fc.boolean(), subject: fc.constantFrom('a', 'b'), key: fc.nat(15).map(String) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), steps => {
      const dependents = new Dependents()
      const expected = new Map([
        ['a', new Set<string>()],
        ['b', new Set<string>()],
      ])
      for (const { adds, subject, key } of steps) {
        const keys = expected.get(subject)
        if (!adds) {
          dependents.remove(subject, key)
          keys?.delete(key)
        } else if (keys && !keys.has(key)) {
          dependents.add(subject, key)
          keys.add(key)
        }
        for (const [each, keys] of expected) assert.deepEqual(dependents.of(each), [...keys])
      }
    }),
  )
})
