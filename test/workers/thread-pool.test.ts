import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { threadModule } from '../../src/workers/thread-module.ts'
import { ThreadPool } from '../../src/workers/thread-pool.ts'
import { after } from '../support/after.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { StubbornTask } from './stubborn-thread.ts'

const serveTasks = new URL('../../src/workers/serve-tasks.ts', import.meta.url).href
const stubborn = threadModule('stubborn-thread', import.meta.url)

function poolOf(module: URL, options: { readonly threads?: number; readonly old?: number } = {}) {
  const { threads = 1, old = 64 } = options
  const pool = new ThreadPool<StubbornTask, string | number>({ module, threads, megabytes: { old, young: 6 } })
  after(() => pool.close())
  return pool
}

async function written(text: string): Promise<URL> {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'other.js'), 'export const loaded = true\n')
  await writeFile(join(folder, 'module.js'), text)
  return pathToFileURL(join(folder, 'module.js'))
}

for (const [title, text, expected] of [
  ['takes too much memory', 'const all = []\nfor (;;) all.push(new Array(100_000).fill(1.5))', /memory/],
  ['ends', 'process.exit(3)', /ended with 3/],
  ['throws', 'throw new Error("not here")', /not here/],
] as const) {
  test(`when a thread ${title} while it starts, its tasks and no others learn why (D35.31)`, async () => {
    const pool = poolOf(await written(text))
    const [one, two] = await Promise.allSettled([pool.run('answer'), pool.run('answer')])
    for (const outcome of [one, two]) {
      assert.ok(outcome.status === 'rejected')
      assert.match((outcome.reason as Error).message, expected)
    }
  })
}

test('a thread that the system refuses is an error of its task (D35.31)', async () => {
  await assert.rejects(poolOf(new URL('https://example.org/thread.js')).run('answer'), {
    code: 'ERR_INVALID_URL_SCHEME',
  })
})

test('a signal ends a task with its thread, and those behind it get another (D35.31)', async () => {
  const pool = poolOf(stubborn)
  const [first, second] = [new AbortController(), new AbortController()]
  const endless = pool.run('loop', first.signal)
  const behind = pool.run('loop', second.signal)
  const last = pool.run('answer')
  second.abort(new Error('second'))
  await assert.rejects(behind, { message: 'second' })
  first.abort(new Error('first'))
  await assert.rejects(endless, { message: 'first' })
  assert.equal(await last, 'done')
  await assert.rejects(pool.run('answer', AbortSignal.abort(new Error('before'))), { message: 'before' })
  assert.equal(await pool.run('answer', second.signal).catch((error: Error) => error.message), 'second')
})

test('as many tasks run at once as there are threads (D35.31)', async () => {
  const pool = poolOf(stubborn, { threads: 2 })
  const gone = new AbortController()
  const endless = pool.run('loop', gone.signal)
  assert.equal(await pool.run('answer'), 'done')
  gone.abort(new Error('gone'))
  await assert.rejects(endless, { message: 'gone' })
})

test('a thread does any number of tasks in order of arrival, and those that wait can be ended (D35.45)', async () => {
  const pool = poolOf(stubborn)
  const [first, gone] = [new AbortController(), new AbortController()]
  const endless = pool.run('loop', first.signal)
  const withdrawn = pool.run('answer', gone.signal)
  const done: number[] = []
  const others = Array.from({ length: 30 }, (_, n) => pool.run('answer').then(() => done.push(n)))
  const last = pool.run('answer', gone.signal)
  gone.abort(new Error('gone'))
  for (const one of [withdrawn, last]) await assert.rejects(one, { message: 'gone' })
  first.abort(new Error('first'))
  await assert.rejects(endless, { message: 'first' })
  await Promise.all(others)
  assert.deepEqual(
    done,
    others.map((_, n) => n),
  )
})

test('closing rejects what has not ended, and the pool can be used again (D35.31)', async () => {
  const pool = poolOf(stubborn)
  const endless = assert.rejects(pool.run('loop'), /closed/)
  await pool.close()
  await endless
  assert.equal(await pool.run('answer'), 'done')
})

const hasFault = Number.parseInt(process.versions.node, 10) < 24

// Before Node 24 the whole process ends if a thread is ended while `require()` links an ES module. That moment is short and cannot be met
// at will, so this test shows that no thread loads an ES module in this way.
test('threads load no ES module by require, so that they can be ended at any time', async () => {
  const module = await written(
    `import { createRequire } from 'node:module'
import { serveTasks } from '${serveTasks}'
serveTasks(() => {
  try {
    return createRequire(import.meta.url)('./other.js').loaded
  } catch ({ code }) {
    return code
  }
})
`,
  )
  assert.equal(await poolOf(module).run('answer'), hasFault ? 'ERR_REQUIRE_ESM' : true)
})
