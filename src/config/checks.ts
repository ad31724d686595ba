import { filled } from '../base/finding.ts'
import { UNLIMITED } from '../base/units.ts'
import { both, type Check, isHttps, isLoopbackHost, isPlainHttp, KEY_PAIR, needs } from './check.ts'
import type { Key } from './core-keys.ts'
import { contradictionsOfFeatures, maxAgeKeys } from './keys.ts'
import type { Report } from './report.ts'
import type { Settings } from './settings.ts'
import { showSetting } from './show.ts'
import type { Origin } from './source-values.ts'

/**
 * Finds contradictions and reports all of them. Skips settings that have already failed, because they have their default
 * instead of the intended value.
 */
export function findContradictions(settings: Settings, origins: ReadonlyMap<string, Origin>, report: Report): void {
  const isWritten = (key: Key): boolean => (origins.get(key) ?? 'default') !== 'default'
  for (const { keys, warning, wrong, message, values } of contradictions) {
    if (keys.some(key => report.failed.has(key)) || !wrong(settings, isWritten)) continue
    const shown = keys.flatMap(key => showSetting(settings, key)).filter(shown => !message.includes(shown))
    const shownAll = shown.join(', ')
    if (warning === undefined) report.problem(shownAll === '' ? message : `${message} (${shownAll})`)
    else report.warning(filled(warning, textOfWarning(message), { ...values, settings: shownAll }))
  }
}

/** A warning names the settings. */
export const textOfWarning = (message: string): string => `${message} ({settings})`

/** Those of the core and of all features. */
export const contradictions: readonly Check[] = [
  // Addresses
  {
    keys: ['service.baseurl.folder', 'service.http.host'],
    warning: 'base-address-not-set',
    wrong: settings =>
      settings['service.baseurl.folder'] === undefined && !isLoopbackHost(settings['service.http.host']),
    message: 'service.baseurl.folder is not set, so URIs in responses begin with http://127.0.0.1',
  },
  {
    keys: ['service.http.host', 'service.http.trusted-proxies.<n>'],
    warning: 'no-trusted-proxy',
    wrong: settings =>
      !isLoopbackHost(settings['service.http.host']) && settings['service.http.trusted-proxies.<n>'].length === 0,
    message:
      'the service can be reached from other machines, but no reverse proxy is trusted: only a proxy limits connections and requests of each address',
  },
  {
    keys: ['service.http.trusted-proxies.<n>'],
    warning: 'every-peer-trusted',
    wrong: settings => settings['service.http.trusted-proxies.<n>'].some(range => range.endsWith('/0')),
    message: 'every peer is a trusted proxy, so any client can claim any address',
  },
  {
    keys: ['service.cors', 'service.cors.origins.<n>'],
    warning: 'cors-incomplete',
    wrong: settings => settings['service.cors'] !== settings['service.cors.origins.<n>'].length > 0,
    message: 'cross-origin requests need both the switch and at least one origin',
  },
  {
    keys: ['service.repository.store.url'],
    warning: 'database-not-verified',
    wrong: ({ 'service.repository.store.url': url }) =>
      url !== undefined && ['prefer', 'allow'].includes(new URL(url).searchParams.get('sslmode') ?? ''),
    message: 'with sslmode=prefer or allow, rows and the password can be read on the network: use verify-full',
  },

  // Cookie and tokens
  {
    keys: ['service.auth.cookie.samesite', 'service.auth.cookie.secure'],
    warning: 'cookie-secure-anyway',
    wrong: settings => settings['service.auth.cookie.samesite'] === 'none' && !settings['service.auth.cookie.secure'],
    message: 'the cookie is Secure nevertheless, because browsers reject SameSite=None without it',
  },
  {
    keys: ['service.baseurl.folder', 'service.auth.cookie.samesite', 'service.auth.cookie.secure'],
    warning: 'cookie-needs-https',
    wrong: settings => isPlainHttp(settings['service.baseurl.folder']) && sendsSecureCookie(settings),
    message: 'browsers accept a Secure cookie only over https, so users cannot sign in with a browser',
  },
  {
    keys: ['service.baseurl.folder', 'service.auth.cookie.secure'],
    warning: 'cookie-without-https',
    wrong: settings => isHttps(settings['service.baseurl.folder']) && !sendsSecureCookie(settings),
    message: 'the cookie is sent over plain http too, although the base address is https',
  },
  {
    keys: ['service.baseurl.folder', 'service.auth.cookie.path'],
    warning: 'cookie-outside-path',
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
  ...maxAgeKeys.map(
    (key): Check => ({
      keys: [key, 'service.auth.token.absolute-max-age'],
      warning: 'login-ends-early',
      wrong: settings => {
        const cap = settings['service.auth.token.absolute-max-age'] ?? UNLIMITED
        return cap !== UNLIMITED && (settings[key] ?? 0) > cap
      },
      message: 'logins end before their max age',
    }),
  ),
  {
    keys: ['service.auth.token.store', 'service.auth.token.key-file'],
    warning: 'token-key-unused',
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
    warning: 'whitelist-unused',
    wrong: settings =>
      settings['service.auth.password'] !== 'whitelist' && settings['service.auth.password.whitelist.<n>'].length > 0,
    message: 'the whitelist is used only with service.auth.password=whitelist',
  },
  {
    keys: ['service.auth.http-basic', 'service.baseurl.folder'],
    warning: 'basic-without-https',
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
  both(
    'service.smtp.username',
    'service.smtp.password',
    'the mail server needs both user name and password, or neither',
  ),
  {
    keys: ['service.smtp.security', 'service.smtp.password'],
    warning: 'mail-password-in-clear',
    wrong: settings => settings['service.smtp.security'] === 'off' && settings['service.smtp.password'] !== undefined,
    message: 'the password of the mail server is sent without encryption',
  },

  ...contradictionsOfFeatures,
]

// D2.8: `none` forces Secure.
const sendsSecureCookie = (settings: Settings): boolean =>
  settings['service.auth.cookie.secure'] || settings['service.auth.cookie.samesite'] === 'none'

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
