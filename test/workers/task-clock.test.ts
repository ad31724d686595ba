import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TaskClock, threadNumber } from '../../src/workers/task-clock.ts'

const SECOND = 1000

/** Asking takes processor time too: some thousand questions are enough. */
function workUntil(isReached: () => boolean): void {
  for (let count = 0; !isReached(); count++) assert.ok(count < 10_000_000, 'never reached')
}

test('a task is over when it has used its processor time since the first look at it', () => {
  const seen = new TaskClock(threadNumber(), 0)
  workUntil(() => seen.isOver(50, 1))
  assert.equal(new TaskClock(threadNumber(), 0).isOver(50, 1), false, 'the first look')
})

test('a task is over after ten times as much elapsed time, even if it only waits', () => {
  const clock = new TaskClock(threadNumber(), 5000)
  assert.equal(clock.isOver(SECOND, 5000), false)
  assert.equal(clock.isOver(SECOND, 5000 + 10 * SECOND), process.platform !== 'linux')
  assert.equal(clock.isOver(SECOND, 5001 + 10 * SECOND), true)
})

test('how long nobody has waited for a task counts from the first call', () => {
  const clock = new TaskClock(threadNumber(), 0)
  assert.deepEqual([clock.abandonedFor(3000), clock.abandonedFor(3500)], [0, 500])
})
