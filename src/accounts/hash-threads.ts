import type { Turn } from '../base/concurrency.ts'
import { ThreadPool, threadModule } from '../workers/thread-pool.ts'
import type { Argon2Cost, HashTask } from './hash-thread.ts'

/** Computes argon2id outside the thread that answers requests. */
export interface Hasher {
  hash(password: string, cost: Argon2Cost): Promise<string>
  /**
   * Also returns false for a stored hash that the library cannot parse.
   * @param turn whom the check is for, where checks of several threads wait in one queue
   */
  verify(password: string, stored: string, turn?: Turn): Promise<boolean>
  close(): Promise<void>
}

/**
 * Computes argon2id on threads of lower priority than the thread that answers requests. On Node's own thread pool, hashes
 * would delay file reads, and a flood of logins would take CPU time from all other requests.
 */
export class HashThreads implements Hasher {
  readonly #running = new Set<Promise<unknown>>()
  readonly #pool: ThreadPool<HashTask, string | boolean>

  /** @param maxThreads maximum number of threads; each starts when it is needed */
  constructor(maxThreads: number) {
    this.#pool = new ThreadPool({ module: threadModule('hash-thread', import.meta.url), threads: maxThreads })
  }

  async hash(password: string, cost: Argon2Cost): Promise<string> {
    return String(await this.#run({ password, cost }))
  }

  async verify(password: string, stored: string): Promise<boolean> {
    return (await this.#run({ password, stored })) === true
  }

  /** Ends the threads after the work in progress. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running)
    await this.#pool.close()
  }

  async #run(task: HashTask): Promise<string | boolean> {
    const work = this.#pool.run(task)
    // The pool's own `close` would end threads whose work has been queued but not started.
    this.#running.add(work)
    try {
      return await work
    } finally {
      this.#running.delete(work)
    }
  }
}
