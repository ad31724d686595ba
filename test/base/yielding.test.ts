import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeTurnFor, Turns, yieldAfter, Yielding } from '../../src/base/yielding.ts'

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

test('long texts that come at the same moment begin one in each turn of the event loop, short ones at once (D35.20)', async () => {
  const order: string[] = []
  const long = 'x'.repeat(65_537)
  const begun = [long, 'short', long, long].map(async (text, index) => {
    await takeTurnFor(text)
    order.push(`text ${index}`)
  })
  let isOver = false
  const turn = (): void => {
    order.push('turn')
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await Promise.all(begun)
  isOver = true
  assert.equal(order[0], 'text 1')
  const texts = order.flatMap((one, index) => (one.startsWith('text') && index > 0 ? [index] : []))
  assert.equal(texts.length, 3)
  assert.ok(!texts.some(index => texts.includes(index + 1)), order.join(', '))
})

test('a limited number of steps begin in one turn of the event loop, in order of arrival (D35.44)', async () => {
  const turns = new Turns(2)
  const order: Array<number | 'turn'> = []
  const steps = [1, 2, 3, 4, 5].map(async step => {
    await turns.take()
    order.push(step)
  })
  const turn = (): void => {
    order.push('turn')
    if (order.length < 8) setImmediate(turn)
  }
  setImmediate(turn)
  await Promise.all(steps)
  assert.deepEqual(
    order.filter(one => one !== 'turn'),
    [1, 2, 3, 4, 5],
  )
  assert.deepEqual(
    [1, 3, 5].map(step => order.slice(0, order.indexOf(step)).filter(one => one === 'turn').length),
    [0, 1, 2],
  )
})
