import type { IncomingHttpHeaders } from 'node:http'
import type { Seconds } from '../../base/units.ts'

export interface CorsOptions {
  /** Off: no page of another site may read answers. */
  readonly enabled: boolean
  /** Exact origins; `*` lets every site read what guests may read, and nothing else. */
  readonly origins: readonly string[]
  /** How long a browser may cache the response to a preflight request. */
  readonly maxAge: Seconds
}

const methods = 'HEAD, GET, PUT, POST, DELETE, OPTIONS'
const requestHeaders =
  'Accept, Content-Type, Content-Disposition, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Range, X-Requested-With'
const exposed = 'Location, Last-Modified, ETag, Content-Disposition, Retry-After, X-Request-Id'

/** Which pages of other sites may use the service, and how (W3.0.5). Credentials only for listed origins. */
export class Cors {
  readonly #options: CorsOptions
  readonly #listed: ReadonlySet<string>
  readonly #any: boolean

  constructor(options: CorsOptions) {
    this.#options = options
    this.#listed = new Set(options.enabled ? options.origins.filter(origin => origin !== '*') : [])
    this.#any = options.enabled && options.origins.includes('*')
  }

  /** Whether the origin is one of those that act with a user's cookie; `*` never is (D2.9). */
  trusts(origin: string): boolean {
    return this.#listed.has(origin)
  }

  /** What every answer carries; nothing where CORS is off. */
  headers(origin: string | undefined): Readonly<Record<string, string>> {
    if (!this.#options.enabled) return {}
    // Also without an `Origin`: a cache must not give this answer to a page that sends one.
    const vary = { vary: 'Origin' }
    if (origin !== undefined && this.#listed.has(origin)) {
      return {
        ...vary,
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': exposed,
      }
    }
    if (!this.#any) return vary
    return { ...vary, 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }
  }

  /** Whether a browser asks if it may send a request that it would not send unasked. */
  isPreflight(method: string, headers: IncomingHttpHeaders): boolean {
    const isAsked = headers.origin !== undefined && headers['access-control-request-method'] !== undefined
    return this.#options.enabled && method === 'OPTIONS' && isAsked
  }

  /** What the answer to a preflight carries beside {@link headers}. */
  preflightHeaders(): Readonly<Record<string, string>> {
    return {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': String(this.#options.maxAge),
    }
  }
}
