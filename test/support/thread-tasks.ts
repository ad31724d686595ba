import { Worker } from 'node:worker_threads'
import type { Task } from './shared-store-worker.ts'

/** Runs each task on a thread of its own, all at once; resolves to their results and rejects with the first error. */
export function runTasks<T>(tasks: readonly Task[]): Promise<T[]> {
  return Promise.all(
    tasks.map(
      task =>
        new Promise<T>((resolve, reject) => {
          const worker = new Worker(new URL('./shared-store-worker.js', import.meta.url), { workerData: task })
          worker.once('message', resolve)
          worker.once('error', reject)
        }),
    ),
  )
}
