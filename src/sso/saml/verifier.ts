import { Overloaded } from '../../base/errors.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { ThreadPool, threadModule } from '../../workers/thread-pool.ts'
import { afterLimit, SsoRefused } from '../refusal.ts'
import type { ExpectedLogout, ReceivedLogout, VerifiedLogout } from './logout-message.ts'
import { type IdpMetadata, MetadataRefused } from './metadata.ts'
import type { ExpectedResponse, VerifiedAssertion } from './response.ts'
import type { MessageTask, Outcome, Task } from './verify-worker.ts'

interface MessageCheckOptions {
  /** Threads that check messages; they start when they are needed. */
  readonly threads: number
  /** Messages that wait for a thread; the next one is refused. */
  readonly queue: number
  /** Bytes of all messages that wait or are being checked. */
  readonly maxBytes: Bytes
  /** The same for one network. */
  readonly maxBytesOfOne: Bytes
}

/** Two threads; a morning rush of 2,000 sign-ons waits its turn, also one of a campus that shares an address. */
const defaultMessageCheckOptions: MessageCheckOptions = {
  threads: 2,
  queue: 2_000,
  maxBytes: 268_435_456,
  maxBytesOfOne: 16_777_216,
}
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
 * Checks messages of providers on worker threads, with limits on their number, their bytes and the time of each (D8.3). Time spent waiting
 * for a thread does not count.
 */
export class MessageChecks {
  readonly #options: MessageCheckOptions
  readonly #threads: Pool
  /** Of the messages that wait or are being checked: of all, and of each network. */
  #bytes: Bytes = 0
  readonly #bytesOf = new Map<string, Bytes>()

  constructor(options: MessageCheckOptions = defaultMessageCheckOptions) {
    this.#options = options
    const { threads, queue } = options
    this.#threads = new ThreadPool({
      module,
      threads,
      timeout: CHECK_TIMEOUT,
      megabytes: MEGABYTES,
      limits: { queue, what: 'sign-ons' },
    })
  }

  /**
   * @param network that sent the message: networks take turns, so that nobody waits for all messages of another
   * @throws {SsoRefused} `time` @throws {Overloaded}
   */
  async run(task: MessageTask, network: string): Promise<Outcome> {
    const { maxBytes, maxBytesOfOne } = this.#options
    const bytes = sizeOf(task)
    if (this.#bytes + bytes > maxBytes || (this.#bytesOf.get(network) ?? 0) + bytes > maxBytesOfOne) {
      throw new Overloaded('Too many sign-ons at once.')
    }
    this.#count(network, bytes)
    try {
      return await this.#threads.run(task, { of: network })
    } catch (error) {
      throw afterLimit(error)
    } finally {
      this.#count(network, -bytes)
    }
  }

  #count(network: string, bytes: Bytes): void {
    this.#bytes += bytes
    const total = (this.#bytesOf.get(network) ?? 0) + bytes
    if (total > 0) this.#bytesOf.set(network, total)
    else this.#bytesOf.delete(network)
  }

  async close(): Promise<void> {
    await this.#threads.close()
  }
}

/**
 * Checks messages and parses metadata, each with a limit of time (D8.3). Metadata have a thread of their own, so that a large document
 * delays no sign-on.
 */
export class Verifier {
  readonly #messages: MessageChecks
  readonly #metadata: Pool = new ThreadPool({
    module,
    threads: 1,
    timeout: METADATA_TIMEOUT,
    megabytes: METADATA_MEGABYTES,
    limits: { queue: 1_000, what: 'metadata documents' },
  })

  constructor(messages = new MessageChecks()) {
    this.#messages = messages
  }

  /** @param encoded base64 as the form carries it. @param network that sent it. @throws {SsoRefused} @throws {Overloaded} */
  async verify(encoded: string, expected: ExpectedResponse, network = ''): Promise<VerifiedAssertion> {
    const outcome = await this.#messages.run({ kind: 'response', encoded, expected }, network)
    if ('assertion' in outcome) return outcome.assertion
    throw refusalIn(outcome, 'an assertion')
  }

  /** @param network that sent the message. @throws {SsoRefused} @throws {Overloaded} */
  async verifyLogout(received: ReceivedLogout, expected: ExpectedLogout, network = ''): Promise<VerifiedLogout> {
    const outcome = await this.#messages.run({ kind: 'logout', received, expected }, network)
    if ('logout' in outcome) return outcome.logout
    throw refusalIn(outcome, 'a message')
  }

  /** The provider that a message of single logout names; nothing is verified. @throws {SsoRefused} @throws {Overloaded} */
  async statedIssuer(received: ReceivedLogout, network = ''): Promise<string> {
    const outcome = await this.#messages.run({ kind: 'logout-issuer', received }, network)
    if ('issuer' in outcome) return outcome.issuer
    throw refusalIn(outcome, 'a message')
  }

  /** @param keys PEM, one of which must have signed the document; none: it need not be signed. @throws {MetadataRefused} @throws {SsoRefused} `time` */
  async parseMetadata(text: string, now: Milliseconds, keys: readonly string[]): Promise<IdpMetadata> {
    const outcome = await this.#metadata.run({ kind: 'metadata', text, now, keys }).catch((error: unknown) => {
      throw afterLimit(error)
    })
    if ('metadata' in outcome) return outcome.metadata
    if ('refused' in outcome) throw new MetadataRefused(outcome.refused, { check: outcome.check })
    throw new MetadataRefused('it could not be read')
  }

  async close(): Promise<void> {
    await Promise.all([this.#messages.close(), this.#metadata.close()])
  }
}

function sizeOf(task: MessageTask): Bytes {
  if (task.kind === 'response') return task.encoded.length
  const { received } = task
  return received.binding === 'redirect' ? received.query.length : received.encoded.length
}

/** The refusal that a thread reported in place of what was expected. */
const refusalIn = (outcome: Outcome, expected: string): SsoRefused =>
  new SsoRefused('failed' in outcome ? outcome.failed : { check: 'time', expected })

type Pool = ThreadPool<Task, Outcome>
