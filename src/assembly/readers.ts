import { availableParallelism } from 'node:os'
import type { Milliseconds } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { AnswerCache } from '../http/readers/answer-cache.ts'
import { answerFrom, type AnswerMessage } from '../http/readers/messages.ts'
import type { Readers } from '../http/readers/read-task.ts'
import { threadModule } from '../workers/thread-module.ts'
import { type TaskPool, WorkerPool } from '../workers/worker-pool.ts'

export interface ReaderData {
  readonly settings: Settings
  readonly base: string
}

const TIMEOUT: Milliseconds = 10_000
const MAX_MEGABYTES = 256
const MAX_THREADS = 4

/** A request, as a text. */
export type ReaderTask = string
export type ReaderResult = AnswerMessage

/**
 * The threads for heavy reads.
 * @param base is called when the first task arrives
 * @param answers the searches that have been answered
 */
export function createReaders(
  settings: Settings,
  base: () => string,
  answers: AnswerCache,
  isIndexComplete: () => boolean,
): { readonly readers: Readers } {
  const pool = marking(openReaders(settings, base), isIndexComplete)
  return {
    readers: {
      run: async (task, caller, clientGone) =>
        await answers.answer(task, async text => answerFrom(await pool.run(text, caller, clientGone()))),
      close: () => pool.close(),
    },
  }
}

/** Marks what was read before the index was complete. */
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

function openReaders(settings: Settings, base: () => string): WorkerPool<ReaderTask, ReaderResult> {
  // One more than may work at once: one is always free for the next caller, and a single caller can use all cores. They start when
  // they are needed.
  const threads = Math.min(availableParallelism(), MAX_THREADS) + 1
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
