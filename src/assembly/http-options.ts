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

/**
 * The limits of all threads together; each has its share, as most bodies of a caller come to different threads. Every thread can read at
 * least two bodies of the maximum size for one caller, and four for all.
 */
const MEMORY_OF_ONE: Bytes = 64 * 2 ** 20
const MEMORY_OF_ALL: Bytes = 256 * 2 ** 20

const bodyMemory = (maxJson: Bytes, threads: number): BodyMemoryLimits => ({
  ofOne: Math.max(2 * maxJson, Math.floor(MEMORY_OF_ONE / threads)),
  ofAll: Math.max(4 * maxJson, Math.floor(MEMORY_OF_ALL / threads)),
})

/** The same for responses that wait for their clients. The first one of a caller may have any size. */
const RESPONSES_OF_ONE: Bytes = 32 * 2 ** 20

const responseMemory = (maxJson: Bytes, threads: number): BodyMemoryLimits => ({
  ofOne: Math.max(maxJson, Math.floor(RESPONSES_OF_ONE / threads)),
  ofAll: Math.max(4 * maxJson, Math.floor(MEMORY_OF_ALL / threads)),
})

/** The settings of the HTTP room. @param threads the number of serving threads */
export function httpOptions(
  settings: Settings,
  machine: Machine,
  base: () => BaseAddress,
  basePath: string,
  threads: number,
): HttpOptions {
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
      maxJson: settings['service.http.json.max-size'],
      memory: bodyMemory(settings['service.http.json.max-size'], threads),
    },
    responseMemory: responseMemory(settings['service.http.json.max-size'], threads),
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
