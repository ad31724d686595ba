import { availableParallelism } from 'node:os'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { ReadAnswer, ReadTask } from '../http/readers/read-task.ts'
import { ThreadPool, threadModule } from '../workers/thread-pool.ts'

export interface ReaderData {
  readonly settings: Settings
  readonly base: string
}

const TIMEOUT: Milliseconds = 10_000
const MEGABYTES = 256
const MAX_THREADS = 4

/** The threads for heavy reads. @param base is called when a thread starts */
export function createReaders(settings: Settings, base: () => string): ThreadPool<ReadTask, ReadAnswer> {
  // One more than may work at once: one is always free for the next caller, and a single caller can use all cores.
  const threads = Math.min(availableParallelism(), MAX_THREADS) + 1
  return new ThreadPool({
    module: threadModule('reader-thread', import.meta.url),
    threads,
    timeout: TIMEOUT,
    megabytes: MEGABYTES,
    limits: { concurrencyOfOne: threads - 1, queue: 500, queueOfOne: 100, what: 'searches and large responses' },
    data: (): ReaderData => ({ settings: { ...settings }, base: base() }),
  })
}
