import type { Milliseconds } from '../../base/units.ts'
import { ThreadPool, threadModule } from '../../workers/thread-pool.ts'
import { afterLimit, SsoRefused } from '../sso/refusal.ts'
import type { ExpectedLogout, ReceivedLogout, VerifiedLogout } from './logout-message.ts'
import { type IdpMetadata, MetadataRefused } from './metadata.ts'
import type { ExpectedResponse, VerifiedAssertion } from './response.ts'
import type { Outcome, Task } from './verify-worker.ts'

/** Two threads; the queue has room for the 2,000 sign-ons of a morning, even if a whole campus shares one address. */
const CHECKS = { threads: 2, queue: 2_000 }
/** The JavaScript memory of a thread; the largest message takes a third. */
const MEGABYTES = 64
/** Metadata of 8 MiB take a third. */
const METADATA_MEGABYTES = 256

/** An honest response takes a hundredth of this. A response that takes longer loses its thread. */
const CHECK_TIMEOUT: Milliseconds = 10_000
/** Metadata of 8 MiB take about two seconds. */
const METADATA_TIMEOUT: Milliseconds = 30_000

const module = threadModule('verify-worker', import.meta.url)

/**
 * Checks messages of providers and parses metadata on worker threads, each with a limit of time (D8.3). The time in the queue does not
 * count. Networks are served round-robin, so that no network waits for all messages of another. Metadata have their own thread, so that a
 * large document delays no sign-on.
 */
export class Verifier {
  readonly #messages: Pool
  readonly #metadata: Pool = new ThreadPool({
    module,
    threads: 1,
    timeout: METADATA_TIMEOUT,
    megabytes: METADATA_MEGABYTES,
    limits: { queue: 1_000, what: 'metadata documents' },
  })

  /** @param queue messages that wait for a thread; the next one is refused */
  constructor({ threads, queue } = CHECKS) {
    const limits = { queue, what: 'sign-ons' }
    this.#messages = new ThreadPool({ module, threads, timeout: CHECK_TIMEOUT, megabytes: MEGABYTES, limits })
  }

  /** @param encoded base64 as the form carries it. @param network that sent it. @throws {SsoRefused} @throws {Overloaded} */
  verify(encoded: string, expected: ExpectedResponse, network = ''): Promise<VerifiedAssertion> {
    return run(this.#messages, { kind: 'response', encoded, expected }, network)
  }

  /** @param network that sent the message. @throws {SsoRefused} @throws {Overloaded} */
  verifyLogout(received: ReceivedLogout, expected: ExpectedLogout, network = ''): Promise<VerifiedLogout> {
    return run(this.#messages, { kind: 'logout', received, expected }, network)
  }

  /** The provider that a message of single logout names; nothing is verified. @throws {SsoRefused} @throws {Overloaded} */
  statedIssuer(received: ReceivedLogout, network = ''): Promise<string> {
    return run(this.#messages, { kind: 'logout-issuer', received }, network)
  }

  /**
   * @param keys PEM, one of which must have signed the document; empty: it need not be signed. @throws {MetadataRefused} @throws
   * {SsoRefused} `time`
   */
  parseMetadata(text: string, now: Milliseconds, keys: readonly string[]): Promise<IdpMetadata> {
    return run(this.#metadata, { kind: 'metadata', text, now, keys })
  }

  async close(): Promise<void> {
    await Promise.all([this.#messages.close(), this.#metadata.close()])
  }
}

type Pool = ThreadPool<Task, Outcome>

/** @throws what the thread refused, with its class */
async function run<Result>(pool: Pool, task: Task, network = ''): Promise<Result> {
  const outcome = await pool.run(task, { of: network }).catch((error: unknown) => {
    throw afterLimit(error)
  })
  if ('result' in outcome) return outcome.result as Result
  throw 'failed' in outcome
    ? new SsoRefused(outcome.failed)
    : new MetadataRefused(outcome.refused, { check: outcome.check })
}
