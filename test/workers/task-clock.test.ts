import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clocked, TaskClock } from '../../src/workers/task-clock.ts'

const SECOND = 1000

/** A clock whose task has started on this thread. */
async function started(): Promise<TaskClock> {
  const clock = new TaskClock()
  await clocked(async () => undefined)({ task: undefined, clock: clock.shared })
  return clock
}

/** Asking takes processor time too: some thousand questions are enough. */
function workUntil(isReached: () => boolean): void {
  for (let count = 0; !isReached(); count++) assert.ok(count < 10_000_000, 'never reached')
}

test('a task that has not started uses no time, however long it waits', () => {
  const clock = new TaskClock()
  assert.equal(clock.isOver(SECOND, 0), false)
  assert.equal(clock.isOver(SECOND, 1e9), false)
})

test('a task is over when it has used its processor time since the first look at it', async () => {
  const [seen, unseen] = [await started(), await started()]
  assert.equal(seen.isOver(50, 0), false)
  workUntil(() => seen.isOver(50, 1))
  assert.equal(unseen.isOver(50, 1), false, 'the first look')
})

test('a task is over after ten times as much elapsed time, even if it only waits', async () => {
  const clock = await started()
  assert.equal(clock.isOver(SECOND, 5000), false)
  assert.equal(clock.isOver(SECOND, 5000 + 10 * SECOND), process.platform !== 'linux')
  assert.equal(clock.isOver(SECOND, 5001 + 10 * SECOND), true)
})
