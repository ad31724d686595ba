import type { Bytes } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { BaseAddress } from '../http/base-address.ts'
import type { BodyMemoryLimits } from '../http/protocol/body.ts'
import type { CookieOptions } from '../http/protocol/cookies.ts'
import type { HttpOptions } from '../http/services.ts'
import type { Machine } from './machine.ts'

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

/** For bodies of requests: at least two of the maximum size for one caller. */
const REQUESTS_OF_ONE: Bytes = 64 * 2 ** 20
/** For responses that wait for their clients. The first one of a caller may have any size. */
const RESPONSES_OF_ONE: Bytes = 32 * 2 ** 20
/** For either of them. */
const MEMORY_OF_ALL: Bytes = 256 * 2 ** 20

/** @param maxJson there is memory for four bodies of this size in any case */
const memoryLimits = (ofOne: Bytes, maxJson: Bytes): BodyMemoryLimits => ({
  ofOne,
  ofAll: Math.max(4 * maxJson, MEMORY_OF_ALL),
})

/** The settings of the HTTP room. */
export function httpOptions(
  settings: Settings,
  machine: Machine,
  base: () => BaseAddress,
  basePath: string,
): HttpOptions {
  const maxJson = settings['service.http.json.max-size']
  return {
    base,
    trustedProxies: settings['service.http.trusted-proxies.<n>'],
    clientAddressHeader: settings['service.http.client-address-header'],
    cookie: cookieOptions(settings, basePath),
    cspReportUrl: settings['service.http.csp-report-url'],
    clearSiteData: settings['service.auth.clear-site-data'],
    invalidTokenIsError: settings['service.auth.cookie.invalid-token-error'],
    inlineTypes: settings['service.data.inline-types.<n>'],
    body: {
      idleTimeout: settings['service.http.body.idle-timeout'],
      minimumRate: settings['service.http.body.minimum-rate'],
      maxJson,
      memory: memoryLimits(Math.max(REQUESTS_OF_ONE, 2 * maxJson), maxJson),
    },
    responseMemory: memoryLimits(Math.max(RESPONSES_OF_ONE, maxJson), maxJson),
    cors: {
      enabled: settings['service.cors'],
      origins: settings['service.cors.origins.<n>'],
      maxAge: settings['service.cors.max-age'],
    },
    jsonp: settings['service.jsonp'],
    search: { maxLimit: settings['service.solr.max-limit'] },
    repositoryType: settings['service.repository.store.url'] === undefined ? 'sqlite' : 'postgres',
    metricsToken: settings['service.metrics.token'],
    version: machine.version,
  }
}
