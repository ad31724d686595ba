import { both, type Check, KEY_PAIR } from './check.ts'
import type { Settings } from './settings.ts'

const idpKey = 'service.auth.saml.idp.<idp>.signing.key-file'
const idpCertificate = 'service.auth.saml.idp.<idp>.signing.certificate-file'
const secondKey = 'service.auth.saml.encryption.second.key-file'
const secondCertificate = 'service.auth.saml.encryption.second.certificate-file'

/** Contradictions in the settings of requests and sign-out (D30). */
export const samlRequestChecks: readonly Check[] = [
  {
    keys: [idpKey, idpCertificate],
    wrong: settings => {
      const [keys, certificates] = [settings[idpKey], settings[idpCertificate]]
      return listed(settings).some(idp => (keys.get(idp) === undefined) !== (certificates.get(idp) === undefined))
    },
    message: KEY_PAIR,
  },
  both(secondKey, secondCertificate, KEY_PAIR),
  {
    keys: [secondKey, 'service.auth.saml.encryption.key-file'],
    wrong: settings =>
      settings[secondKey] !== undefined && settings['service.auth.saml.encryption.key-file'] === undefined,
    message: 'a second encryption key needs a first one',
  },
  {
    keys: ['service.auth.saml.idp.<idp>.single-logout', 'service.auth.saml.signing.key-file'],
    wrong: settings =>
      listed(settings).some(
        idp =>
          (settings['service.auth.saml.idp.<idp>.single-logout'].get(idp) ?? 'off') !== 'off' && !signs(settings, idp),
      ),
    message: 'single logout needs a signing key: its messages must be signed',
  },
  {
    keys: ['service.auth.saml.idp.<idp>.sign-requests', 'service.auth.saml.signing.key-file'],
    wrong: settings =>
      listed(settings).some(
        idp => settings['service.auth.saml.idp.<idp>.sign-requests'].get(idp) === true && !signs(settings, idp),
      ),
    message: 'signed requests need a signing key',
  },
  {
    keys: [
      'service.auth.saml.idp.<idp>.authn-context-comparison',
      'service.auth.saml.idp.<idp>.accepted-authn-context.<n>',
    ],
    wrong: settings =>
      listed(settings).some(
        idp =>
          (settings['service.auth.saml.idp.<idp>.authn-context-comparison'].get(idp) ?? 'exact') !== 'exact' &&
          (settings['service.auth.saml.idp.<idp>.accepted-authn-context.<n>'].get(idp) ?? []).length === 0,
      ),
    message:
      'a comparison other than exact needs accepted-authn-context: only the identity provider knows the order of classes',
  },
  {
    keys: ['service.auth.saml.idp.<idp>.deep-links', 'service.auth.saml.idp.<idp>.allow-unsolicited'],
    warning: true,
    wrong: settings =>
      listed(settings).some(
        idp =>
          settings['service.auth.saml.idp.<idp>.deep-links'].get(idp) === true &&
          settings['service.auth.saml.idp.<idp>.allow-unsolicited'].get(idp) !== true,
      ),
    message: 'deep links have no effect without allow-unsolicited',
  },
]

const listed = (settings: Settings): readonly string[] =>
  settings['service.auth.saml'] === 'new' ? settings['service.auth.saml.idps.<n>'] : []

const signs = (settings: Settings, idp: string): boolean =>
  settings['service.auth.saml.signing.key-file'] !== undefined || settings[idpKey].get(idp) !== undefined
