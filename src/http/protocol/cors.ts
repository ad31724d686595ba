import type { IncomingHttpHeaders } from 'node:http'
import type { Seconds } from '../../base/units.ts'
import { Forbidden } from '../../base/errors.ts'

export interface CorsOptions {
  /** When off, no page of another site can read responses. */
  readonly enabled: boolean
  /** Exact origins. `*` lets every site read what guests may read, and nothing else. */
  readonly origins: readonly string[]
  /** How long a browser may cache the response to a preflight request. */
  readonly maxAge: Seconds
}

const methods = 'HEAD, GET, PUT, POST, DELETE, OPTIONS'
const requestHeaders =
  'Accept, Content-Type, Content-Disposition, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Range, X-Requested-With'
const exposed = 'Location, Last-Modified, ETag, Content-Disposition, Retry-After, X-Request-Id'

/**
 * Decides which pages of other sites may use the service, and how (W3.0.5). Credentials are allowed for
 * listed origins only.
 */
export class Cors {
  readonly #options: CorsOptions
  readonly #listed: ReadonlySet<string>
  readonly #any: boolean

  constructor(options: CorsOptions) {
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
    // Also without an `Origin`: a cache must not give this response to a page that sends one.
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

  /** True for a preflight request. */
  isPreflight(method: string, headers: IncomingHttpHeaders): boolean {
    const isAsked = headers.origin !== undefined && headers['access-control-request-method'] !== undefined
    return this.#options.enabled && method === 'OPTIONS' && isAsked
  }

  /** The headers of a preflight response, in addition to {@link headers}. */
  preflightHeaders(): Readonly<Record<string, string>> {
    return {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': String(this.#options.maxAge),
    }
  }
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses a state-changing request that a page of another site made with the user's cookie (D2.9).
 * @param isAllowed true for the origin of the base address and those of the CORS list
 * @throws {Forbidden} `cross-site-request`
 */
export function refuseCrossSite(
  method: string,
  headers: IncomingHttpHeaders,
  isAllowed: (origin: string) => boolean,
): void {
  if (safeMethods.has(method)) return
  const { origin } = headers
  const isForeign = headers['sec-fetch-site'] === 'cross-site' || origin !== undefined
  if (!isForeign || (origin !== undefined && isAllowed(origin))) return
  throw new Forbidden('cross-site-request', `A page of ${origin ?? 'another site'} may not change anything here.`)
}
