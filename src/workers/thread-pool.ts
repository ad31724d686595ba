import { Semaphore, type SemaphoreOptions, type Share } from '../base/semaphore.ts'
import type { Milliseconds } from '../base/units.ts'
import { TaskThread, type TaskThreadOptions } from './task-thread.ts'

const IDLE_TIMEOUT: Milliseconds = 60_000

export interface ThreadPoolOptions extends TaskThreadOptions {
  /** The number of threads. Each starts when it is needed, and ends after a minute without work. */
  readonly threads: number
  /** What may wait for a thread, and what one caller may have running; by default anything. */
  readonly limits?: Partial<Omit<SemaphoreOptions, 'concurrency'>>
}

/** The address of a thread's module beside the file that names it: `.js` when compiled, `.ts` when run from source. */
export const threadModule = (name: string, beside: string): URL =>
  new URL(`./${name}${beside.endsWith('.ts') ? '.ts' : '.js'}`, beside)

/** Threads for one kind of task, with a limit on the time and memory of each task and a fair share for each caller. */
export class ThreadPool<Task, Result> {
  readonly #options: ThreadPoolOptions
  readonly #semaphore: Semaphore
  readonly #threads = new Set<TaskThread>()
  /** Threads without a task, the one that had one last at the end, each with the timer that ends it. */
  readonly #idle = new Map<TaskThread, NodeJS.Timeout>()
  #isClosed = false

  constructor(options: ThreadPoolOptions) {
    const { threads, limits } = options
    this.#options = options
    this.#semaphore = new Semaphore({ queue: Number.POSITIVE_INFINITY, what: 'tasks', ...limits, concurrency: threads })
  }

  get load(): Semaphore['load'] {
    return this.#semaphore.load
  }

  /**
   * @param share whose share the task takes; its signal takes a waiting task out of the queue
   * @throws {Overloaded} when too many wait @throws {TaskLimitExceeded} @throws what the task throws: a refusal of the service with its
   * class, any other error without @throws why the thread ended or could not start
   */
  run(task: Task, share?: Share): Promise<Result> {
    return this.#semaphore.run(() => this.#run(task), share)
  }

  /** Ends the threads, and with them all tasks. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#threads].map(thread => thread.end(closed())))
  }

  async #run(task: Task): Promise<Result> {
    if (this.#isClosed) throw closed()
    const thread = this.#takeIdle() ?? this.#start()
    try {
      return (await thread.run(task)) as Result
    } finally {
      if (this.#threads.has(thread)) this.#idle.set(thread, setTimeout(() => void thread.end(), IDLE_TIMEOUT).unref())
    }
  }

  #takeIdle(): TaskThread | undefined {
    const thread = [...this.#idle.keys()].at(-1)
    if (thread) this.#forgetIdle(thread)
    return thread
  }

  #start(): TaskThread {
    const thread = new TaskThread(this.#options, () => {
      this.#threads.delete(thread)
      this.#forgetIdle(thread)
    })
    this.#threads.add(thread)
    return thread
  }

  #forgetIdle(thread: TaskThread): void {
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
  }
}

const closed = (): Error => new Error('the threads are closed')
