import { Limiter } from '../../base/concurrency.ts'
import { Overloaded } from '../../base/errors.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { threadModule, ThreadPool } from '../../workers/thread-pool.ts'
import { afterTimeout, SsoRefused } from '../refusal.ts'
import type { ExpectedLogout, ReceivedLogout, VerifiedLogout } from './logout-message.ts'
import { type IdpMetadata, MetadataRefused } from './metadata.ts'
import type { ExpectedResponse, VerifiedAssertion } from './response.ts'
import type { Outcome, Task } from './verify-worker.ts'

interface VerifierOptions {
  /** Threads that check responses; they start when they are needed. */
  readonly threads: number
  /** Responses that wait for a thread; the next one is refused. */
  readonly queue: number
  /** Bytes of all responses that wait or are being checked. */
  readonly maxBytes: Bytes
}

/** Two threads; a morning rush of 2,000 sign-ons waits its turn. */
const defaultVerifierOptions: VerifierOptions = { threads: 2, queue: 2_000, maxBytes: 268_435_456 }

/** An honest response takes a hundredth of this. A response that takes longer loses its thread. */
const CHECK_TIMEOUT: Milliseconds = 10_000
/** Metadata of 8 MiB take about two seconds. */
const METADATA_TIMEOUT: Milliseconds = 30_000

/**
 * Checks responses and parses metadata on worker threads, each with a limit of time (D8.3). Time spent waiting for a thread does
 * not count. Metadata have a thread of their own, so that a large document delays no sign-on.
 */
export class Verifier {
  readonly #options: VerifierOptions
  readonly #responses: Limiter
  readonly #metadata = new Limiter({ concurrency: 1, queue: 1_000, what: 'metadata documents' })
  #bytes: Bytes = 0
  readonly #threads: { readonly responses: Pool; readonly metadata: Pool }

  constructor(options: VerifierOptions = defaultVerifierOptions) {
    this.#options = options
    this.#responses = new Limiter({ concurrency: options.threads, queue: options.queue, what: 'sign-ons' })
    const module = threadModule('verify-worker', import.meta.url)
    this.#threads = {
      responses: new ThreadPool({ module, threads: options.threads }),
      metadata: new ThreadPool({ module, threads: 1 }),
    }
  }

  /** @param encoded base64 as the form carries it. @throws {SsoRefused} @throws {Overloaded} */
  async verify(encoded: string, expected: ExpectedResponse): Promise<VerifiedAssertion> {
    const outcome = await this.#check({ kind: 'response', encoded, expected }, encoded.length)
    if ('assertion' in outcome) return outcome.assertion
    throw refusalIn(outcome, 'an assertion')
  }

  /** @throws {SsoRefused} @throws {Overloaded} */
  async verifyLogout(received: ReceivedLogout, expected: ExpectedLogout): Promise<VerifiedLogout> {
    const outcome = await this.#check({ kind: 'logout', received, expected }, sizeOf(received))
    if ('logout' in outcome) return outcome.logout
    throw refusalIn(outcome, 'a message')
  }

  /** The provider that a message of single logout names; nothing is verified. @throws {SsoRefused} @throws {Overloaded} */
  async statedIssuer(received: ReceivedLogout): Promise<string> {
    const outcome = await this.#check({ kind: 'logout-issuer', received }, sizeOf(received))
    if ('issuer' in outcome) return outcome.issuer
    throw refusalIn(outcome, 'a message')
  }

  async #check(task: Task, bytes: Bytes): Promise<Outcome> {
    if (this.#bytes + bytes > this.#options.maxBytes) throw new Overloaded('Too many sign-ons at once.')
    this.#bytes += bytes
    try {
      return await this.#responses.run(() => run(this.#threads.responses, task, CHECK_TIMEOUT))
    } finally {
      this.#bytes -= bytes
    }
  }

  /** @param keys PEM, one of which must have signed the document; none: it need not be signed. @throws {MetadataRefused} @throws {SsoRefused} `time` */
  async parseMetadata(text: string, now: Milliseconds, keys: readonly string[]): Promise<IdpMetadata> {
    const outcome = await this.#metadata.run(() =>
      run(this.#threads.metadata, { kind: 'metadata', text, now, keys }, METADATA_TIMEOUT),
    )
    if ('metadata' in outcome) return outcome.metadata
    if ('refused' in outcome) throw new MetadataRefused(outcome.refused, { check: outcome.check })
    throw new MetadataRefused('it could not be read')
  }

  async close(): Promise<void> {
    await Promise.all([this.#threads.responses.close(), this.#threads.metadata.close()])
  }
}

const sizeOf = (received: ReceivedLogout): Bytes =>
  received.binding === 'redirect' ? received.query.length : received.encoded.length

/** The refusal that a thread reported in place of what was expected. */
const refusalIn = (outcome: Outcome, expected: string): SsoRefused =>
  new SsoRefused('failed' in outcome ? outcome.failed : { check: 'time', expected })

type Pool = ThreadPool<Task, Outcome>

async function run(pool: Pool, task: Task, timeout: Milliseconds): Promise<Outcome> {
  try {
    return await pool.run(task, AbortSignal.timeout(timeout))
  } catch (error) {
    throw afterTimeout(error, timeout)
  }
}
