import { clocked } from '../../src/workers/task-clock.ts'

/** A thread for tests: does what the task names. */
async function work(task: 'answer' | 'loop' | 'allocate'): Promise<string> {
  if (task === 'loop') for (;;);
  if (task === 'allocate') {
    const kept: number[][] = []
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, n) => n + kept.length))
  }
  return await Promise.resolve('done')
}

export default clocked(work)
