import { realSystem } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { FairLimiter } from './fair-limiter.ts'
import { PLACES } from './serve-tasks.ts'
import { type Job, TaskThread } from './task-thread.ts'

export interface WorkerPoolOptions<Task = unknown> {
  /** The module of the thread, which calls `serveTasks`. */
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
  /** Called when a thread starts, which gets the result as `dataOfThread()`. */
  readonly data?: () => unknown
}

/** Where tasks run: a pool of this thread, or that of another one. */
export type TaskPool<Task, Result> = Pick<WorkerPool<Task, Result>, 'run' | 'close'>

/** A task exceeded its limit on time or memory. */
export class TaskLimitExceeded extends Error {}

/** After its client has left, a task may run this much longer: if it ends by then, no new thread has to start. */
const ABANDONED: Milliseconds = 1000

const CHECK_INTERVAL: Milliseconds = 250
const IDLE_TIMEOUT: Milliseconds = 300_000
/** For objects that live briefly: by default a busy thread takes 48 MB for them, and is hardly quicker. */
const YOUNG_MEGABYTES = 12

/**
 * Threads that run tasks, with a fair share for each caller. A thread has its next task before it has done the last one, because handing
 * over takes longer than many a task. Nothing has to wait behind a long one: another thread that is free earlier gets what waits there, and
 * after a quarter of a second any thread does.
 */
export class WorkerPool<Task, Result> {
  readonly #options: WorkerPoolOptions<Task>
  readonly #limiter: FairLimiter
  readonly #threads: ReadonlyArray<TaskThread<Task, Result>>
  /** How many threads one caller may keep busy. */
  readonly #threadsOfOne: number
  /** Tasks whose turn has come, while no thread should get them. */
  readonly #pending: Array<Job<Task, Result>> = []
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: WorkerPoolOptions<Task>) {
    const { module, threads, maxMegabytes, maxWaiting, maxWaitingOfOne, what, data } = options
    this.#options = options
    this.#threadsOfOne = Math.max(1, threads - 1)
    this.#threads = Array.from({ length: threads }, () => {
      const thread: TaskThread<Task, Result> = new TaskThread<Task, Result>({
        module,
        megabytes: { old: maxMegabytes, young: YOUNG_MEGABYTES },
        data,
        onPlace: () => this.#fill(thread),
        exceeded,
      })
      return thread
    })
    this.#limiter = new FairLimiter({
      concurrency: PLACES * threads,
      concurrencyOfOne: PLACES * this.#threadsOfOne,
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
    return await this.#limiter.run(caller, () => this.#run(task, caller, clientGone), clientGone)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const { reject } of this.#pending.splice(0)) reject(closed())
    await Promise.all(this.#threads.map(thread => thread.close(closed())))
  }

  async #run(task: Task, caller: string, clientGone: AbortSignal | undefined): Promise<Result> {
    if (this.#isClosed) throw closed()
    this.#timer ??= setInterval(() => this.#check(), CHECK_INTERVAL).unref()
    const moved = this.#options.moved?.(task) ?? []
    return await new Promise<Result>((resolve, reject) => {
      this.#place({ task, caller, clientGone, moved, resolve, reject })
    })
  }

  #place(job: Job<Task, Result>): void {
    const thread = this.#threadFor(job.caller)
    if (thread) thread.hand(job)
    else this.#pending.push(job)
  }

  /** A free thread, or one that will do the task next. */
  #threadFor(caller: string): TaskThread<Task, Result> | undefined {
    const free = this.#mayTakeThread(caller) ? this.#freeThread() : undefined
    if (free) return free
    const busy = this.#threads
      .filter(({ jobs, hasPlace }) => jobs.length > 0 && hasPlace)
      .sort((a, b) => a.jobs.length - b.jobs.length)
    return busy.find(({ jobs }) => jobs[0]?.caller === caller) ?? busy[0]
  }

  #freeThread(): TaskThread<Task, Result> | undefined {
    const free = this.#threads.filter(({ jobs }) => jobs.length === 0)
    return free.find(({ isStarted }) => isStarted) ?? free[0]
  }

  #mayTakeThread(caller: string): boolean {
    return this.#threadsWith(caller) < this.#threadsOfOne
  }

  #threadsWith(caller: string): number {
    return this.#threads.filter(({ jobs }) => jobs[0]?.caller === caller).length
  }

  /** Those of callers with fewer threads first: a caller may have many tasks here. */
  #inTurn(jobs: ReadonlyArray<Job<Task, Result>>): Array<Job<Task, Result>> {
    return [...jobs].sort((a, b) => this.#threadsWith(a.caller) - this.#threadsWith(b.caller))
  }

  /** Gives a thread that has a place what is pending, or if it is free, what waits behind the task of another. */
  #fill(thread: TaskThread<Task, Result>): void {
    const isFree = thread.jobs.length === 0
    const pending = thread.hasPlace
      ? this.#inTurn(this.#pending).find(job => !isFree || this.#mayTakeThread(job.caller))
      : undefined
    if (pending) {
      this.#pending.splice(this.#pending.indexOf(pending), 1)
      thread.hand(pending)
    } else if (isFree) this.#relieve(thread)
  }

  #relieve(free: TaskThread<Task, Result>): void {
    const waiting = this.#inTurn(this.#threads.flatMap(({ jobs }) => jobs.slice(1)))
    const taken = waiting.find(
      job => this.#mayTakeThread(job.caller) && this.#threads.some(thread => thread.takeBack(job)),
    )
    if (taken) free.hand(taken)
  }

  /** Ends tasks that take too long, and threads without work. */
  #check(): void {
    const now = realSystem.monotonic()
    for (const job of this.#pending.filter(isGone)) {
      this.#pending.splice(this.#pending.indexOf(job), 1)
      job.reject(job.clientGone?.reason)
    }
    for (const thread of this.#threads) {
      this.#checkTask(thread, now)
      thread.endIfIdleFor(IDLE_TIMEOUT, now)
    }
    if (this.#threads.some(({ isStarted }) => isStarted)) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #checkTask(thread: TaskThread<Task, Result>, now: Milliseconds): void {
    const [running, ...waiting] = thread.jobs
    const clock = thread.clock(now)
    for (const job of waiting) {
      if ((!clock && !isGone(job)) || !thread.takeBack(job)) continue
      if (isGone(job)) job.reject(job.clientGone?.reason)
      else this.#place(job)
    }
    if (!running || !clock) return
    const isAbandoned = isGone(running) && clock.abandonedFor(now) > ABANDONED
    if (isAbandoned || clock.isOver(this.#options.timeout, now)) thread.kill(exceeded())
  }
}

const isGone = ({ clientGone }: Pick<Job<unknown, unknown>, 'clientGone'>): boolean => clientGone?.aborted === true

const exceeded = (cause?: unknown): TaskLimitExceeded =>
  new TaskLimitExceeded('The task exceeds its limits on time and memory.', { cause })

const closed = (): Error => new Error('the threads are closed')
