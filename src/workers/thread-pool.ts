import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import type { Milliseconds } from '../base/units.ts'

const IDLE_TIMEOUT: Milliseconds = 30_000

export interface ThreadPoolOptions {
  /** The module of the thread; its default export runs one task. */
  readonly module: URL
  /** The number of threads. Each starts when it is needed, and ends after 30 s without work. */
  readonly threads: number
  /**
   * True for tasks that wait for something. Otherwise an idle thread sleeps inside a turn of its event loop, and what has come for it runs
   * only with the next task.
   */
  readonly isAsynchronous?: boolean
  /** The JavaScript memory of one thread, in megabytes. */
  readonly megabytes?: { readonly old: number; readonly young: number }
}

/** Threads for one kind of task, without a queue of its own. The library and its threads are loaded for the first task. */
export class ThreadPool<Task, Result> {
  readonly #options: ThreadPoolOptions
  #pool: Promise<Piscina<Task, Result>> | undefined

  constructor(options: ThreadPoolOptions) {
    this.#options = options
  }

  /** @param signal ends the thread of the task: the promise rejects with an `AbortError` */
  async run(task: Task, signal?: AbortSignal): Promise<Result> {
    this.#pool ??= open(this.#options)
    return await (await this.#pool).run(task, signal ? { signal } : {})
  }

  /** Ends the threads, and with them all tasks. */
  async close(): Promise<void> {
    await (await this.#pool)?.destroy()
  }
}

/**
 * Piscina loads the module with `require()` where that takes ES modules. Before Node 24 the whole process ends if a thread is ended while
 * `require()` links one, and a caller who leaves ends a thread at any time. With this option Piscina uses `import()`. Options of the
 * process are not passed on: threads refuse those of V8, such as `--max-old-space-size`.
 */
export const withoutRequire =
  Number.parseInt(process.versions.node, 10) < 24 ? { execArgv: ['--no-experimental-require-module'] } : {}

async function open<Task, Result>(options: ThreadPoolOptions): Promise<Piscina<Task, Result>> {
  const { module, threads, isAsynchronous = false, megabytes } = options
  const { Piscina } = await import('piscina')
  return new Piscina({
    filename: fileURLToPath(module),
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_TIMEOUT,
    ...withoutRequire,
    ...(isAsynchronous ? { atomics: 'disabled' as const } : {}),
    ...(megabytes
      ? { resourceLimits: { maxOldGenerationSizeMb: megabytes.old, maxYoungGenerationSizeMb: megabytes.young } }
      : {}),
  })
}

/** The address of a thread's module beside the file that names it: `.js` when compiled, `.ts` when run from source. */
export const threadModule = (name: string, beside: string): URL =>
  new URL(`./${name}${beside.endsWith('.ts') ? '.ts' : '.js'}`, beside)
