import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import type { Argon2Cost, HashTask } from './hash-thread.ts'

/** Computes argon2id somewhere else than on the thread that answers requests. */
export interface Hasher {
  hash(password: string, cost: Argon2Cost): Promise<string>
  /** False also for what the library cannot read. */
  verify(password: string, stored: string): Promise<boolean>
  close(): Promise<void>
}

/**
 * Where argon2id is computed: on threads of a lower priority than the one that answers requests. On the threads that Node
 * keeps for files, hashes would make reads wait, and a flood of logins would take the processor from everybody else.
 */
export class HashThreads implements Hasher {
  readonly #most: number
  readonly #running = new Set<Promise<unknown>>()
  #pool: Promise<Piscina<HashTask, string | boolean>> | undefined

  /** @param most threads at once; they begin when they are needed. */
  constructor(most: number) {
    this.#most = most
  }

  async hash(password: string, cost: Argon2Cost): Promise<string> {
    return String(await this.#run({ password, cost }))
  }

  async verify(password: string, stored: string): Promise<boolean> {
    return (await this.#run({ password, stored })) === true
  }

  /** Ends the threads, once the work in progress is done. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running)
    await (await this.#pool)?.destroy()
    this.#pool = undefined
  }

  async #run(task: HashTask): Promise<string | boolean> {
    this.#pool ??= openPool(this.#most)
    const work = this.#pool.then(pool => pool.run(task))
    // The pool's own `close` ends threads that have work but have not begun.
    this.#running.add(work)
    try {
      return await work
    } finally {
      this.#running.delete(work)
    }
  }
}

async function openPool(most: number): Promise<Piscina<HashTask, string | boolean>> {
  const { Piscina } = await import('piscina')
  // Compiled, this file lies beside the thread's and both end in .js; run from source, in .ts.
  const thread = new URL(`./hash-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
  return new Piscina({ filename: fileURLToPath(thread), minThreads: 0, maxThreads: most, idleTimeout: 30_000 })
}
