import { both, type Check, isPlainHttp, KEY_PAIR, needs } from '../../config/check.ts'
import { providerContradictions } from '../sso/provider-contradictions.ts'
import { federationContradictions } from './federation-contradictions.ts'
import type { SamlSettings, samlSettings } from './settings.ts'

/** The deprecated settings, and those that do the same with `service.auth.saml=new`. */
const legacyKeys = [
  ['service.auth.saml.relying-party-id', 'service.auth.saml.idp.<idp>.relying-party-id'],
  ['service.auth.saml.idp-metadata.url', 'service.auth.saml.idp.<idp>.metadata.url'],
  ['service.auth.saml.idp-metadata.max-age', 'service.auth.saml.idp.<idp>.metadata.max-age'],
  ['service.auth.saml.user-auto-provisioning', 'service.auth.saml.idp.<idp>.user-auto-provisioning'],
  ['service.auth.saml.redirect-method', 'service.auth.saml.idp.<idp>.redirect-method'],
  ['service.auth.saml.max-age', 'service.auth.cookie.max-age'],
] as const

/** Contradictions between the settings of SAML (I5.3, D8). */
export const samlContradictions: ReadonlyArray<Check<typeof samlSettings.rows>> = [
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
    warning: 'acs-elsewhere',
    wrong: settings => settings['service.auth.saml'] !== 'off' && !isAcsOrigin(settings),
    message:
      'the assertion consumer service is not at the base address, so the cookie of a login belongs to another host',
  },
  ...providerContradictions<typeof samlSettings.rows>({
    list: 'service.auth.saml.idps.<n>',
    defaultIdp: 'service.auth.saml.default-idp',
    required: ['service.auth.saml.idp.<idp>.relying-party-id', 'service.auth.saml.idp.<idp>.metadata.url'],
    key: 'service.auth.saml',
    value: 'new',
  }),
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
    warning: 'saml-deprecated',
    wrong: settings => settings['service.auth.saml'] === 'on',
    message: 'these settings for one identity provider are deprecated: use service.auth.saml=new',
  },
  ...legacyKeys.map(
    ([key, instead]): Check<typeof samlSettings.rows> => ({
      keys: ['service.auth.saml', key],
      warning: 'saml-key-unused',
      wrong: (settings, isWritten) => settings['service.auth.saml'] !== 'on' && isWritten(key),
      message: '{key} is used only with service.auth.saml=on; with new it is {instead}',
      values: { key, instead },
    }),
  ),
  ...(['signing', 'encryption'] as const).map(use =>
    both(`service.auth.saml.${use}.key-file`, `service.auth.saml.${use}.certificate-file`, KEY_PAIR),
  ),
  {
    keys: ['service.auth.saml.idp.<idp>.single-logout', 'service.auth.saml.signing.key-file'],
    wrong: settings =>
      settings['service.auth.saml'] === 'new' &&
      settings['service.auth.saml.signing.key-file'] === undefined &&
      settings['service.auth.saml.idps.<n>'].some(
        idp => (settings['service.auth.saml.idp.<idp>.single-logout'].get(idp) ?? 'off') !== 'off',
      ),
    message: 'single logout needs a signing key: its messages must be signed',
  },
  ...federationContradictions,
]

/** The path of the address to which responses go is one where this service takes them (D1.2). */
function isAcsPath(settings: SamlSettings): boolean {
  const acs = settings['service.auth.saml.assertion-consumer-service.url']
  if (acs === undefined) return true
  const base = new URL(settings['service.baseurl.folder'] ?? 'http://127.0.0.1/').pathname.replace(/\/?$/, '/')
  return [`${base}auth/saml`, '/store/auth/saml'].includes(new URL(acs).pathname)
}

function isAcsOrigin(settings: SamlSettings): boolean {
  const acs = settings['service.auth.saml.assertion-consumer-service.url']
  const base = settings['service.baseurl.folder']
  return acs === undefined || base === undefined || new URL(acs).origin === new URL(base).origin
}
