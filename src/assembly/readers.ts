import { availableParallelism } from 'node:os'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { ReadAnswer, Readers, ReadTask } from '../http/readers/read-task.ts'
import type { ThreadTeam } from '../threads/team.ts'
import { threadModule } from '../workers/thread-pool.ts'
import { WorkerPool } from '../workers/worker-pool.ts'
import { sharePool } from './team-services.ts'

export interface ReaderData {
  readonly settings: Settings
  readonly base: string
}

const TIMEOUT: Milliseconds = 10_000
const MAX_MEGABYTES = 256
/** As many as there are serving threads, if those are more. */
const MAX_THREADS = 4

/**
 * The threads for heavy reads of all serving threads.
 * @param base is called when the first heavy read arrives
 */
export const createReaders = (settings: Settings, base: () => string, team: ThreadTeam | undefined): Readers =>
  sharePool(team, 'heavy reads', () => openReaders(settings, base, team?.count ?? 1), {
    result: answer => ('body' in answer && typeof answer.body !== 'string' ? [answer.body.buffer as ArrayBuffer] : []),
  })

function openReaders(settings: Settings, base: () => string, servingThreads: number): WorkerPool<ReadTask, ReadAnswer> {
  // With two threads one is always free for the next caller. They start when they are needed.
  const threads = Math.max(2, Math.min(availableParallelism(), Math.max(MAX_THREADS, servingThreads)))
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
