import type { Bytes } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { ServiceAddress } from '../http/base-address.ts'
import type { CookieOptions } from '../http/protocol/cookies.ts'
import type { HttpOptions } from '../http/http-services.ts'
import type { RuntimeEnvironment } from '../core/machine.ts'

/** The flags of the cookie (I5.2). */
export function cookieOptions(settings: Settings, basePath: string): CookieOptions {
  const path = settings['service.auth.cookie.path']
  return {
    path: path === 'auto' ? basePath : path,
    httpOnly: settings['service.auth.cookie.httponly'],
    secure: settings['service.auth.cookie.secure'],
    sameSite: settings['service.auth.cookie.samesite'],
    hostPrefix: settings['service.auth.cookie.host-prefix'],
  }
}

/** For bodies that are read as a whole. */
const BODY_MEMORY: Bytes = 128 * 2 ** 20

/** The settings of `http/`. */
export function httpOptions(settings: Settings, machine: RuntimeEnvironment, address: ServiceAddress): HttpOptions {
  const maxJson = settings['service.http.json.max-size']
  return {
    address,
    trustedProxies: settings['service.http.trusted-proxies.<n>'],
    cookie: cookieOptions(settings, address.path),
    cspReportUrl: settings['service.http.csp-report-url'],
    invalidTokenIsError: settings['service.auth.cookie.invalid-token-error'],
    inlineTypes: settings['service.data.inline-types.<n>'],
    body: {
      idleTimeout: settings['service.http.body.idle-timeout'],
      maxJson,
      memory: Math.max(BODY_MEMORY, 4 * maxJson),
    },
    cors: {
      enabled: settings['service.cors'],
      origins: settings['service.cors.origins.<n>'],
    },
    jsonp: settings['service.jsonp'],
    version: machine.version,
    commit: machine.commit,
  }
}
