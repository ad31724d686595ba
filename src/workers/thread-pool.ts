import { realSystem } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { type Megabytes, TaskThread } from './task-thread.ts'

const IDLE_TIMEOUT: Milliseconds = 30_000
const CHECK_INTERVAL: Milliseconds = 1000

export interface ThreadPoolOptions {
  /** The module of the thread, which calls `serveTasks`. */
  readonly module: URL
  /** The number of threads. Each starts when it is needed, and ends after 30 s without work. */
  readonly threads: number
  /** The JavaScript memory of one thread; by default that of the process. */
  readonly megabytes?: Megabytes
}

/**
 * Threads for one kind of task. Whoever hands out more tasks than there are threads limits them first: here they wait behind others,
 * without turns or limits (`WorkerPool` has both).
 */
export class ThreadPool<Task, Result> {
  readonly #threads: ReadonlyArray<TaskThread<Task, Result>>
  #timer: NodeJS.Timeout | undefined

  constructor({ module, threads, megabytes }: ThreadPoolOptions) {
    this.#threads = Array.from({ length: threads }, () => new TaskThread<Task, Result>({ module, megabytes }))
  }

  /**
   * @param signal ends the task, with its thread if it has begun; the promise rejects with the reason of the signal
   * @throws what the task throws, without its class; why the thread ended or could not start
   */
  async run(task: Task, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    this.#timer ??= setInterval(() => this.#check(), CHECK_INTERVAL).unref()
    const endAborted = (): void => this.#endAborted()
    signal?.addEventListener('abort', endAborted)
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#next().hand({ task, caller: '', clientGone: signal, moved: [], resolve, reject })
      })
    } finally {
      signal?.removeEventListener('abort', endAborted)
    }
  }

  /** Ends the threads, and with them all tasks. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    await Promise.all(this.#threads.map(thread => thread.close(new Error('the threads are closed'))))
  }

  /** The one with the fewest tasks; of several the one that need not start. */
  #next(): TaskThread<Task, Result> {
    const cost = ({ jobs, isStarted }: TaskThread<Task, Result>): number => 2 * jobs.length + (isStarted ? 0 : 1)
    return this.#threads.reduce((best, thread) => (cost(thread) < cost(best) ? thread : best))
  }

  #check(): void {
    // A task may have been second when it was aborted, and have begun before the outcome of the first had come.
    this.#endAborted()
    for (const thread of this.#threads) thread.endIfIdleFor(IDLE_TIMEOUT, realSystem.monotonic())
    if (this.#threads.some(({ isStarted }) => isStarted)) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #endAborted(): void {
    for (const thread of this.#threads) {
      for (const job of thread.jobs.filter(({ clientGone }) => clientGone?.aborted)) {
        const reason = job.clientGone?.reason as Error
        if (thread.takeBack(job)) job.reject(reason)
        else if (thread.jobs[0] === job) thread.kill(reason)
      }
    }
  }
}
