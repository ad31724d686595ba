import { Semaphore, type SemaphoreOptions, type Share } from '../base/semaphore.ts'
import type { Milliseconds } from '../base/units.ts'
import { Worker } from 'node:worker_threads'
import { READY, refusalFrom, type TaskOutcome, withClass } from './serve-tasks.ts'

const IDLE_TIMEOUT: Milliseconds = 60_000

export interface ThreadPoolOptions extends TaskThreadOptions {
  /** The number of threads. Each starts when it is needed, and ends after a minute without work. */
  readonly threads: number
  /** Limits for waiting tasks and for the tasks of one caller; by default there are none. */
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
  readonly #outdated = new WeakSet<TaskThread>()
  /** Idle threads, the most recently used last, each with the timer that ends it. */
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
   * @param share the caller for whom the task counts; its signal takes a waiting task out of the queue
   * @throws {Overloaded} when too many tasks wait @throws {TaskLimitExceeded}
   * @throws the error of the task: a refusal of the service with its class, any other error without @throws why the thread ended or could
   * not start
   */
  run(task: Task, share?: Share): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#semaphore.run(() => this.#run(task, reject), share).then(resolve, reject)
    })
  }

  /** Replaces the threads, so that tasks have new `data`. One with a task ends when the task has ended. */
  renew(): void {
    for (const thread of this.#threads) this.#outdated.add(thread)
    for (const thread of this.#idle.keys()) void thread.end()
  }

  /** Ends the threads, and with them all tasks. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#threads].map(thread => thread.end(closed())))
  }

  /** Settles when the place of the task is free. @param reject is called at once when the thread ends */
  async #run(task: Task, reject: (reason: unknown) => void): Promise<Result> {
    if (this.#isClosed) throw closed()
    const thread = this.#takeIdle() ?? this.#start()
    try {
      return (await thread.run(task)) as Result
    } catch (error) {
      if (!this.#threads.has(thread)) {
        reject(error)
        // A statement of SQLite cannot be interrupted: until it ends, the thread takes a core and memory.
        await thread.exit
      }
      throw error
    } finally {
      if (this.#outdated.has(thread)) void thread.end()
      else if (this.#threads.has(thread))
        this.#idle.set(thread, setTimeout(() => void thread.end(), IDLE_TIMEOUT).unref())
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

/** JavaScript memory for objects that live briefly. By default the engine lets dropped ones fill 48 MB. */
const YOUNG_MEGABYTES = 16

interface TaskThreadOptions {
  /** The module of the thread, which calls `serveTasks`. */
  readonly module: URL
  /** The maximum time of one task, from when its thread has started; a task that takes longer loses its thread. */
  readonly timeout: Milliseconds
  /** The JavaScript memory of the thread; by default that of the process. */
  readonly megabytes?: number
  /** Called when a thread starts, which gets the result as its `workerData`. */
  readonly data?: () => unknown
}

/** A task exceeded its limit on time or memory. */
export class TaskLimitExceeded extends Error {
  readonly limit: 'time' | 'memory'

  constructor(limit: 'time' | 'memory', options?: { readonly cause: unknown }) {
    super(`The task exceeds its limit on ${limit}.`, options)
    this.limit = limit
  }
}

interface Job {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A thread that does one task at a time. While it has none, the process need not wait for it. */
class TaskThread {
  readonly #worker: Worker
  readonly #timeout: Milliseconds
  readonly #onEnd: () => void
  /** Resolves when nothing of the thread runs any more. */
  readonly exit: Promise<void>
  #job: Job | undefined
  /** Ends the thread when the time of its task is over. */
  #timer: NodeJS.Timeout | undefined
  #isReady = false
  #isEnded = false

  /** @param onEnd called once, when the thread can have no more tasks @throws when the system has no thread or memory left */
  constructor({ module, timeout, megabytes, data }: TaskThreadOptions, onEnd: () => void) {
    this.#timeout = timeout
    this.#onEnd = onEnd
    this.#worker = new Worker(module, {
      workerData: data?.(),
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_MEGABYTES,
        ...(megabytes === undefined ? {} : { maxOldGenerationSizeMb: megabytes }),
      },
    })
    this.#worker.on('message', (message: TaskOutcome | typeof READY) => {
      if (message !== READY) return this.#settle(message)
      this.#isReady = true
      if (this.#job) this.#startTimer()
    })
    // A thread without a task may end as well, for instance because it is out of memory; then nobody has to know.
    this.#worker.on('error', (error: Error) =>
      this.#ended(isOutOfMemory(error) ? new TaskLimitExceeded('memory', { cause: error }) : withClass(error)),
    )
    this.exit = new Promise(resolve => {
      this.#worker.on('exit', code => {
        this.#ended(new Error(`the thread has ended with ${code}`))
        resolve()
      })
    })
    this.#worker.unref()
  }

  run(task: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#job = { resolve, reject }
      // Where many programs run, a thread can take long to load its modules: no fault of its first task.
      if (this.#isReady) this.#startTimer()
      this.#worker.ref()
      try {
        this.#worker.postMessage(task)
      } catch (error) {
        this.#settle({ error })
      }
    })
  }

  /** Ends the thread, whatever it does. @param reason for its task */
  async end(reason: Error = new Error('the thread was ended')): Promise<void> {
    this.#ended(reason)
    await this.#worker.terminate()
  }

  #startTimer(): void {
    const job = this.#job
    const stop = (): void => {
      if (this.#job === job) void this.end(new TaskLimitExceeded('time'))
    }
    // If this process was stopped or busy, the outcome may have arrived in time and is read in this turn of the event loop.
    this.#timer = setTimeout(() => setImmediate(stop), this.#timeout)
  }

  #settle(outcome: TaskOutcome): void {
    const job = this.#job
    this.#job = undefined
    clearTimeout(this.#timer)
    this.#worker.unref()
    if ('result' in outcome) job?.resolve(outcome.result)
    else job?.reject('refused' in outcome ? refusalFrom(outcome.refused) : outcome.error)
  }

  #ended(error: unknown): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#onEnd()
    this.#settle({ error })
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
