import type { IncomingHttpHeaders } from 'node:http'
import type { Seconds } from '../../base/units.ts'

export interface CorsOptions {
  /** When off, no page of another site can read responses. */
  readonly enabled: boolean
  /** Exact origins. `*` lets every site read what guests may read, and nothing else. */
  readonly origins: readonly string[]
}

/** How long a browser may cache the response to a preflight request. Chromium keeps none longer. */
export const PREFLIGHT_TTL: Seconds = 7200
const methods = 'HEAD, GET, PUT, POST, PATCH, DELETE, OPTIONS'
const requestHeaders =
  'Accept, Content-Type, Content-Disposition, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Range, X-Requested-With, ' +
  'X-Request-Id'
const exposedHeaders = 'Location, Last-Modified, ETag, Content-Disposition, Retry-After, X-Request-Id'

/** Headers that pages of other origins may send and read, beside those of all routes. */
export interface CrossOriginHeaders {
  readonly sent: readonly string[]
  readonly read: readonly string[]
}

/**
 * Decides which pages of other sites may use the service, and how (W3.0.5). Credentials are allowed for
 * listed origins only.
 */
export class Cors {
  readonly #options: CorsOptions
  readonly #listed: ReadonlySet<string>
  readonly #any: boolean
  readonly #sent: string
  readonly #exposed: string

  /** @param others headers that routes need in addition to the common headers */
  constructor(options: CorsOptions, others: readonly CrossOriginHeaders[] = []) {
    this.#sent = [requestHeaders, ...others.flatMap(({ sent }) => sent)].join(', ')
    this.#exposed = [exposedHeaders, ...others.flatMap(({ read }) => read)].join(', ')
    this.#options = options
    this.#listed = new Set(options.enabled ? options.origins.filter(origin => origin !== '*') : [])
    this.#any = options.enabled && options.origins.includes('*')
  }

  /** True when pages of this origin may use a user's cookie; never true for `*` (D2.9). */
  trusts(origin: string): boolean {
    return this.#listed.has(origin)
  }

  /** The headers of every response; none when CORS is off. */
  headers(origin: string | undefined): Readonly<Record<string, string>> {
    if (!this.#options.enabled) return {}
    // Sent without an `Origin` too: a cache must not use this response for a page that sends an `Origin`.
    const vary = { vary: 'Origin' }
    if (origin !== undefined && this.#listed.has(origin)) {
      return {
        ...vary,
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': this.#exposed,
      }
    }
    if (!this.#any) return vary
    return { ...vary, 'access-control-allow-origin': '*', 'access-control-expose-headers': this.#exposed }
  }

  /** True for a preflight request. */
  isPreflight(method: string, headers: IncomingHttpHeaders): boolean {
    const isAsked = headers.origin !== undefined && headers['access-control-request-method'] !== undefined
    return this.#options.enabled && method === 'OPTIONS' && isAsked
  }

  /** The headers of a preflight response, in addition to {@link headers}. Pages of listed origins may send credentials of their own. */
  preflightHeaders(origin: string | undefined): Readonly<Record<string, string>> {
    const isTrusted = origin !== undefined && this.#listed.has(origin)
    return {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': isTrusted ? `${this.#sent}, Authorization` : this.#sent,
      'access-control-max-age': String(PREFLIGHT_TTL),
    }
  }
}
