import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectGarbage } from '../../src/workers/collected.ts'

test('what nothing refers to is collected when a thread asks for it (D35.7)', async () => {
  const left = (() => new WeakRef({ text: 'x'.repeat(1000) }))()
  // Until its turn ends, the engine keeps what a WeakRef was made for.
  await nextTurn()
  await collectGarbage()
  assert.equal(left.deref(), undefined)
})
