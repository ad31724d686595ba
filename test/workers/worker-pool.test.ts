import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { threadModule } from '../../src/workers/thread-module.ts'
import { TaskLimitExceeded, WorkerPool, type WorkerPoolOptions } from '../../src/workers/worker-pool.ts'
import { after } from '../support/after.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { StubbornTask } from './stubborn-thread.ts'

type Pool = WorkerPool<StubbornTask, string | number>

function poolOf(options: Partial<WorkerPoolOptions<StubbornTask>> = {}): Pool {
  const pool: Pool = new WorkerPool({
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
  const first = held(pool, 'a', gone.signal)
  const others = [2, 3].map(() => pool.run('loop', 'a', gone.signal))
  const endless = [first.done, ...others].map(done => done.catch((error: unknown) => error))
  assert.equal(await pool.run('answer', 'b'), 'done')
  // The thread of the other caller may have started earlier.
  await first.begun()
  gone.abort(new Error('the client has left'))
  const outcomes = await Promise.all(endless)
  // The one that ran lost its thread, those that waited never began.
  assert.equal(outcomes.filter(outcome => outcome instanceof TaskLimitExceeded).length, 1)
  assert.deepEqual(pool.load, { running: 0, waiting: 0 })
})

/** A task that runs until the test opens its gate. */
function held(pool: Pool, caller: string, signal?: AbortSignal) {
  const gate = new Int32Array(new SharedArrayBuffer(8))
  const done = pool.run({ gate }, caller, signal)
  const open = (): void => {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
  }
  const begun = async (): Promise<unknown> => await Atomics.waitAsync(gate, 1, 0).value
  return { done, open, begun, hasBegun: () => Atomics.load(gate, 1) > 0 }
}

test('what waits behind the task of one thread is done by another that is free earlier', async () => {
  const pool = poolOf()
  const [first, second] = [held(pool, 'a'), held(pool, 'b')]
  const third = held(pool, 'c')
  third.open()
  await first.begun()
  second.open()
  const thread = await second.done
  assert.equal(await third.done, thread)
  first.open()
  assert.notEqual(await first.done, thread)
})

test('all that wait behind a task are done by another thread that is free', async () => {
  const pool = poolOf()
  const [long, short] = [held(pool, 'a'), held(pool, 'b')]
  await Promise.all([long.begun(), short.begun()])
  const waiting = ['c', 'd', 'e', 'f'].map(caller => pool.run('answer', caller))
  short.open()
  assert.deepEqual(await Promise.all(waiting), ['done', 'done', 'done', 'done'])
  long.open()
  await Promise.all([long.done, short.done])
})

test('of those that wait, the one of a caller with fewer threads is done first', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const pool = poolOf({ threads: 3 })
  const [first, second, other] = [held(pool, 'a'), held(pool, 'a'), held(pool, 'b')]
  await Promise.all([first, second, other].map(({ begun }) => begun()))
  const third = held(pool, 'a')
  // From now on nothing waits behind these: they have been seen to run.
  t.mock.timers.tick(250)
  const last = held(pool, 'c')
  first.open()
  await last.begun()
  assert.equal(third.hasBegun(), false)
  for (const { open } of [second, other, third, last]) open()
  await Promise.all([first, second, other, third, last].map(({ done }) => done))
})

test('what waits behind a task that takes long is done by a thread that is never free', async () => {
  const pool = poolOf()
  const [long, short] = [held(pool, 'a'), held(pool, 'b')]
  const stuck = pool.run('answer', 'c')
  await Promise.all([long.begun(), short.begun()])
  const progress = { isDone: false }
  void stuck.then(() => (progress.isDone = true))
  // Always another one behind the running one: the thread of the short ones is never free.
  let [running, next] = [short, held(pool, 'b')]
  while (!progress.isDone) {
    running.open()
    await next.begun()
    ;[running, next] = [next, held(pool, 'b')]
  }
  for (const { open } of [running, next, long]) open()
  await Promise.all([running.done, next.done, long.done])
})

test('what waits behind a task and is not awaited any more never begins', async () => {
  const pool = poolOf({ threads: 1 })
  const first = held(pool, 'a')
  const gone = new AbortController()
  const second = held(pool, 'a', gone.signal)
  const refused = assert.rejects(second.done, /the client has left/)
  await first.begun()
  gone.abort(new Error('the client has left'))
  await refused
  first.open()
  await first.done
  assert.equal(await pool.run('answer', 'a'), 'done')
  assert.equal(second.hasBegun(), false)
})

test('what waits behind a task that is ended is done by a new thread, with its memory', async () => {
  const moved = (task: StubbornTask): readonly ArrayBuffer[] =>
    typeof task === 'object' && 'bytes' in task ? [task.bytes.buffer as ArrayBuffer] : []
  const pool = poolOf({ threads: 1, timeout: 300, moved })
  for (const [hindrance, others] of [
    ['loop', ['answer', 'done']],
    ['loop', [{ bytes: new Uint8Array(1000) }, 1000]],
    ['allocate', ['answer', 'done']],
  ] as const) {
    const [task, result] = others
    const hindered = assert.rejects(pool.run(hindrance, 'a'), TaskLimitExceeded)
    assert.equal(await pool.run(task, 'a'), result)
    await hindered
  }
  const bytes = new Uint8Array(500)
  assert.equal(await pool.run({ bytes }, 'a'), 500)
  assert.equal(bytes.length, 0, 'moved, not copied')
})

test('a task that fails rejects with its error, and the thread goes on', async () => {
  const pool = poolOf({ threads: 1 })
  const outcomes = await Promise.allSettled([pool.run('fail', 'a'), pool.run('answer', 'a')])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
  await assert.rejects(pool.run('fail', 'a'), { name: 'RangeError', message: 'it failed' })
})

test('a thread that cannot be loaded fails the tasks that it was given, with the reason', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'broken.mjs'), "throw new Error('cannot be loaded')\n")
  const pool = poolOf({ module: pathToFileURL(join(folder, 'broken.mjs')), threads: 1 })
  for (const outcome of await Promise.allSettled([pool.run('answer', 'a'), pool.run('answer', 'a')]))
    assert.match(String(outcome.status === 'rejected' && outcome.reason), /cannot be loaded/)
  assert.deepEqual(pool.load, { running: 0, waiting: 0 })
})

test('a task that cannot be copied to a thread is refused alone', async () => {
  const pool = poolOf({ threads: 1 })
  await assert.rejects(pool.run((() => undefined) as never, 'a'), { name: 'DataCloneError' })
  assert.equal(await pool.run('answer', 'a'), 'done')
})

test('closing ends tasks and refuses new ones', async () => {
  const pool = poolOf({ threads: 1 })
  const endless = [pool.run('loop', 'a'), pool.run('loop', 'a'), pool.run('loop', 'a')]
  const refused = Promise.allSettled(endless)
  await pool.close()
  assert.ok((await refused).every(({ status }) => status === 'rejected'))
  await assert.rejects(pool.run('answer', 'a'), /closed/)
})
