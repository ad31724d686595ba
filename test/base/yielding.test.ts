import assert from 'node:assert/strict'
import { test } from 'node:test'
import { yieldAfter, Yielding } from '../../src/base/yielding.ts'

/** How many of these steps the next turn of the event loop came after. */
async function stepsWithTurns(steps: ReadonlyArray<() => Promise<void>>): Promise<number[]> {
  const found: number[] = []
  for (const [index, step] of steps.entries()) {
    let hasTurned = false
    const immediate = setImmediate(() => (hasTurned = true))
    await step()
    if (hasTurned) found.push(index)
    clearImmediate(immediate)
  }
  return found
}

test('work of many small steps, and each long step, let other requests run (D15.6)', async () => {
  const yielding = new Yielding()
  const step = (characters: number) => () => yielding.after(characters)
  const small = Array.from({ length: 50 }, () => step(100))
  assert.deepEqual(await stepsWithTurns([step(10), step(100_000), step(10), ...small]), [1, 23, 45])
})

test('a long text is worked on step by step, a short one at once (D15.6)', async () => {
  assert.deepEqual(
    await stepsWithTurns([() => yieldAfter('x'.repeat(65_537)), () => yieldAfter('x'.repeat(65_536))]),
    [0],
  )
})
