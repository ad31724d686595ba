import { Worker } from 'node:worker_threads'
import type { Milliseconds } from '../base/units.ts'
import { refusalFrom, type TaskOutcome } from './serve-tasks.ts'

/** JavaScript memory for objects that live briefly. By default the engine lets dropped ones fill 48 MB. */
const YOUNG_MEGABYTES = 16

export interface TaskThreadOptions {
  /** The module of the thread, which calls `serveTasks`. */
  readonly module: URL
  /** The maximum time of one task; a task that takes longer loses its thread. */
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
  readonly timer: NodeJS.Timeout
}

/** A thread that does one task at a time. While it has none, the process need not wait for it. */
export class TaskThread {
  readonly #worker: Worker
  readonly #timeout: Milliseconds
  readonly #onEnd: () => void
  #job: Job | undefined
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
    this.#worker.on('message', (outcome: TaskOutcome) => this.#settle(outcome))
    // A thread without a task may end as well, for instance because it is out of memory; then nobody has to know.
    this.#worker.on('error', error =>
      this.#ended(isOutOfMemory(error) ? new TaskLimitExceeded('memory', { cause: error }) : error),
    )
    this.#worker.on('exit', code => this.#ended(new Error(`the thread has ended with ${code}`)))
    this.#worker.unref()
  }

  run(task: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => void this.end(new TaskLimitExceeded('time')), this.#timeout)
      this.#job = { resolve, reject, timer }
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

  #settle(outcome: TaskOutcome): void {
    const job = this.#job
    this.#job = undefined
    clearTimeout(job?.timer)
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
