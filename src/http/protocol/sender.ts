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

const methods = 'HEAD, GET, PUT, POST, PATCH, DELETE, OPTIONS'
const requestHeaders =
  'Accept, Content-Type, Content-Disposition, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Range, X-Requested-With, ' +
  'Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum, Upload-Concat'
const exposed =
  'Location, Last-Modified, ETag, Content-Disposition, Retry-After, X-Request-Id, ' +
  'Tus-Resumable, Tus-Version, Upload-Length, Upload-Offset, Upload-Expires, Upload-Concat'

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

const AUTH_COOKIE = 'auth_token'
/** Marks a device on which the user has signed in before (D6.5). */
const DEVICE_COOKIE = 'stowage_device'
/** Browsers accept a cookie with this prefix from its own host only, by https and for all paths. */
const HOST_PREFIX = '__Host-'

export interface CookieOptions {
  /** The path attribute. */
  readonly path: string
  readonly httpOnly: boolean
  readonly secure: boolean
  readonly sameSite: 'none' | 'lax' | 'strict'
  /** Both cookies have the prefix `__Host-`; cookies without it are ignored. */
  readonly hostPrefix: boolean
}

/** The form of a token. Other values are never looked up. */
const token = /^[A-Za-z0-9_-]{16,256}$/

/**
 * The cookies of one request. Tolerates unknown items: clients send whole Set-Cookie texts back, with attributes and with items that have
 * no value (W3.1.2).
 */
export class RequestCookies {
  static readonly none = new RequestCookies(new Map())
  /** Every distinct value by name. */
  readonly #values: ReadonlyMap<string, ReadonlySet<string>>

  private constructor(values: ReadonlyMap<string, ReadonlySet<string>>) {
    this.#values = values
  }

  /** @param hostPrefix see {@link CookieOptions} */
  static parse(header = '', hostPrefix = false): RequestCookies {
    const values = new Map<string, Set<string>>()
    for (const item of header.split(';')) {
      const equals = item.indexOf('=')
      const name = equals < 0 ? undefined : nameWithoutPrefix(item.slice(0, equals).trim(), hostPrefix)
      if (name !== undefined) values.set(name, (values.get(name) ?? new Set()).add(item.slice(equals + 1).trim()))
    }
    return new RequestCookies(values)
  }

  /** The same cookies without any `auth_token` (I4: `ignoreAuth`). */
  withoutAuth(): RequestCookies {
    return new RequestCookies(new Map([...this.#values].filter(([name]) => name !== AUTH_COOKIE)))
  }

  /** Every distinct value of a cookie that has the form of a token. */
  tokens(name: string): string[] {
    return [...(this.#values.get(name) ?? [])].filter(value => token.test(value))
  }

  /** The value of a cookie, of whatever form; `undefined` also when there are several values. */
  only(name: string): string | undefined {
    const [value, ...others] = this.#values.get(name) ?? []
    return others.length === 0 ? value : undefined
  }

  /** Every distinct `auth_token` (D2.8). */
  get authTokens(): readonly string[] {
    return this.tokens(AUTH_COOKIE)
  }

  /** True when the request contains an `auth_token`, even one without the form of a token. */
  get hasAuthToken(): boolean {
    return this.#values.has(AUTH_COOKIE)
  }

  /** The token of a trusted device, if the request contains one. */
  get deviceToken(): string | undefined {
    return this.tokens(DEVICE_COOKIE)[0]
  }
}

/** The name of a cookie as it is without `__Host-`; `undefined` for one that another host of the domain may have set. */
function nameWithoutPrefix(name: string, hostPrefix: boolean): string | undefined {
  if (!hostPrefix) return name
  if (name === AUTH_COOKIE || name === DEVICE_COOKIE) return undefined
  const bare = name.startsWith(HOST_PREFIX) ? name.slice(HOST_PREFIX.length) : name
  return bare === AUTH_COOKIE || bare === DEVICE_COOKIE ? bare : name
}

/**
 * Sets a cookie in the response. It replaces an earlier cookie of the same name and keeps all others. No
 * other code writes `Set-Cookie` (`test/house.test.ts`).
 */
export function setCookie(reply: FastifyReply, cookie: string): void {
  const name = cookie.slice(0, cookie.indexOf('=') + 1)
  const others = cookiesOf(reply).filter(present => !present.startsWith(name))
  // Fastify appends to this header, so it must be removed first.
  reply.removeHeader('set-cookie')
  reply.header('set-cookie', others.length === 0 ? cookie : [...others, cookie])
}

/** True when the response sets or clears `auth_token`. */
export const setsAuthCookie = (reply: FastifyReply): boolean => cookiesOf(reply).some(cookie => authCookie.test(cookie))

const authCookie = new RegExp(`^(${HOST_PREFIX})?${AUTH_COOKIE}=`)

const cookiesOf = (reply: FastifyReply): string[] => {
  const present = reply.getHeader('set-cookie')
  return present === undefined ? [] : [present].flat().map(String)
}

/** Writes and clears the cookie with the same path and flags (I5.2, D2.5, D2.8). */
export class AuthCookie {
  readonly #prefix: string
  readonly #attributes: string

  constructor({ path, httpOnly, secure, sameSite, hostPrefix }: CookieOptions) {
    this.#prefix = hostPrefix ? HOST_PREFIX : ''
    const sameSiteWord = { none: 'None', lax: 'Lax', strict: 'Strict' }[sameSite]
    this.#attributes = [
      `Path=${path}`,
      `SameSite=${sameSiteWord}`,
      ...(httpOnly ? ['HttpOnly'] : []),
      // Browsers reject SameSite=None without Secure.
      ...(secure || sameSite === 'none' ? ['Secure'] : []),
    ].join('; ')
  }

  /** The name of the cookie with the token of a session. */
  get name(): string {
    return this.#prefix + AUTH_COOKIE
  }

  /** @param life `undefined` for a cookie that ends with the browser */
  set(token: string, life: Seconds | undefined): string {
    const maxAge = life === undefined ? '' : `Max-Age=${life}; `
    return `${this.name}=${token}; ${maxAge}${this.#attributes}`
  }

  /** Sets the cookie of a trusted device, with the same flags. */
  setDevice(token: string, life: Seconds): string {
    return `${this.#prefix}${DEVICE_COOKIE}=${token}; Max-Age=${life}; ${this.#attributes}`
  }

  clear(): string {
    return `${this.name}=; Max-Age=0; ${this.#attributes}`
  }
}
