import type { Seconds } from '../base/units.ts'

const AUTH_COOKIE = 'auth_token'
/** Tells a device that somebody has signed in from before (D6.5). */
const DEVICE_COOKIE = 'stowage_device'

export interface CookieOptions {
  /** Path attribute. */
  readonly path: string
  readonly httpOnly: boolean
  readonly secure: boolean
  readonly sameSite: 'none' | 'lax' | 'strict'
}

/**
 * Every distinct `auth_token` of a Cookie header (D2.8). Lenient about all else: clients send whole Set-Cookie texts back,
 * attributes and items without a value included (wire facts 3.1.2).
 */
export const authTokens = (header: string | undefined): string[] => tokensNamed(AUTH_COOKIE, header)

/** The token of a trusted device, if the request carries one. */
export const deviceToken = (header: string | undefined): string | undefined => tokensNamed(DEVICE_COOKIE, header)[0]

/** Every distinct value of a cookie that could be a token. */
export function tokensNamed(name: string, header: string | undefined): string[] {
  if (header === undefined) return []
  const tokens = new Set<string>()
  for (const item of header.split(';')) {
    const equals = item.indexOf('=')
    if (equals < 0 || item.slice(0, equals).trim() !== name) continue
    const value = item.slice(equals + 1).trim()
    if (/^[A-Za-z0-9_-]{16,256}$/.test(value)) tokens.add(value)
  }
  return [...tokens]
}

/** Whether the request names the cookie at all, with a value that could be a token or not. */
export const hasAuthCookie = (header: string | undefined): boolean =>
  header?.split(';').some(item => item.trim().startsWith(`${AUTH_COOKIE}=`)) ?? false

/** Writes and clears the cookie with one and the same path and flags (interface 5.2, D2.5, D2.8). */
export class AuthCookie {
  readonly #attributes: string

  constructor({ path, httpOnly, secure, sameSite }: CookieOptions) {
    const sameSiteWord = { none: 'None', lax: 'Lax', strict: 'Strict' }[sameSite]
    this.#attributes = [
      `Path=${path}`,
      `SameSite=${sameSiteWord}`,
      ...(httpOnly ? ['HttpOnly'] : []),
      // Browsers drop SameSite=None without Secure.
      ...(secure || sameSite === 'none' ? ['Secure'] : []),
    ].join('; ')
  }

  /** @param life `undefined` for a cookie that ends with the browser. */
  set(token: string, life: Seconds | undefined): string {
    const maxAge = life === undefined ? '' : `Max-Age=${life}; `
    return `${AUTH_COOKIE}=${token}; ${maxAge}${this.#attributes}`
  }

  /** The cookie of a trusted device, with the same flags. */
  setDevice(token: string, life: Seconds): string {
    return `${DEVICE_COOKIE}=${token}; Max-Age=${life}; ${this.#attributes}`
  }

  clear(): string {
    return `${AUTH_COOKIE}=; Max-Age=0; ${this.#attributes}`
  }
}
