import { availableParallelism } from 'node:os'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { Readers } from '../http/readers/read-task.ts'
import { threadModule } from '../workers/thread-pool.ts'
import { WorkerPool } from '../workers/worker-pool.ts'

export interface ReaderData {
  readonly settings: Settings
  readonly base: string
}

const TIMEOUT: Milliseconds = 10_000
const MAX_MEGABYTES = 256
const MAX_THREADS = 4

/**
 * @param base is called when the first heavy read arrives
 * @param share of the cores, for one of several serving threads
 */
export function createReaders(settings: Settings, base: () => string, share = 1): Readers {
  const cores = Math.min(availableParallelism(), MAX_THREADS)
  // With two threads one is always free for the next caller. They start when they are needed.
  const threads = Math.max(2, Math.ceil(cores * share))
  return new WorkerPool({
    module: threadModule('reader-thread', import.meta.url),
    threads,
    timeout: TIMEOUT,
    maxMegabytes: MAX_MEGABYTES,
    maxWaiting: 500,
    maxWaitingOfOne: 100,
    what: 'searches and large responses',
    data: (): ReaderData => ({ settings, base: base() }),
  })
}
