import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import { Overloaded, SsoRefused } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { ExpectedResponse, VerifiedAssertion } from './response.ts'
import type { VerifyOutcome, VerifyTask } from './verify-worker.ts'

/** No honest response takes a hundredth of this; who exceeds it loses his thread, not ours. */
const LIMIT: Milliseconds = 5_000
const THREADS = 2
const MAX_WAITING = 100

/** Judges responses on worker threads: bounded in number, each with a hard limit of time (D8.3). */
export class Verifier {
  #pool: Promise<Piscina<VerifyTask, VerifyOutcome>> | undefined

  /** @throws {SsoRefused} @throws {Overloaded} */
  async verify(encoded: string, expected: ExpectedResponse): Promise<VerifiedAssertion> {
    this.#pool ??= openPool()
    const pool = await this.#pool
    if (pool.queueSize >= MAX_WAITING) throw new Overloaded('Too many sign-ons at once.')
    const outcome = await this.#run(pool, { encoded, expected })
    if ('assertion' in outcome) return outcome.assertion
    throw new SsoRefused(outcome.failed)
  }

  async close(): Promise<void> {
    await (await this.#pool)?.destroy()
  }

  async #run(pool: Piscina<VerifyTask, VerifyOutcome>, task: VerifyTask): Promise<VerifyOutcome> {
    try {
      return await pool.run(task, { signal: AbortSignal.timeout(LIMIT) })
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error
      const failed = { check: 'time', expected: `a judgement within ${LIMIT} ms`, received: 'none' }
      throw new SsoRefused(failed, { cause: error })
    }
  }
}

/** The library and its threads are there only once somebody signs on. */
async function openPool(): Promise<Piscina<VerifyTask, VerifyOutcome>> {
  const { Piscina } = await import('piscina')
  // Compiled, this file lies beside the worker and both end in .js; run from source, in .ts.
  const worker = new URL(`./verify-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
  return new Piscina({ filename: fileURLToPath(worker), maxThreads: THREADS, minThreads: 0, idleTimeout: 30_000 })
}
