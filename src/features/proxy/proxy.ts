import type { LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import { type Caller, rateLimitKey } from '../../accounts/caller.ts'
import { ServiceError, UpstreamFailed, UpstreamSilent } from '../../base/errors.ts'
import { parseMediaType } from '../../base/text.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { type Address, type Hosts, checkTarget, readTarget, type Resolve, resolveByDns, type Target } from './target.ts'

export interface ProxyOptions {
  readonly hosts: Hosts
  /** The `User-Agent` of the service. */
  readonly userAgent: string
  /** For the whole request, redirects included. */
  readonly timeout?: Milliseconds
}

export interface Wanted {
  readonly url: string
  readonly accept: string | undefined
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal
}

export interface Fetched {
  /** The media type, with the charset if there is one. */
  readonly type: string
  readonly bytes: Uint8Array
}

/**
 * A slow server occupies a place for the whole timeout, so one caller never gets all places. Each place can take twice the size of the
 * largest document.
 */
const LIMITS = {
  concurrency: 16,
  concurrencyOfOne: 3,
  queue: 128,
  queueOfOne: 32,
  what: 'documents to fetch',
}

/** A document is in memory as a whole. The largest vocabularies that clients fetch have 5 MB. */
export const MAX_DOCUMENT: Bytes = 8 * 2 ** 20
/** Longer than any usable server takes, and less than the time after which common reverse proxies give up. */
const TIMEOUT: Milliseconds = 20_000
const MAX_REDIRECTS = 5
const redirects = new Set([301, 302, 303, 307, 308])

/**
 * Fetches documents of other servers for callers, without giving them access to addresses that only this
 * machine can reach (W3.15).
 */
export class Proxy {
  readonly #options: ProxyOptions
  readonly #timeout: Milliseconds
  readonly #resolve: Resolve
  readonly #semaphore = new Semaphore(LIMITS)

  constructor(options: ProxyOptions, resolve: Resolve = resolveByDns) {
    this.#options = options
    this.#timeout = options.timeout ?? TIMEOUT
    this.#resolve = resolve
  }

  /**
   * @throws {InvalidInput} `invalid-uri` @throws {Unauthenticated | Forbidden} when the caller may not fetch
   * this address
   * @throws {UpstreamFailed} for an unusable response @throws {UpstreamSilent} without a response in time
   * @throws {Overloaded}
   */
  async fetch(caller: Caller, { url, accept, signal }: Wanted): Promise<Fetched> {
    const first = readTarget(url)
    return await this.#semaphore.run(
      async () => {
        const all = AbortSignal.any([signal, AbortSignal.timeout(this.#timeout)])
        let next = first
        for (let count = 0; count <= MAX_REDIRECTS; count++) {
          const target = await untilAborted(checkTarget(next, caller, this.#options.hosts, this.#resolve), all, next)
          const outcome = await this.#fetchOne(target, accept, all)
          if (!('location' in outcome)) return outcome
          next = redirectTarget(outcome.location, next)
        }
        throw failed(next, `redirects more than ${MAX_REDIRECTS} times`)
      },
      { of: rateLimitKey(caller), signal },
    )
  }

  async #fetchOne(
    { url, addresses }: Target,
    accept: string | undefined,
    signal: AbortSignal,
  ): Promise<Fetched | { readonly location: string }> {
    const { userAgent } = this.#options
    // Loaded at the first use, because most services fetch nothing.
    const { Agent, request } = await import('undici')
    const dispatcher = new Agent({ connect: { lookup: pinnedTo(addresses), timeout: this.#timeout } })
    try {
      const headers = { 'user-agent': userAgent, 'accept-encoding': 'identity', accept: accept ?? '*/*' }
      const answer = await request(url, { headers, dispatcher, signal })
      const location = answer.headers['location']
      if (redirects.has(answer.statusCode) && typeof location === 'string') return { location }
      return { type: usableType(url, answer), bytes: await readBody(url, answer.body) }
    } catch (error) {
      if (error instanceof ServiceError) throw error
      throw new UpstreamSilent('upstream-silent', `${url.host} cannot be reached, or does not respond in time.`, {
        cause: error,
      })
    } finally {
      await dispatcher.destroy()
    }
  }
}

/** Connects to the address that was checked, even if the name resolves to another one by now. */
const pinnedTo =
  (addresses: readonly Address[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [first] = addresses
    if (all === true) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }

/** DNS resolution accepts no signal. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, { host }: URL): Promise<T> {
  const silent = new UpstreamSilent('upstream-silent', `${host} could not be resolved in time.`)
  return await new Promise((resolve, reject) => {
    const giveUp = (): void => reject(silent)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

function redirectTarget(location: string, from: URL): URL {
  try {
    // An absolute address is checked as it is written.
    return readTarget(/^[a-z][a-z0-9+.-]*:/i.test(location) ? location : new URL(location, from).href)
  } catch (error) {
    throw failed(from, 'redirects to an address that is not a plain http or https URL', error)
  }
}

/** Types that no page can execute: a page may load scripts and styles of its own origin. */
function usableType(url: URL, { statusCode, headers }: Dispatcher.ResponseData): string {
  if (statusCode < 200 || statusCode > 299) throw failed(url, `answers with status ${statusCode}`)
  const encoding = headers['content-encoding'] ?? 'identity'
  if (String(encoding).toLowerCase() !== 'identity') throw failed(url, 'uses an encoding that was not requested')
  const [bare = '', ...parameters] = String(headers['content-type'] ?? '').split(';')
  const type = parseMediaType(bare) ?? ''
  const isText =
    /^text\/[a-z0-9.+-]+$/.test(type) ||
    /^application\/(?:[a-z0-9.-]+\+)?(?:json|xml)$/.test(type) ||
    [
      'application/n-triples',
      'application/trig',
      'application/trix',
      'application/x-turtle',
      'application/x-trig',
    ].includes(type)
  if (!isText || /script|css/.test(type)) throw failed(url, 'has a type that is not allowed')
  const charset = parameters.map(text => /^\s*charset="?([a-z0-9._-]{1,40})"?\s*$/i.exec(text)?.[1]).find(Boolean)
  return charset === undefined ? type : `${type}; charset=${charset.toLowerCase()}`
}

async function readBody(url: URL, body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_DOCUMENT) throw failed(url, `answers with more than ${MAX_DOCUMENT} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const failed = ({ host }: URL, reason: string, cause?: unknown): UpstreamFailed =>
  new UpstreamFailed('upstream-failed', `${host} ${reason}.`, { cause })
