import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeTurn, yieldAfter, Yielding } from '../../src/base/yielding.ts'

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

test('steps that wait at the same moment begin one in each turn of the event loop (D35.20)', async () => {
  const order: string[] = []
  const begun = [0, 1, 2].map(async step => {
    await takeTurn()
    order.push(`step ${step}`)
  })
  let isOver = false
  const turn = (): void => {
    order.push('turn')
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await Promise.all(begun)
  isOver = true
  assert.deepEqual(
    order.filter(one => one !== 'turn'),
    ['step 0', 'step 1', 'step 2'],
  )
  const steps = order.flatMap((one, index) => (one === 'turn' ? [] : [index]))
  assert.ok(!steps.some(index => steps.includes(index + 1)), order.join(', '))
})
