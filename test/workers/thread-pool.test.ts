import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { NotFound } from '../../src/base/errors.ts'
import { TaskLimitExceeded, ThreadPool, type ThreadPoolOptions, threadModule } from '../../src/workers/thread-pool.ts'
import { after } from '../support/after.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'
import type { StubbornTask } from './stubborn-thread.ts'

function poolOf(options: Partial<ThreadPoolOptions> = {}) {
  const pool = new ThreadPool<StubbornTask, string | number>({
    module: threadModule('stubborn-thread', import.meta.url),
    threads: 1,
    timeout: 60_000,
    megabytes: 64,
    ...options,
  })
  after(() => pool.close())
  return pool
}

async function written(text: string): Promise<URL> {
  const file = join(await temporaryFolder(), 'module.mjs')
  await writeFile(file, text)
  return pathToFileURL(file)
}

for (const [title, text, expected] of [
  ['takes too much memory', 'const all = []\nfor (;;) all.push(new Array(100_000).fill(1.5))', /memory/],
  ['ends', 'process.exit(3)', /ended with 3/],
  ['throws', 'throw new Error("not here")', /not here/],
] as const) {
  test(`when a thread ${title} while it starts, its tasks and no others learn why`, async () => {
    const pool = poolOf({ module: await written(text) })
    for (const outcome of await Promise.allSettled([pool.run('answer'), pool.run('answer')])) {
      assert.ok(outcome.status === 'rejected')
      assert.match((outcome.reason as Error).message, expected)
    }
    await eventually('its place is free', async () => pool.load.running === 0)
  })
}

test('a thread that runs out of memory without a task ends alone, and the next task gets another', async () => {
  const pool = poolOf()
  const first = await pool.run('thread')
  assert.equal(await pool.run('die later'), 'done')
  await eventually('there is another thread', async () => {
    const thread = await pool.run('thread').catch(() => undefined)
    return thread !== undefined && thread !== first
  })
})

test('a thread that the system refuses is an error of its task', async () => {
  const pool = poolOf({ module: new URL('https://example.org/thread.js') })
  await assert.rejects(pool.run('answer'), { code: 'ERR_INVALID_URL_SCHEME' })
})

for (const [task, limit] of [
  ['loop', 'time'],
  ['allocate', 'memory'],
] as const) {
  test(`a task that takes too much ${limit} loses its thread, and those behind it get another`, async () => {
    const pool = poolOf(limit === 'time' ? { timeout: 3000 } : {})
    const endless = assert.rejects(pool.run(task), { constructor: TaskLimitExceeded, limit })
    assert.equal(await pool.run('answer'), 'done')
    await endless
  })
}

test('the time of a task begins when its thread has started, however long that takes', async () => {
  const module = await written(
    `const end = performance.now() + 1500
     while (performance.now() < end);
     const { serveTasks } = await import(${JSON.stringify(new URL('../../src/workers/serve-tasks.ts', import.meta.url))})
     serveTasks(() => 'done')`,
  )
  assert.equal(await poolOf({ module, timeout: 1000 }).run('answer'), 'done')
})

test('an outcome that arrived in time counts, although the process was too busy to read it', async () => {
  const state = new Int32Array(new SharedArrayBuffer(4))
  const module = await written(
    `import { workerData } from 'node:worker_threads'
     const { serveTasks } = await import(${JSON.stringify(new URL('../../src/workers/serve-tasks.ts', import.meta.url))})
     serveTasks(() => { Atomics.add(workerData, 0, 1); Atomics.notify(workerData, 0) })`,
  )
  const pool = poolOf({ module, timeout: 1000, data: () => state })
  await pool.run('answer')
  const outcome = pool.run('answer')
  const begin = performance.now()
  // The task is handed over before this line is reached again.
  setImmediate(() => {
    Atomics.wait(state, 0, 1)
    while (performance.now() < begin + 1500);
  })
  await outcome
})

test('a thread in native code keeps its place until it has ended, and its task is refused in time', async () => {
  const file = join(await temporaryFolder(), 'locked.sqlite')
  const lock = new DatabaseSync(file)
  after(() => lock.close())
  lock.exec('BEGIN EXCLUSIVE')
  const module = await written(
    `import { DatabaseSync } from 'node:sqlite'
     const { serveTasks } = await import(${JSON.stringify(new URL('../../src/workers/serve-tasks.ts', import.meta.url))})
     const database = new DatabaseSync(${JSON.stringify(file)}, { timeout: 600_000 })
     serveTasks(task => task === 'loop' ? database.exec('BEGIN EXCLUSIVE') : 'done')`,
  )
  const pool = poolOf({ module, timeout: 1000 })
  await assert.rejects(pool.run('loop'), { constructor: TaskLimitExceeded, limit: 'time' })
  const next = pool.run('answer')
  assert.deepEqual(pool.load, { running: 1, waiting: 1 })
  lock.exec('COMMIT')
  assert.equal(await next, 'done')
})

test('a signal takes a task out of the queue, and what has begun goes on within its limits', async () => {
  const pool = poolOf({ timeout: 1000 })
  const gone = new AbortController()
  const share = { of: 'a', signal: gone.signal }
  const endless = assert.rejects(pool.run('loop', share), TaskLimitExceeded)
  const waiting = pool.run('answer', share)
  gone.abort(new Error('gone'))
  await assert.rejects(waiting, { message: 'gone' })
  await assert.rejects(pool.run('answer', share), { message: 'gone' })
  await endless
})

test('while one caller has work that never ends, another is answered (D15.4)', async () => {
  const pool = poolOf({ threads: 2, timeout: 3000, limits: { concurrencyOfOne: 1 } })
  // Starts both threads, which may take longer than a task.
  await Promise.all(['a', 'b'].map(of => pool.run('answer', { of })))
  const endless = [1, 2].map(() => assert.rejects(pool.run('loop', { of: 'a' }), TaskLimitExceeded))
  assert.equal(await pool.run('answer', { of: 'b' }), 'done')
  assert.deepEqual(pool.load, { running: 1, waiting: 1 })
  await Promise.all(endless)
})

test('a thread does any number of tasks in order of arrival', async () => {
  const pool = poolOf()
  const done: number[] = []
  const all = Array.from({ length: 30 }, (_, n) => pool.run('answer').then(() => done.push(n)))
  await Promise.all(all)
  assert.deepEqual(
    done,
    all.map((_, n) => n),
  )
})

test('a task that fails rejects with its error, a refusal with its class, and the thread goes on', async () => {
  const pool = poolOf()
  const thread = await pool.run('thread')
  await assert.rejects(pool.run('fail'), { name: 'RangeError', message: 'it failed' })
  await assert.rejects(pool.run('refuse'), { constructor: NotFound, code: 'not-found', message: 'it is not there' })
  assert.equal(await pool.run('thread'), thread)
})

test('a task that cannot be copied to a thread is refused alone', async () => {
  const pool = poolOf()
  await assert.rejects(pool.run((() => undefined) as never), { name: 'DataCloneError' })
  assert.equal(await pool.run('answer'), 'done')
})

test('closing ends tasks and refuses new ones', async () => {
  const pool = poolOf()
  const refused = Promise.allSettled([pool.run('loop'), pool.run('loop')])
  await pool.close()
  assert.ok((await refused).every(({ status }) => status === 'rejected'))
  await assert.rejects(pool.run('answer'), /closed/)
})
