import { threadId } from 'node:worker_threads'
import { serveTasks } from '../../src/workers/serve-tasks.ts'

export type StubbornTask =
  | 'answer'
  | 'loop'
  | 'allocate'
  | 'fail'
  /** Shared memory: counts the beginning in its second element, and waits until the first is not 0. Returns the thread's id. */
  | { readonly gate: Int32Array }
  /** Returns the number of bytes. */
  | { readonly bytes: Uint8Array }

/** A thread for tests: does what the task names. */
async function work(task: StubbornTask): Promise<string | number> {
  if (task === 'loop') for (;;);
  if (task === 'allocate') {
    const kept: number[][] = []
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, n) => n + kept.length))
  }
  if (task === 'fail') throw new RangeError('it failed')
  if (typeof task === 'string') return await Promise.resolve('done')
  if ('bytes' in task) return task.bytes.length
  Atomics.add(task.gate, 1, 1)
  Atomics.notify(task.gate, 1)
  Atomics.wait(task.gate, 0, 0)
  return threadId
}

serveTasks(work)
