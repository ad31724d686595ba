import { realSystem } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { FairLimiter } from './fair-limiter.ts'
import { type ClockedTask, TaskClock } from './task-clock.ts'
import { ThreadPool } from './thread-pool.ts'

export interface WorkerPoolOptions<Task = unknown> {
  /** The module of the thread; its default export, made by `clocked`, runs one task. */
  readonly module: URL
  /** The number of threads. They start when needed, and end after five minutes without work. */
  readonly threads: number
  /** The maximum processor time of one task; a task that uses more loses its thread. */
  readonly timeout: Milliseconds
  /** The JavaScript memory of one thread, in megabytes. */
  readonly maxMegabytes: number
  readonly maxWaiting: number
  readonly maxWaitingOfOne: number
  /** Names the tasks in error messages, for instance "searches". */
  readonly what: string
  /** The memory of a task that is moved to the thread instead of copied. */
  readonly moved?: (task: Task) => readonly ArrayBuffer[]
  /** Called when the first thread starts; the threads receive the result as `workerData`. */
  readonly data?: () => unknown
}

/** Where tasks run: a pool of this thread, or that of another one. */
export type TaskPool<Task, Result> = Pick<WorkerPool<Task, Result>, 'run' | 'close'>

/** A task exceeded its limit on time or memory. */
export class TaskLimitExceeded extends Error {}

/** After its client has left, a task may run this much longer: if it ends by then, no new thread has to start. */
const ABANDONED: Milliseconds = 1000

const CHECK_INTERVAL: Milliseconds = 250
/** For objects that live briefly: by default a busy thread takes 48 MB for them, and is hardly quicker. */
const YOUNG_MEGABYTES = 12

/** Threads that run tasks, with a fair share for each caller. */
export class WorkerPool<Task, Result> {
  readonly #options: WorkerPoolOptions<Task>
  readonly #limiter: FairLimiter
  readonly #pool: ThreadPool<ClockedTask<Task>, Result>

  constructor(options: WorkerPoolOptions<Task>) {
    const { module, threads, maxMegabytes, maxWaiting, maxWaitingOfOne, what, data } = options
    this.#options = options
    this.#pool = new ThreadPool({
      module,
      threads,
      idleTimeout: 300_000,
      isAsynchronous: true,
      megabytes: { old: maxMegabytes, young: YOUNG_MEGABYTES },
      ...(data ? { data } : {}),
    })
    this.#limiter = new FairLimiter({
      concurrency: threads,
      concurrencyOfOne: Math.max(1, threads - 1),
      maxWaiting,
      maxWaitingOfOne,
      what,
    })
  }

  get load(): { readonly running: number; readonly waiting: number } {
    return this.#limiter.load
  }

  /**
   * @param caller whose share the task takes: a user, or the address of a guest
   * @param clientGone removes a waiting task from the queue, and ends a running one after a second
   * @throws {Overloaded} @throws {TaskLimitExceeded}
   */
  async run(task: Task, caller: string, clientGone?: AbortSignal): Promise<Result> {
    return await this.#limiter.run(caller, () => this.#run(task, clientGone), clientGone)
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }

  async #run(task: Task, clientGone: AbortSignal | undefined): Promise<Result> {
    const ending = new AbortController()
    const clock = new TaskClock()
    let goneSince: Milliseconds | undefined
    const check = (): void => {
      const now = realSystem.monotonic()
      if (clientGone?.aborted === true) goneSince ??= now
      const isAbandoned = goneSince !== undefined && now - goneSince > ABANDONED
      if (isAbandoned || clock.isOver(this.#options.timeout, now)) ending.abort()
    }
    const timer = setInterval(check, CHECK_INTERVAL)
    try {
      return await this.#pool.run({ task, clock: clock.shared }, ending.signal, this.#options.moved?.(task))
    } catch (error) {
      const { name, code } = error as { readonly name?: unknown; readonly code?: unknown }
      if (name !== 'AbortError' && code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
      throw new TaskLimitExceeded('The task exceeds its limits on time and memory.', { cause: error })
    } finally {
      clearInterval(timer)
    }
  }
}
