import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { AddressRanges } from '../../base/address-ranges.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Seconds } from '../../base/units.ts'
import { Forbidden, InvalidInput } from '../../base/errors.ts'

/** The request headers in which proxies forward the address of the client. */
export type ForwardingHeader = 'x-forwarded-for' | 'forwarded'

/**
 * Finds the address of the client. It reads one header, chosen by the operator, from right to left, and only
 * what trusted proxies wrote (D1.3). A proxy sets one of the headers and forwards the other as the client
 * wrote it, so the other is ignored.
 */
export class ClientAddresses {
  readonly #trusted: AddressRanges
  readonly #header: ForwardingHeader

  /** @param trusted CIDR ranges of the operator's own proxies */
  constructor(trusted: readonly string[], header: ForwardingHeader) {
    this.#header = header
    this.#trusted = new AddressRanges(trusted)
  }

  /** @param peer the address at the other end of the connection */
  of(peer: string, headers: IncomingHttpHeaders): string {
    let address = plain(peer)
    const header = headers[this.#header]
    // Most requests lack the header, and then the list of trusted proxies does not matter.
    if (header === undefined || !this.#trusted.has(address)) return address
    const text = Array.isArray(header) ? header.join(',') : header
    for (const hop of this.#header === 'forwarded' ? forwardedFor(text) : text.split(',').reverse()) {
      const claimed = addressOf(hop)
      // When a trusted proxy hides or garbles the address, the last known address is used.
      if (claimed === undefined) return address
      address = claimed
      if (!this.#trusted.has(address)) return address
    }
    return address
  }
}

/** IPv4 addresses arrive as `::ffff:192.0.2.1` on a socket that serves both families. */
const plain = (address: string): string =>
  address.startsWith(':') ? address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '') : address

/**
 * The values of `for`, the nearest hop first. In RFC 7239 commas separate the elements, and an IPv6 address
 * is quoted; neither contains a comma.
 */
function forwardedFor(header: string): string[] {
  const elements = header.split(',').reverse()
  return elements.map(element => {
    const pair = element.split(';').find(part => /^\s*for\s*=/i.test(part)) ?? ''
    return pair.slice(pair.indexOf('=') + 1)
  })
}

function addressOf(hop: string): string | undefined {
  const text = hop.trim().replace(/^"(.*)"$/, '$1')
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1]
  const address = plain(bracketed ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1'))
  return isIP(address) === 0 ? undefined : address
}

/** What pages of other sites may do: CORS, the check against forged requests, and responses as scripts (JSONP). */

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

/** Names, possibly of members. Such a text can only be called, not do anything else. */
const callbackName = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/
const MAX_CALLBACK = 128

/**
 * The function to which a page of another site wants the response passed, by loading it as a script (W3.0.4).
 * Every site can read such a response, whatever the CORS settings, so it contains only what guests may read.
 * `/auth/` does not support it (D2.9).
 * @throws {InvalidInput} for anything but a name
 */
export function callbackOf({ method, parameters, route, url }: FastifyRequest): string | undefined {
  const isOffered = (method === 'GET' || method === 'HEAD') && !(route.url ?? url).startsWith('/auth/')
  const name = isOffered ? parameters.get('callback') : undefined
  if (name === undefined || (name.length <= MAX_CALLBACK && callbackName.test(name))) return name
  throw new InvalidInput('invalid-query', '`callback` is not the name of a function.')
}

/**
 * Wraps the response in a call of that function. Only successful JSON responses generated by the service are
 * wrapped.
 */
export function asScript(reply: FastifyReply, payload: unknown, callback: string | undefined): unknown {
  if (callback === undefined || typeof payload !== 'string' || reply.statusCode !== 200) return payload
  if (!/^application\/(?:[a-z.-]+\+)?json\b/.test(String(reply.getHeader('content-type')))) return payload
  reply.type('application/javascript; charset=utf-8')
  // The comment prevents the name from being the first bytes of the response, because other formats have been
  // forged that way. Older browsers treat U+2028 and U+2029 as line ends, even inside strings.
  const json = payload.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return `/**/${callback}(${json});`
}
