import { availableParallelism } from 'node:os'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { AnswerCache } from '../http/readers/answer-cache.ts'
import { answerFrom, type AnswerMessage } from '../http/readers/messages.ts'
import type { Readers } from '../http/readers/read-task.ts'
import type { ThreadTeam } from '../threads/team.ts'
import { threadModule } from '../workers/thread-module.ts'
import { type TaskPool, WorkerPool } from '../workers/worker-pool.ts'
import { sharePool } from './team-services.ts'

export interface ReaderData {
  readonly settings: Settings
  readonly base: string
}

const TIMEOUT: Milliseconds = 10_000
const MAX_MEGABYTES = 256
/** As many as there are serving threads, if those are more. */
const MAX_THREADS = 4

/** A request, as a text. */
export type ReaderTask = string
export type ReaderResult = AnswerMessage

/**
 * The threads for heavy reads of all serving threads.
 * @param base is called when the first task arrives
 * @param answers the searches that this serving thread has answered
 * @param isIndexComplete asked in the thread that has the threads for all others
 */
export function createReaders(
  settings: Settings,
  base: () => string,
  team: ThreadTeam | undefined,
  answers: AnswerCache,
  isIndexComplete: () => boolean,
): { readonly readers: Readers } {
  const pool = sharePool(
    team,
    'heavy reads',
    () => marking(openReaders(settings, base, team?.count ?? 1), isIndexComplete),
    {
      task: () => [],
      result: result => {
        if (typeof result === 'string') return []
        const bytes = 'body' in result ? result.body : ''
        return typeof bytes === 'string' ? [] : [bytes.buffer as ArrayBuffer]
      },
    },
  )
  return {
    readers: {
      run: async (task, caller, clientGone) =>
        await answers.answer(task, async text => answerFrom(await pool.run(text, caller, clientGone()))),
      close: () => pool.close(),
    },
  }
}

/** The pool in the thread that has it. It marks what was read before the index was complete. */
const marking = (
  pool: WorkerPool<ReaderTask, ReaderResult>,
  isIndexComplete: () => boolean,
): TaskPool<ReaderTask, ReaderResult> => ({
  run: async (task, caller, signal) => {
    const wasComplete = isIndexComplete()
    const result = await pool.run(task, caller, signal)
    if (wasComplete) return result
    const answer = answerFrom(result)
    return 'refused' in answer ? answer : { ...answer, isPassing: true }
  },
  close: () => pool.close(),
})

function openReaders(
  settings: Settings,
  base: () => string,
  servingThreads: number,
): WorkerPool<ReaderTask, ReaderResult> {
  // One more than may work at once: one is always free for the next caller, and a single caller can use all cores. They start when
  // they are needed.
  const threads = Math.min(availableParallelism(), Math.max(MAX_THREADS, servingThreads)) + 1
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
