import assert from 'node:assert/strict'
import { test } from 'node:test'
import { threadModule } from '../../src/workers/thread-pool.ts'
import { TaskLimitExceeded, WorkerPool, type WorkerPoolOptions } from '../../src/workers/worker-pool.ts'
import { after } from '../support/after.ts'

type Task = 'answer' | 'loop' | 'allocate'

function poolOf(options: Partial<WorkerPoolOptions> = {}): WorkerPool<Task, string> {
  const pool = new WorkerPool<Task, string>({
    module: threadModule('stubborn-thread', import.meta.url),
    threads: 2,
    timeout: 60_000,
    maxMegabytes: 64,
    maxWaiting: 10,
    maxWaitingOfOne: 5,
    what: 'tasks',
    ...options,
  })
  after(() => pool.close())
  return pool
}

test('a task that takes too long loses its thread, and the next one gets another', async () => {
  const pool = poolOf({ threads: 1, timeout: 300 })
  await assert.rejects(pool.run('loop', 'a'), TaskLimitExceeded)
  assert.equal(await pool.run('answer', 'a'), 'done')
})

test('a task that takes too much memory ends alone', async () => {
  const pool = poolOf()
  await assert.rejects(pool.run('allocate', 'a'), TaskLimitExceeded)
  assert.equal(await pool.run('answer', 'a'), 'done')
})

test('while one caller has work that never ends, another is answered at once', async () => {
  const pool = poolOf()
  const gone = new AbortController()
  const endless = [1, 2, 3].map(() => pool.run('loop', 'a', gone.signal).catch((error: unknown) => error))
  assert.equal(await pool.run('answer', 'b'), 'done')
  gone.abort(new Error('the client has left'))
  const outcomes = await Promise.all(endless)
  // The one that ran lost its thread, those that waited never began.
  assert.equal(outcomes.filter(outcome => outcome instanceof TaskLimitExceeded).length, 1)
  assert.deepEqual(pool.load, { running: 0, waiting: 0 })
})
