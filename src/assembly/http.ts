import type { Bytes } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { ServiceAddress } from '../http/base-address.ts'
import type { CookieOptions } from '../http/protocol/sender.ts'
import type { HttpOptions } from '../http/services.ts'
import type { RuntimeEnvironment } from './machine.ts'
import { ContentOrigin, ContentTickets } from '../http/content-origin.ts'
import type { EphemeralStores } from './ephemeral-stores.ts'
import { Proxy } from '../proxy/proxy.ts'

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
    clientAddressHeader: settings['service.http.client-address-header'],
    cookie: cookieOptions(settings, address.path),
    cspReportUrl: settings['service.http.csp-report-url'],
    clearSiteData: settings['service.auth.clear-site-data'],
    invalidTokenIsError: settings['service.auth.cookie.invalid-token-error'],
    inlineTypes: settings['service.data.inline-types.<n>'],
    body: {
      idleTimeout: settings['service.http.body.idle-timeout'],
      minimumRate: settings['service.http.body.minimum-rate'],
      maxJson,
      memory: Math.max(BODY_MEMORY, 4 * maxJson),
    },
    cors: {
      enabled: settings['service.cors'],
      origins: settings['service.cors.origins.<n>'],
      maxAge: settings['service.cors.max-age'],
    },
    jsonp: settings['service.jsonp'],
    search: { maxLimit: settings['service.solr.max-limit'] },
    repositoryType: settings['service.repository.store.url'] === undefined ? 'sqlite' : 'postgres',
    contact: settings['service.contact'],
    get metricsToken() {
      return settings['service.metrics.token']
    },
    version: machine.version,
  }
}

/** The origin for active files; `undefined` when the settings have none. All nodes verify each other's tickets. */
export function createContentOrigin(
  settings: Settings,
  { system }: RuntimeEnvironment,
  { tokenKeys }: Pick<EphemeralStores, 'tokenKeys'>,
): ContentOrigin | undefined {
  const href = settings['service.content.base-url']
  if (href === undefined) return undefined
  // With tokens in memory one process serves, and a restart ends all sessions and tickets.
  const secrets = tokenKeys.length > 0 ? tokenKeys : [system.randomBytes(32)]
  return new ContentOrigin(href, new ContentTickets(secrets, system))
}

/** `undefined` when the proxy is off. */
export function createProxy(settings: Settings, { version }: RuntimeEnvironment): Proxy | undefined {
  if (!settings['service.proxy']) return undefined
  const options = {
    hosts: {
      forGuests: settings['service.proxy.guest-hosts.<n>'],
      private: settings['service.proxy.private-hosts.<n>'],
    },
    maxBytes: settings['service.proxy.max-size'],
    timeout: settings['service.proxy.timeout'],
    userAgent: `Stowage/${version}`,
  }
  return new Proxy(options)
}
