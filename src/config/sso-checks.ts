import { both, type Check, hasTwice, isPlainHttp, KEY_PAIR, needs, providerChecks } from './check.ts'
import type { Settings } from './settings.ts'

/** The deprecated settings, and those that do the same with `service.auth.saml=new`. */
const legacyKeys = [
  ['service.auth.saml.relying-party-id', 'service.auth.saml.idp.<idp>.relying-party-id'],
  ['service.auth.saml.idp-metadata.url', 'service.auth.saml.idp.<idp>.metadata.url'],
  ['service.auth.saml.idp-metadata.max-age', 'service.auth.saml.idp.<idp>.metadata.max-age'],
  ['service.auth.saml.user-auto-provisioning', 'service.auth.saml.idp.<idp>.user-auto-provisioning'],
  ['service.auth.saml.redirect-method', 'service.auth.saml.idp.<idp>.redirect-method'],
  ['service.auth.saml.max-age', 'service.auth.cookie.max-age'],
] as const

/** Contradictions in the settings of SAML and CAS (I5.3, I5.4; D8, D9). */
export const ssoChecks: readonly Check[] = [
  {
    keys: ['service.auth.saml', 'service.auth.saml.assertion-consumer-service.url'],
    wrong: settings =>
      settings['service.auth.saml'] !== 'off' &&
      settings['service.auth.saml.assertion-consumer-service.url'] === undefined,
    message: 'SAML needs service.auth.saml.assertion-consumer-service.url',
  },
  {
    keys: ['service.auth.saml.assertion-consumer-service.url', 'service.baseurl.folder'],
    wrong: settings => settings['service.auth.saml'] !== 'off' && !isAcsPath(settings),
    message: 'responses arrive at <base address>auth/saml only, so the assertion consumer service must have this path',
  },
  {
    keys: ['service.auth.saml.assertion-consumer-service.url', 'service.baseurl.folder'],
    warning: true,
    wrong: settings => settings['service.auth.saml'] !== 'off' && !isAcsOrigin(settings),
    message:
      'the assertion consumer service is not at the base address, so the cookie of a login belongs to another host',
  },
  ...providerChecks({
    list: 'service.auth.saml.idps.<n>',
    defaultIdp: 'service.auth.saml.default-idp',
    required: ['service.auth.saml.idp.<idp>.relying-party-id', 'service.auth.saml.idp.<idp>.metadata.url'],
    key: 'service.auth.saml',
    value: 'new',
  }),
  {
    // D8.4: an IdP asserts only its own domains, so each has one owner.
    keys: ['service.auth.saml.idp.<idp>.domains.<n>'],
    wrong: settings => hasTwice([...settings['service.auth.saml.idp.<idp>.domains.<n>'].values()].flat()),
    message: 'a domain is claimed twice',
  },
  {
    keys: [
      'service.auth.saml',
      'service.auth.saml.idps.<n>',
      'service.auth.saml.idp.<idp>.domains.<n>',
      'service.auth.oidc.idps.<n>',
      'service.auth.oidc.idp.<idp>.domains.<n>',
    ],
    warning: true,
    wrong: settings => withoutDomains(settings) > 1,
    message:
      'each of several identity providers without domains can sign in the users of the others: set their domains',
  },
  {
    keys: ['service.auth.cas', 'service.auth.saml', 'service.auth.oidc'],
    warning: true,
    wrong: settings =>
      settings['service.auth.cas'] && (settings['service.auth.saml'] !== 'off' || settings['service.auth.oidc']),
    message: 'the CAS server can sign in the users of every other provider, because domains do not restrict CAS',
  },
  {
    keys: ['service.auth.saml.idp.<idp>.metadata.url'],
    wrong: settings => [...settings['service.auth.saml.idp.<idp>.metadata.url'].values()].some(isPlainHttp),
    message: 'metadata over http are accepted only from this host',
  },
  {
    keys: ['service.auth.saml.idp-metadata.url'],
    wrong: settings => isPlainHttp(settings['service.auth.saml.idp-metadata.url']),
    message: 'metadata over http are accepted only from this host',
  },
  needs('service.auth.saml', 'on', 'service.auth.saml.relying-party-id'),
  needs('service.auth.saml', 'on', 'service.auth.saml.idp-metadata.url'),
  {
    keys: ['service.auth.saml'],
    warning: true,
    wrong: settings => settings['service.auth.saml'] === 'on',
    message: 'these settings for one identity provider are deprecated: use service.auth.saml=new',
  },
  ...legacyKeys.map(
    ([key, instead]): Check => ({
      keys: ['service.auth.saml', key],
      warning: true,
      wrong: (settings, isWritten) => settings['service.auth.saml'] !== 'on' && isWritten(key),
      message: `${key} is used only with service.auth.saml=on; with new it is ${instead}`,
    }),
  ),
  ...(['signing', 'encryption'] as const).map(use =>
    both(`service.auth.saml.${use}.key-file`, `service.auth.saml.${use}.certificate-file`, KEY_PAIR),
  ),
  needs('service.auth.cas', true, 'service.auth.cas.server.url'),
  {
    keys: ['service.auth.cas.server.url'],
    wrong: settings => isPlainHttp(settings['service.auth.cas.server.url']),
    message:
      'a CAS server over http is accepted only on this host: an attacker on the network path could sign in as any user',
  },
]

/** The path of the address to which responses go is one where this service takes them (D1.2). */
function isAcsPath(settings: Settings): boolean {
  const acs = settings['service.auth.saml.assertion-consumer-service.url']
  if (acs === undefined) return true
  const base = new URL(settings['service.baseurl.folder'] ?? 'http://127.0.0.1/').pathname.replace(/\/?$/, '/')
  return [`${base}auth/saml`, '/store/auth/saml'].includes(new URL(acs).pathname)
}

function isAcsOrigin(settings: Settings): boolean {
  const acs = settings['service.auth.saml.assertion-consumer-service.url']
  const base = settings['service.baseurl.folder']
  return acs === undefined || base === undefined || new URL(acs).origin === new URL(base).origin
}

/** The number of SAML and OpenID Connect providers in use that have no domains. The legacy settings cannot give any. */
function withoutDomains(settings: Settings): number {
  const count = (idps: readonly string[], domains: ReadonlyMap<string, readonly string[]>): number =>
    idps.filter(idp => (domains.get(idp) ?? []).length === 0).length
  const saml = settings['service.auth.saml']
  const ofSaml = count(settings['service.auth.saml.idps.<n>'], settings['service.auth.saml.idp.<idp>.domains.<n>'])
  const ofOidc = count(settings['service.auth.oidc.idps.<n>'], settings['service.auth.oidc.idp.<idp>.domains.<n>'])
  return (saml === 'new' ? ofSaml : saml === 'on' ? 1 : 0) + (settings['service.auth.oidc'] ? ofOidc : 0)
}
