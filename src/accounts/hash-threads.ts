import type { Turn } from '../base/fair-queue.ts'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
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
  readonly #maxThreads: number
  readonly #running = new Set<Promise<unknown>>()
  #pool: Promise<Piscina<HashTask, string | boolean>> | undefined

  /** @param maxThreads maximum number of threads; each starts when it is needed */
  constructor(maxThreads: number) {
    this.#maxThreads = maxThreads
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
    await (await this.#pool)?.destroy()
    this.#pool = undefined
  }

  async #run(task: HashTask): Promise<string | boolean> {
    this.#pool ??= openPool(this.#maxThreads)
    const work = this.#pool.then(pool => pool.run(task))
    // The pool's own `close` would end threads whose work has been queued but not started.
    this.#running.add(work)
    try {
      return await work
    } finally {
      this.#running.delete(work)
    }
  }
}

async function openPool(maxThreads: number): Promise<Piscina<HashTask, string | boolean>> {
  const { Piscina } = await import('piscina')
  // This file and the thread's file lie side by side: both end in .js when compiled, in .ts when run from source.
  const thread = new URL(`./hash-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
  return new Piscina({ filename: fileURLToPath(thread), minThreads: 0, maxThreads, idleTimeout: 30_000 })
}
