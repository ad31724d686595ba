import { absoluteUrl, domain } from '../../config/address-kinds.ts'
import { boolean, choice, seconds, text } from '../../config/kinds.ts'
import { allLiveBut } from '../../config/setting.ts'
import type { Settings, SettingsOf } from '../../config/settings.ts'
import { countsAsFactor, createsUsers, label, mappingKinds, nameOfIdp, sessionMaxAge } from '../sso/rows.ts'
import { federationKeys } from './federation-rows.ts'

const mapping = mappingKinds('Attribute')
const authnContext = { expects: 'a URI', matches: /^[a-z][a-z\d+.-]*:\S+$/i }
const metadataMaxAge = seconds({ min: 1, default: 604_800, help: 'Age at which metadata are read again.' })
const redirectMethod = choice(['get', 'post'], {
  default: 'get',
  help: 'How users are sent to the identity provider.',
})

/** Several identity providers (I5.3, D8); at the end the deprecated settings for one (D8.8), which shares the others. */
export const samlSettings = {
  title: 'SAML 2.0',
  rows: allLiveBut(['service.auth.saml', 'service.auth.saml.max-age'], {
    'service.auth.saml': choice(['new', 'on', 'off'], {
      default: 'off',
      help: 'SAML 2.0: `new` with the identity providers below, `on` with the deprecated settings for one.',
    }),
    'service.auth.saml.assertion-consumer-service.url': absoluteUrl({
      help: 'Address that identity providers send users back to: `<base address>auth/saml`.',
    }),
    'service.auth.saml.redirect-success.url': absoluteUrl({
      help: 'Where users go after sign-on if the request has no `successurl`.',
    }),
    'service.auth.saml.redirect-failure.url': absoluteUrl({
      help: 'Where users go after a failed sign-on if the request has no `failureurl`.',
    }),
    'service.auth.saml.redirect-domain-whitelist.<n>': domain({
      help: 'Hosts that `successurl` and `failureurl` may name.',
    }),
    'service.auth.saml.clock-skew': seconds({
      min: 0,
      max: 3600,
      default: 60,
      help: 'Tolerated clock difference in assertions.',
    }),
    'service.auth.saml.signing.key-file': text({
      expects: 'the path of a file',
      help: 'Private key (PEM) that signs requests; requires the certificate.',
    }),
    'service.auth.saml.signing.certificate-file': text({
      expects: 'the path of a file',
      help: 'Certificate (PEM) of the signing key, published to identity providers.',
    }),
    'service.auth.saml.encryption.key-file': text({
      expects: 'the path of a file',
      help: 'Private key (PEM, RSA) that decrypts assertions; requires the certificate. Two keys in the file while one replaces the other.',
    }),
    'service.auth.saml.encryption.certificate-file': text({
      expects: 'the path of a file',
      help: 'Certificate (PEM) of the encryption key, published to identity providers; of several keys in their order.',
    }),
    'service.auth.saml.default-idp': text({
      ...nameOfIdp,
      help: 'Identity provider used when the request names none.',
    }),
    'service.auth.saml.idps.<n>': text({ ...nameOfIdp, help: 'Names of the identity providers.' }),
    'service.auth.saml.idp.<idp>.relying-party-id': text({
      help: 'Name of this service at the identity provider.',
    }),
    'service.auth.saml.idp.<idp>.metadata.url': absoluteUrl({
      protocols: ['https', 'http', 'file'],
      help: 'Metadata of the identity provider; http only from this host.',
    }),
    'service.auth.saml.idp.<idp>.metadata.max-age': metadataMaxAge,
    'service.auth.saml.idp.<idp>.user-auto-provisioning': createsUsers,
    'service.auth.saml.idp.<idp>.redirect-method': redirectMethod,
    'service.auth.saml.idp.<idp>.domains.<n>': domain({
      help: 'E-mail domains whose users this identity provider, and no other, signs in.',
    }),
    'service.auth.saml.idp.<idp>.second-factor-acr.<n>': text({
      expects: 'an `AuthnContextClassRef`, such as `https://refeds.org/profile/mfa`',
      help: `Authentication context ${countsAsFactor}`,
    }),
    ...federationKeys,
    'service.auth.saml.idp.<idp>.groups-attribute': mapping.groups,
    'service.auth.saml.idp.<idp>.groups-prefix': mapping.prefix,
    'service.auth.saml.idp.<idp>.groups-auto-provisioning': mapping.provisions,
    'service.auth.saml.idp.<idp>.admin-group': mapping.admin,
    'service.auth.saml.idp.<idp>.map.<target>': mapping.map,
    'service.auth.saml.idp.<idp>.required.<attribute>': mapping.required,
    'service.auth.saml.idp.<idp>.single-logout': choice(['off', 'accept', 'on'], {
      default: 'off',
      help: 'Single logout. `accept`: a sign-out at the identity provider ends the sessions here. `on`: a sign-out here ends the session at the identity provider as well. Requires a signing key.',
    }),
    'service.auth.saml.idp.<idp>.authn-context.<n>': text({
      ...authnContext,
      help: 'Class of authentication that is requested (`AuthnContextClassRef`), the preferred one first. A response with another class is refused.',
    }),
    'service.auth.saml.idp.<idp>.label': label('the identity provider'),
    'service.auth.saml.idp.<idp>.logout-url': absoluteUrl({
      help: 'Page where users sign out at the identity provider; the sign-in page links to it after a sign-out here.',
    }),
    'service.auth.saml.idp.<idp>.allow-unsolicited': boolean({
      default: false,
      warn: { code: 'saml-unsolicited', text: 'is on: responses without a request of this service are accepted' },
      help: 'Accept sign-ons begun at the identity provider.',
    }),
    'service.auth.saml.relying-party-id': text({
      help: 'Deprecated: name of this service at the only identity provider.',
    }),
    'service.auth.saml.idp-metadata.url': absoluteUrl({
      protocols: ['https', 'http', 'file'],
      help: 'Deprecated: metadata of the only identity provider.',
    }),
    'service.auth.saml.idp-metadata.max-age': metadataMaxAge,
    'service.auth.saml.user-auto-provisioning': createsUsers,
    'service.auth.saml.redirect-method': redirectMethod,
    'service.auth.saml.max-age': sessionMaxAge('SAML session'),
  } as const),
  removed: {
    'service.auth.saml.encryption.second.key-file':
      'the file of `service.auth.saml.encryption.key-file` may have two keys',
    'service.auth.saml.encryption.second.certificate-file':
      'the file of `service.auth.saml.encryption.certificate-file` may have two certificates',
    'service.auth.saml.idp.<idp>.signing.key-file': 'all requests are signed with `service.auth.saml.signing.key-file`',
    'service.auth.saml.idp.<idp>.signing.certificate-file':
      'all requests are signed with `service.auth.saml.signing.key-file`',
    'service.auth.saml.idp.<idp>.sign-requests':
      'requests are signed if there is a key in `service.auth.saml.signing.key-file`',
    'service.auth.saml.idp.<idp>.force-authn': 'the identity provider decides when users authenticate again',
    'service.auth.saml.idp.<idp>.authn-context-comparison':
      'one of the classes in `authn-context.<n>` is requested (`exact`)',
    'service.auth.saml.idp.<idp>.accepted-authn-context.<n>':
      'the classes in `authn-context.<n>` are requested and accepted',
    'service.auth.saml.idp.<idp>.deep-links':
      'a sign-on that begins at the identity provider leads to `service.auth.saml.redirect-success.url`',
    'service.auth.saml.idp.<idp>.scope-check': 'scopes are always checked in a federation',
    'service.auth.saml.idp.<idp>.service-categories.<n>':
      'the federation publishes the categories of this service: ask its operator for them',
    'service.auth.saml.idp.<idp>.map-replaces': 'at each sign-on the values of the provider replace what the user has',
    'service.auth.saml.idp.<idp>.contact': 'the page for refused users tells them to ask their organisation',
    'service.auth.saml.idp.<idp>.label.<language>': 'there is one label for all languages: set `label`',
  },
} as const

/** The name in logs of the single provider from the deprecated settings. */
export const LEGACY_NAME = 'saml'

export type SamlSettings = Settings & SettingsOf<typeof samlSettings.rows>
