import { absoluteUrl, domain } from './address-kinds.ts'
import { federationKeys } from './federation-keys.ts'
import { boolean, choice, seconds, text } from './kinds.ts'
import { samlFactorKeys } from './factor-keys.ts'
import { casMappingKeys, samlMappingKeys } from './mapping-keys.ts'
import { samlRequestKeys } from './saml-request-keys.ts'
import { allLiveBut } from './setting.ts'

export const nameOfIdp = { expects: 'a name of A-Z, a-z, 0-9, _ and -', matches: /^[\w-]+$/ }

const MAX_LABEL = 80
const labelForm = {
  expects: `a text of at most ${MAX_LABEL} characters`,
  matches: new RegExp(`^.{1,${MAX_LABEL}}$`, 'u'),
}

export const label = (what: string, defaultLabel?: string) =>
  text({
    ...labelForm,
    defaultText: defaultLabel === undefined ? 'its name in the settings' : `\`${defaultLabel}\``,
    help: `Name of ${what} as users know it, for the sign-in page.`,
  })

export const labelByLanguage = (what: string) =>
  text({ ...labelForm, help: `Name of ${what} in one language, for browsers that prefer it.` })

export const createsUsers = boolean({ default: false, help: 'Create unknown users at their first sign-on.' })

export const sessionMaxAge = (session: string) =>
  seconds({
    min: 1,
    unlimited: 'a cookie that ends with the browser',
    defaultText: 'value of `service.auth.cookie.max-age`',
    help: `Lifetime of a ${session}.`,
  })

const metadataMaxAge = seconds({ min: 1, default: 604_800, help: 'Age at which metadata are read again.' })
const redirectMethod = choice(['get', 'post'], {
  default: 'get',
  help: 'How users are sent to the identity provider.',
})

/** Sign-on by others, whichever protocol. */
export const ssoKeys = allLiveBut([], {
  'service.auth.sso.landing': choice(['redirect', 'page'], {
    default: 'redirect',
    help: 'How a finished sign-on continues: by redirect, or by a page of this service (for strict cookies).',
  }),
  'service.auth.sso.absolute-max-age': seconds({
    min: 1,
    default: -1,
    unlimited: 'the value of `service.auth.token.absolute-max-age`',
    help: 'Maximum lifetime of a session by SAML, OpenID Connect or CAS, however often it is extended; the provider may state an earlier end.',
  }),
} as const)

/** SAML 2.0, several identity providers (I5.3, D8). */
export const samlKeys = allLiveBut(['service.auth.saml'], {
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
    help: 'Tolerated clock difference in assertions, including those of SAML 1.1.',
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
    help: 'Private key (PEM, RSA) that decrypts assertions; requires the certificate.',
  }),
  'service.auth.saml.encryption.certificate-file': text({
    expects: 'the path of a file',
    help: 'Certificate (PEM) of the encryption key, published to identity providers.',
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
  ...samlFactorKeys,
  ...federationKeys,
  ...samlMappingKeys,
  ...samlRequestKeys,
  'service.auth.saml.idp.<idp>.label': label('the identity provider'),
  'service.auth.saml.idp.<idp>.label.<language>': labelByLanguage('the identity provider'),
  'service.auth.saml.idp.<idp>.logout-url': absoluteUrl({
    help: 'Page where users sign out at the identity provider; the sign-in page links to it after a sign-out here.',
  }),
  'service.auth.saml.idp.<idp>.allow-unsolicited': boolean({
    default: false,
    warn: 'is on: responses without a request of this service are accepted',
    help: 'Accept sign-ons begun at the identity provider.',
  }),
} as const)

/** The deprecated SAML settings for one identity provider (I5.3, D8.8); the others are shared with the new. */
export const legacySamlKeys = allLiveBut(['service.auth.saml.max-age'], {
  'service.auth.saml.relying-party-id': text({
    help: 'Name of this service at the identity provider.',
  }),
  'service.auth.saml.idp-metadata.url': absoluteUrl({
    protocols: ['https', 'http', 'file'],
    help: 'Metadata of the identity provider.',
  }),
  'service.auth.saml.idp-metadata.max-age': metadataMaxAge,
  'service.auth.saml.user-auto-provisioning': createsUsers,
  'service.auth.saml.redirect-method': redirectMethod,
  'service.auth.saml.max-age': sessionMaxAge('SAML session'),
} as const)

/** CAS and SAML 1.1 (I5.4, D9). */
export const casKeys = allLiveBut(['service.auth.cas', 'service.auth.cas.max-age'], {
  'service.auth.cas': boolean({ default: false, help: 'Sign-on through a CAS server.' }),
  'service.auth.cas.version': choice(['cas1', 'cas2', 'cas3', 'saml11'], {
    default: 'cas2',
    help: 'Protocol the CAS server speaks.',
  }),
  'service.auth.cas.server.url': absoluteUrl({
    folder: true,
    help: 'Base address of the CAS server, from which login and validation addresses follow.',
  }),
  'service.auth.cas.server.url.login': absoluteUrl({
    defaultText: 'from `service.auth.cas.server.url`',
    help: 'Login page of the CAS server.',
  }),
  'service.auth.cas.server.url.logout': absoluteUrl({
    defaultText: 'from `service.auth.cas.server.url`',
    help: 'Page where users sign out at the CAS server; the sign-in page links to it after a sign-out here.',
  }),
  'service.auth.cas.single-logout': boolean({
    default: false,
    help: 'A sign-out here sends browsers to the logout page of the CAS server, which ends the session there.',
  }),
  ...casMappingKeys,
  'service.auth.cas.label': label('the CAS server', 'CAS'),
  'service.auth.cas.label.<language>': labelByLanguage('the CAS server'),
  'service.auth.cas.max-age': sessionMaxAge('CAS session'),
  'service.auth.cas.user-auto-provisioning': createsUsers,
  'service.auth.cas.redirect-success.url': absoluteUrl({ help: 'Where users go after sign-on.' }),
  'service.auth.cas.redirect-failure.url': absoluteUrl({ help: 'Where users go after a failed sign-on.' }),
  'service.https.disable-verification': boolean({
    default: false,
    warn: 'is on: an attacker on the network path to the CAS server can sign in as any user; for tests only',
    help: 'Accept any certificate of the CAS server.',
  }),
} as const)
