import type { Milliseconds } from '../../base/units.ts'
import { ThreadPool, threadModule } from '../../workers/thread-pool.ts'
import { afterLimit, SsoRefused } from '../refusal.ts'
import type { CasUser } from './cas-user.ts'
import { verifyReply } from './reply.ts'
import type { ReplyOutcome, ReplyTask } from './reply-worker.ts'

/** Characters that are parsed at once. */
const MAX_HERE = 16_384
/** An honest reply of the largest size takes a hundredth of this. */
const TIMEOUT: Milliseconds = 10_000
const MEGABYTES = 64

/**
 * Checks replies of the CAS server (D27.6). Usual ones have less than 2 KB and are parsed at once. Larger ones, of users in very many groups,
 * are parsed on a worker thread, so that they delay no request; it starts when it is needed.
 */
export class ReplyReader {
  readonly #threads = new ThreadPool<ReplyTask, ReplyOutcome>({
    module: threadModule('reply-worker', import.meta.url),
    threads: 1,
    timeout: TIMEOUT,
    megabytes: MEGABYTES,
  })

  /** @throws {SsoRefused} */
  async read(task: ReplyTask): Promise<CasUser> {
    const { version, text, expected } = task
    // A reply of CAS 1 is no XML.
    if (version === 'cas1' || text.length <= MAX_HERE) return verifyReply(version, text, expected)
    const outcome = await this.#run(task)
    if ('user' in outcome) return outcome.user
    throw new SsoRefused(outcome.failed)
  }

  async #run(task: ReplyTask): Promise<ReplyOutcome> {
    try {
      return await this.#threads.run(task)
    } catch (error) {
      throw afterLimit(error)
    }
  }

  async close(): Promise<void> {
    await this.#threads.close()
  }
}
