import type { Readable } from 'node:stream'
import { Forbidden, InvalidInput, NotSupported, UpstreamFailed, UpstreamSilent } from '../../base/errors.ts'
import { outgoingTraceHeaders } from '../../base/request-timings.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'

interface RowStoreOptions {
  /** Its base URL, with a slash at the end; read at each request. `undefined`: there is none. */
  readonly url: () => string | undefined
  /** The `User-Agent` of the service. */
  readonly userAgent: string
}

/** For whom requests are made. */
interface Share {
  /** The caller that the place in the queue counts for. */
  readonly of: string
}

export interface Opened {
  readonly bytes: Readable | string
  readonly size: Bytes
}

/** A body, which is opened when the request can begin. */
interface Body {
  readonly type: string
  readonly open: () => Promise<Opened>
}

interface Answer {
  readonly status: number
  readonly location: string
}

/** RowStore answers when it has received a file, and reads the file later. 1 GB takes two minutes at 70 Mbit/s. */
const TIMEOUT: Milliseconds = 5 * 60_000
const CONNECT_TIMEOUT: Milliseconds = 10_000

/** A slow RowStore keeps a place for the whole timeout, so one caller never has them all. */
const LIMITS = { concurrency: 4, concurrencyOfOne: 2, queue: 64, queueOfOne: 16, what: 'requests to the RowStore' }

const PATH = /^dataset\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The RowStore that the operator configured. Requests go to no other address, and follow no redirect. */
export class RowStore {
  readonly #options: RowStoreOptions
  readonly #semaphore = new Semaphore(LIMITS)

  constructor(options: RowStoreOptions) {
    this.#options = options
  }

  /** @throws {NotSupported} `not-available` when the settings name no RowStore */
  requireUrl(): string {
    const url = this.#options.url()
    if (url !== undefined) return url
    throw new NotSupported('not-available', 'This service uses no RowStore: `service.rowstore.url` is not set.')
  }

  /**
   * Runs work that makes requests, one after the other, when its turn comes. That can take many minutes, so only the work checks rights.
   * @throws {Overloaded}
   */
  async inTurn<T>(share: Share, work: () => Promise<T>): Promise<T> {
    return await this.#semaphore.run(work, share)
  }

  /** @throws {Forbidden} `host-refused` unless this is the address of a dataset as RowStore itself writes it */
  requireDataset(address: string): void {
    if (this.#isDataset(address)) return
    const url = this.requireUrl()
    throw new Forbidden(
      'host-refused',
      `"${address.slice(0, 200)}" is not the address of a dataset below ${url} (\`service.rowstore.url\`).`,
    )
  }

  /** @returns the address of the new dataset @throws {UpstreamFailed} @throws {UpstreamSilent} */
  async create(open: Body['open'], signal: AbortSignal): Promise<string> {
    const url = this.requireUrl()
    const answer = await this.#ask('POST', `${url}datasets`, signal, { type: 'text/csv', open })
    this.#requireDone(answer)
    if (this.#isDataset(answer.location)) return answer.location
    throw this.#failed(
      `has created a dataset at "${answer.location.slice(0, 200)}"; its \`baseurl\` must be the same as \`service.rowstore.url\``,
    )
  }

  /** @throws {UpstreamFailed} @throws {UpstreamSilent} */
  async fill(dataset: string, how: 'replace' | 'append', open: Body['open'], signal: AbortSignal): Promise<void> {
    const method = how === 'replace' ? 'PUT' : 'POST'
    this.#requireDone(await this.#ask(method, dataset, signal, { type: 'text/csv', open }))
  }

  /**
   * @param alias `undefined` removes it
   * @throws {InvalidInput} `invalid-value` for an alias that another dataset has @throws {UpstreamFailed} @throws {UpstreamSilent}
   */
  async setAlias(dataset: string, alias: string | undefined, signal: AbortSignal): Promise<void> {
    const url = `${dataset}/aliases`
    const names = JSON.stringify([alias])
    const body = {
      type: 'application/json',
      open: async () => ({ bytes: names, size: Buffer.byteLength(names) }),
    }
    const answer = await (alias === undefined ? this.#ask('DELETE', url, signal) : this.#ask('PUT', url, signal, body))
    if (answer.status === 400)
      throw new InvalidInput('invalid-value', `The RowStore rejects the alias "${alias}": another dataset may have it.`)
    this.#requireDone(answer)
  }

  /** @throws {UpstreamFailed} also while the dataset is being filled @throws {UpstreamSilent} */
  async delete(dataset: string, signal: AbortSignal): Promise<void> {
    this.#requireDone(await this.#ask('DELETE', dataset, signal))
  }

  #isDataset(address: string): boolean {
    const url = this.requireUrl()
    return address.startsWith(url) && PATH.test(address.slice(url.length))
  }

  async #ask(method: 'POST' | 'PUT' | 'DELETE', url: string, signal: AbortSignal, body?: Body): Promise<Answer> {
    const opened = await body?.open()
    try {
      return await this.#send(method, url, signal, body && opened && { ...opened, type: body.type })
    } finally {
      if (typeof opened?.bytes === 'object') opened.bytes.destroy()
    }
  }

  async #send(
    method: string,
    url: string,
    clientGone: AbortSignal,
    body: (Opened & Pick<Body, 'type'>) | undefined,
  ): Promise<Answer> {
    // Loaded at the first use, because most services have no RowStore.
    const { Agent, request } = await import('undici')
    const dispatcher = new Agent({ connect: { timeout: CONNECT_TIMEOUT } })
    const headers = {
      'user-agent': this.#options.userAgent,
      accept: 'application/json',
      ...outgoingTraceHeaders(),
      ...(body && { 'content-type': body.type, 'content-length': String(body.size) }),
    }
    try {
      const answer = await request(url, {
        method: method as 'POST',
        headers,
        body: body?.bytes ?? null,
        dispatcher,
        signal: AbortSignal.any([clientGone, AbortSignal.timeout(TIMEOUT)]),
      })
      return { status: answer.statusCode, location: String(answer.headers['location'] ?? '') }
    } catch (error) {
      const what = `The RowStore at ${this.requireUrl()} cannot be reached, or does not respond in time.`
      throw new UpstreamSilent('upstream-silent', what, { cause: error })
    } finally {
      await dispatcher.destroy()
    }
  }

  #requireDone({ status }: Answer): void {
    if (status < 200 || status > 299) throw this.#failed(`answers with status ${status}`)
  }

  #failed(reason: string): UpstreamFailed {
    return new UpstreamFailed('upstream-failed', `The RowStore at ${this.requireUrl()} ${reason}.`)
  }
}
