import { threadId } from 'node:worker_threads'
import { NotFound } from '../../src/base/errors.ts'
import { serveTasks } from '../../src/workers/serve-tasks.ts'

export type StubbornTask = 'answer' | 'loop' | 'allocate' | 'fail' | 'refuse' | 'die later' | 'thread'

/** A thread for tests: does what the task names. */
async function work(task: StubbornTask): Promise<string | number> {
  if (task === 'loop') for (;;);
  if (task === 'allocate') allocate()
  if (task === 'die later') setImmediate(allocate)
  if (task === 'fail') throw new RangeError('it failed')
  if (task === 'refuse') throw new NotFound('not-found', 'it is not there')
  if (task === 'thread') return threadId
  return await Promise.resolve('done')
}

function allocate(): never {
  const kept: number[][] = []
  for (;;) kept.push(Array.from({ length: 100_000 }, (_, n) => n + kept.length))
}

serveTasks(work)
