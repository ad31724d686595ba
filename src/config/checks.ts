import { resolve } from 'node:path'
import { UNLIMITED } from '../base/units.ts'
import { both, type Check, isLoopbackHost, isPlainHttp, KEY_PAIR, needs } from './check.ts'
import type { Key } from './keys.ts'
import type { Report } from './report.ts'
import type { Settings } from './settings.ts'
import { mappingChecks } from './mapping-checks.ts'
import { oidcChecks } from './oidc-checks.ts'
import { showSetting } from './show.ts'
import { samlRequestChecks } from './saml-request-checks.ts'
import { federationChecks } from './federation-checks.ts'
import { ssoChecks } from './sso-checks.ts'
import type { Origin } from './source-values.ts'

/**
 * Finds contradictions and reports all of them. Skips settings that have already failed, because they have their default
 * instead of the intended value.
 */
export function findContradictions(settings: Settings, origins: ReadonlyMap<string, Origin>, report: Report): void {
  const isWritten = (key: Key): boolean => (origins.get(key) ?? 'default') !== 'default'
  for (const { keys, warning, wrong, message } of checks) {
    if (keys.some(key => report.failed.has(key)) || !wrong(settings, isWritten)) continue
    const text = `${message} (${keys.flatMap(key => showSetting(settings, key)).join(', ')})`
    if (warning) report.warning(text)
    else report.problem(text)
  }
}

/** The lifetimes of sessions by each way to sign in. */
export const maxAgeKeys = [
  'service.auth.cookie.max-age',
  'service.auth.saml.max-age',
  'service.auth.oidc.max-age',
  'service.auth.cas.max-age',
] as const

