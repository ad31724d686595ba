import type { FastifyReply } from 'fastify'
import { realSystem } from '../../base/system.ts'
import type { Seconds } from '../../base/units.ts'

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
      if (name !== undefined) values.set(name, (values.get(name) ?? new Set()).add(valueOf(item.slice(equals + 1))))
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

/** The value of a cookie; Java puts it in quotes. */
const valueOf = (text: string): string => text.trim().replace(/^"(.*)"$/, '$1')

/** The name of a cookie without `__Host-`; `undefined` for a cookie that another host of the domain may have set. */
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

/**
 * The lifetime of a cookie, by the clock of the machine like the `Date` of the response. Without `Expires`, Java treats the cookie as one
 * of an old version.
 */
export const lifetime = (life: Seconds): string =>
  `Max-Age=${life}; Expires=${new Date(realSystem.now() + life * 1000).toUTCString()}; `

/** The lifetime that removes a cookie. */
export const ENDED = `Max-Age=0; Expires=${new Date(0).toUTCString()}; `

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
    return `${this.name}=${token}; ${life === undefined ? '' : lifetime(life)}${this.#attributes}`
  }

  /** Sets the cookie of a trusted device, with the same flags. */
  setDevice(token: string, life: Seconds): string {
    return `${this.#prefix}${DEVICE_COOKIE}=${token}; ${lifetime(life)}${this.#attributes}`
  }

  clear(): string {
    return `${this.name}=; ${ENDED}${this.#attributes}`
  }
}