const checks: readonly Check[] = [
  {
    keys: ['service.auth.second-factor', 'service.auth.second-factor.groups.<n>'],
    wrong: settings =>
      settings['service.auth.second-factor'] === 'off' && settings['service.auth.second-factor.groups.<n>'].length > 0,
    message: 'members of these groups must have a second factor, but no user can add one',
  },
  {
    keys: ['service.auth.second-factor', 'service.auth.http-basic'],
    warning: true,
    wrong: settings =>
      ['admins', 'all'].includes(settings['service.auth.second-factor']) && settings['service.auth.http-basic'],
    message: 'users with a second factor cannot use HTTP Basic; their programs use access tokens',
  },
  // Addresses
  {
    keys: ['service.baseurl.folder', 'service.http.host'],
    warning: true,
    wrong: settings =>
      settings['service.baseurl.folder'] === undefined && !isLoopbackHost(settings['service.http.host']),
    message: 'service.baseurl.folder is not set, so URIs in responses begin with http://127.0.0.1',
  },
  {
    keys: ['service.http.host', 'service.http.trusted-proxies.<n>'],
    warning: true,
    wrong: settings =>
      !isLoopbackHost(settings['service.http.host']) && settings['service.http.trusted-proxies.<n>'].length === 0,
    message:
      'the service listens for others without a trusted reverse proxy, which has to limit connections and requests per address',
  },
  {
    // Cookies do not distinguish ports, so another port of the same host is not enough.
    keys: ['service.content.base-url', 'service.baseurl.folder'],
    wrong: settings => {
      const content = settings['service.content.base-url']
      return content !== undefined && hostnameOf(content) === hostnameOf(settings['service.baseurl.folder'])
    },
    message:
      'the content origin needs another host name than the base address, because browsers send cookies to all its ports',
  },
  {
    keys: ['service.content.base-url', 'service.baseurl.folder'],
    wrong: settings =>
      isHttps(settings['service.baseurl.folder']) && settings['service.content.base-url']?.startsWith('http:') === true,
    message:
      'the base address is https, so the content origin must be https as well: files must not travel in plain text',
  },
  {
    keys: ['service.content.base-url'],
    warning: true,
    wrong: settings => isPlainHttp(settings['service.content.base-url']),
    message: 'files and their tickets can be read on the network, because the content origin is not https',
  },
  {
    keys: ['service.content.base-url', 'service.auth.token.store', 'service.repository.store.url'],
    wrong: settings =>
      settings['service.content.base-url'] !== undefined &&
      settings['service.repository.store.url'] !== undefined &&
      settings['service.auth.token.store'] === 'memory',
    message:
      'several nodes with a content origin need a common token key: service.auth.token.store must be redis or database',
  },
  {
    keys: ['service.http.trusted-proxies.<n>'],
    warning: true,
    wrong: settings => settings['service.http.trusted-proxies.<n>'].some(range => range.endsWith('/0')),
    message: 'every peer is a trusted proxy, so any client can claim any address',
  },
  {
    keys: ['service.cors', 'service.cors.origins.<n>'],
    warning: true,
    wrong: settings => settings['service.cors'] !== settings['service.cors.origins.<n>'].length > 0,
    message: 'cross-origin requests need both the switch and at least one origin',
  },
  {
    keys: ['service.proxy', 'service.proxy.guest-hosts.<n>', 'service.proxy.private-hosts.<n>'],
    warning: true,
    wrong: settings =>
      !settings['service.proxy'] &&
      settings['service.proxy.guest-hosts.<n>'].length + settings['service.proxy.private-hosts.<n>'].length > 0,
    message: 'hosts for the proxy are set, but the proxy is off',
  },

  // Cookie and tokens
  {
    keys: ['service.auth.cookie.samesite', 'service.auth.cookie.secure'],
    warning: true,
    wrong: settings => settings['service.auth.cookie.samesite'] === 'none' && !settings['service.auth.cookie.secure'],
    message: 'the cookie is Secure nevertheless, because browsers reject SameSite=None without it',
  },
  {
    keys: ['service.baseurl.folder', 'service.auth.cookie.samesite', 'service.auth.cookie.secure'],
    warning: true,
    wrong: settings => isPlainHttp(settings['service.baseurl.folder']) && sendsSecureCookie(settings),
    message: 'browsers accept a Secure cookie only over https, so users cannot sign in with a browser',
  },
  {
    keys: ['service.baseurl.folder', 'service.auth.cookie.secure'],
    warning: true,
    wrong: settings => isHttps(settings['service.baseurl.folder']) && !sendsSecureCookie(settings),
    message: 'the cookie is sent over plain http too, although the base address is https',
  },
  {
    keys: ['service.baseurl.folder', 'service.auth.cookie.path'],
    warning: true,
    wrong: settings => !pathCovers(settings['service.auth.cookie.path'], settings['service.baseurl.folder']),
    message: 'browsers do not send the cookie to the base address, because it is outside the path of the cookie',
  },
  {
    keys: [
      'service.auth.cookie.host-prefix',
      'service.auth.cookie.path',
      'service.auth.cookie.secure',
      'service.auth.cookie.samesite',
      'service.baseurl.folder',
    ],
    wrong: settings => settings['service.auth.cookie.host-prefix'] && !mayHaveHostPrefix(settings),
    message: 'browsers accept a cookie with the prefix __Host- only over https, with the path / and with secure on',
  },
  {
    keys: ['service.auth.clear-site-data', 'service.baseurl.folder'],
    warning: true,
    wrong: settings =>
      ['storage', 'cache'].includes(settings['service.auth.clear-site-data']) &&
      !isHttps(settings['service.baseurl.folder']),
    message: 'browsers delete data at a sign-out only over https',
  },
  ...maxAgeKeys.map(
    (key): Check => ({
      keys: [key, 'service.auth.token.absolute-max-age'],
      warning: true,
      wrong: settings => {
        const cap = settings['service.auth.token.absolute-max-age'] ?? UNLIMITED
        return cap !== UNLIMITED && (settings[key] ?? 0) > cap
      },
      message: 'logins end before their max age',
    }),
  ),
  {
    keys: ['service.auth.token.store', 'service.auth.token.key-file'],
    warning: true,
    wrong: settings =>
      settings['service.auth.token.store'] === 'memory' && settings['service.auth.token.key-file'] !== undefined,
    message: 'the key file is used only for tokens outside memory',
  },
  {
    keys: ['service.auth.token.store', 'service.cluster.redis.url'],
    wrong: settings =>
      settings['service.auth.token.store'] === 'memory' && settings['service.cluster.redis.url'] !== undefined,
    message:
      'nodes that share Redis would not know each other’s logins: service.auth.token.store must be redis or database',
  },
  needs('service.auth.token.store', 'redis', 'service.cluster.redis.url'),
  both('service.cluster.redis.certificate-file', 'service.cluster.redis.key-file', KEY_PAIR),
  {
    keys: ['service.cluster.redis.certificate-file', 'service.cluster.redis.url'],
    wrong: settings =>
      settings['service.cluster.redis.certificate-file'] !== undefined &&
      settings['service.cluster.redis.url']?.startsWith('rediss:') !== true,
    message: 'a certificate is shown by TLS only: service.cluster.redis.url must begin with rediss',
  },

  // Passwords
  {
    keys: ['service.auth.password', 'service.auth.password.whitelist.<n>'],
    wrong: settings =>
      settings['service.auth.password'] === 'whitelist' && settings['service.auth.password.whitelist.<n>'].length === 0,
    message: 'no user can sign in with a password, because the whitelist is empty',
  },
  {
    keys: ['service.auth.password', 'service.auth.password.whitelist.<n>'],
    warning: true,
    wrong: settings =>
      settings['service.auth.password'] !== 'whitelist' && settings['service.auth.password.whitelist.<n>'].length > 0,
    message: 'the whitelist is used only with service.auth.password=whitelist',
  },
  {
    keys: ['service.auth.password', 'service.auth.saml', 'service.auth.oidc', 'service.auth.cas'],
    warning: true,
    wrong: settings =>
      settings['service.auth.password'] === 'off' &&
      settings['service.auth.saml'] === 'off' &&
      !settings['service.auth.oidc'] &&
      !settings['service.auth.cas'],
    message: 'no user can sign in: passwords, SAML, OpenID Connect and CAS are off',
  },
  {
    keys: ['service.auth.http-basic', 'service.baseurl.folder'],
    warning: true,
    wrong: settings => settings['service.auth.http-basic'] && isPlainHttp(settings['service.baseurl.folder']),
    message: 'passwords can be read on the network, because the base address is not https',
  },
  {
    // Without a duration or an attempt the lockout would do nothing (D6.4).
    keys: ['service.auth.temp.lockout.duration', 'service.auth.temp.lockout.max.attempts'],
    wrong: settings =>
      settings['service.auth.temp.lockout.max.attempts'] !== UNLIMITED &&
      settings['service.auth.temp.lockout.duration'] <= 0,
    message: 'a lockout needs a duration above 0; service.auth.temp.lockout.max.attempts=-1 switches it off',
  },
  {
    keys: ['service.auth.password-reset', 'service.smtp.host', 'service.smtp.from'],
    wrong: settings =>
      settings['service.auth.password-reset'] &&
      (settings['service.smtp.host'] === undefined || settings['service.smtp.from'] === undefined),
    message: 'password reset needs a mail server and a sender',
  },
  both(
    'service.smtp.username',
    'service.smtp.password',
    'the mail server needs both user name and password, or neither',
  ),
  {
    keys: ['service.smtp.security', 'service.smtp.password'],
    warning: true,
    wrong: settings => settings['service.smtp.security'] === 'off' && settings['service.smtp.password'] !== undefined,
    message: 'the password of the mail server is sent without encryption',
  },

  // Files
  {
    keys: ['service.data.quota', 'service.data.quota.default'],
    warning: true,
    wrong: settings => !settings['service.data.quota'] && settings['service.data.quota.default'] !== UNLIMITED,
    message: 'a default quota is set, but quota is off',
  },
  {
    keys: ['service.data.virus-scan', 'service.data.virus-scan.failure'],
    warning: true,
    wrong: settings =>
      settings['service.data.virus-scan'] !== undefined && settings['service.data.virus-scan.failure'] === 'store',
    message: 'files are stored without a virus scan while clamd does not respond',
  },
  {
    keys: ['service.data.virus-scan', 'service.data.virus-scan.large-files'],
    warning: true,
    wrong: settings =>
      settings['service.data.virus-scan'] !== undefined && settings['service.data.virus-scan.large-files'] === 'store',
    message: 'files too large for clamd are stored without a virus scan',
  },

  // Backups
  both('service.backup.schedule', 'service.backup.target', 'scheduled backups need both a time and a place'),
  both(
    'service.backup.s3.access-key',
    'service.backup.s3.secret-key',
    'an access key needs its secret, and the other way round',
  ),
  {
    keys: ['service.backup.target', 'service.data.folder'],
    wrong: settings => isInside(settings['service.backup.target'], settings['service.data.folder']),
    message: 'backups in the data folder would be lost together with it',
  },
  {
    keys: ['service.backup.target', 'service.data.store'],
    wrong: settings => {
      const { 'service.backup.target': target, 'service.data.store': store } = settings
      if (target === undefined || store === 'folder') return false
      // Another server can have a bucket of the same name.
      return settings['service.backup.s3.endpoint'] === undefined && overlap(target, store)
    },
    message: 'backups and uploaded files in one place would be lost together, by the removal of old backups as well',
  },

  ...ssoChecks,
  ...samlRequestChecks,
  ...federationChecks,
  ...oidcChecks,
  ...mappingChecks,
]

function isInside(place: string | undefined, folder: string): boolean {
  if (place === undefined || place.startsWith('s3://')) return false
  return `${resolve(place)}/`.startsWith(`${resolve(folder)}/`)
}

const overlap = (one: string, other: string): boolean =>
  `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`)

// D2.8: `none` forces Secure.
const sendsSecureCookie = (settings: Settings): boolean =>
  settings['service.auth.cookie.secure'] || settings['service.auth.cookie.samesite'] === 'none'

const hostnameOf = (url = 'http://127.0.0.1/'): string => new URL(url).hostname

const isHttps = (url: string | undefined): boolean => url?.startsWith('https:') ?? false

function mayHaveHostPrefix(settings: Settings): boolean {
  const base = settings['service.baseurl.folder']
  const path = settings['service.auth.cookie.path']
  const isForAllPaths = path === '/' || (path === 'auto' && base !== undefined && new URL(base).pathname === '/')
  return isForAllPaths && isHttps(base) && sendsSecureCookie(settings)
}

/** RFC 6265, section 5.1.4, for the address of the base. */
function pathCovers(cookiePath: string, base: string | undefined): boolean {
  if (cookiePath === 'auto') return true
  const path = base === undefined ? '/' : new URL(base).pathname
  return path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
}
