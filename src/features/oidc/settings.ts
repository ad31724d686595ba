import { absoluteUrl, domain } from '../../config/address-kinds.ts'
import { boolean, seconds, secret, text } from '../../config/kinds.ts'
import { allLiveBut } from '../../config/setting.ts'
import type { Settings, SettingsOf } from '../../config/settings.ts'
import { countsAsFactor, createsUsers, label, mappingKinds, nameOfIdp, sessionMaxAge } from '../sso/rows.ts'

const mapping = mappingKinds('Claim')
const claim = { expects: 'the name of a claim' }

/** Several providers (D26). */
export const oidcSettings = {
  title: 'OpenID Connect',
  rows: allLiveBut(['service.auth.oidc', 'service.auth.oidc.max-age'], {
    'service.auth.oidc': boolean({ default: false, help: 'Sign-on through OpenID Connect providers.' }),
    'service.auth.oidc.idps.<n>': text({ ...nameOfIdp, help: 'Names of the providers.' }),
    'service.auth.oidc.default-idp': text({ ...nameOfIdp, help: 'Provider used when the request names none.' }),
    'service.auth.oidc.redirect-success.url': absoluteUrl({
      help: 'Where users go after sign-on if the request has no `successurl`.',
    }),
    'service.auth.oidc.redirect-failure.url': absoluteUrl({
      help: 'Where users go after a failed sign-on if the request has no `failureurl`.',
    }),
    'service.auth.oidc.redirect-domain-whitelist.<n>': domain({
      help: 'Hosts that `successurl` and `failureurl` may name.',
    }),
    'service.auth.oidc.max-age': sessionMaxAge('session after a sign-on by OpenID Connect'),
    'service.auth.oidc.idp.<idp>.issuer': absoluteUrl({
      help: 'Issuer, exactly as the provider writes it; http only from this host. Its configuration is read from `<issuer>/.well-known/openid-configuration`.',
    }),
    'service.auth.oidc.idp.<idp>.client-id': text({ help: 'Name of this service at the provider.' }),
    'service.auth.oidc.idp.<idp>.client-secret': secret({
      help: 'Secret of this service at the provider. Without a secret it is a public client.',
    }),
    'service.auth.oidc.idp.<idp>.scopes': text({
      expects: 'names separated by spaces, `openid` among them',
      matches: /^(?=.*(?:^| )openid(?: |$))[\x21\x23-\x5B\x5D-\x7E]+(?: [\x21\x23-\x5B\x5D-\x7E]+)*$/,
      default: 'openid email profile',
      help: 'Scopes that are requested.',
    }),
    'service.auth.oidc.idp.<idp>.acr-values': text({
      expects: 'values separated by spaces',
      help: 'Requested authentication classes. A token with another `acr` is rejected.',
    }),
    'service.auth.oidc.idp.<idp>.max-authentication-age': seconds({
      min: 0,
      help: 'Users whose last authentication at the provider is longer ago must authenticate again (`max_age`).',
    }),
    'service.auth.oidc.idp.<idp>.single-logout': boolean({
      default: false,
      help: 'A sign-out here continues to the provider and ends the session there. The ID token is kept with the session, up to 8,192 characters, and sent along (`id_token_hint`), so that the provider need not ask the user.',
    }),
    'service.auth.oidc.idp.<idp>.user-name-claim': text({
      ...claim,
      default: 'email',
      help: 'Claim that becomes the name of a new user. A name that is an e-mail address must be verified by the provider.',
    }),
    'service.auth.oidc.idp.<idp>.trust-unverified-email': boolean({
      default: false,
      warn: {
        code: 'oidc-unverified-email',
        text: 'is on: anybody who can enter an address at the provider can take over the account of that name',
      },
      help: 'Accept e-mail addresses without `email_verified`.',
    }),
    'service.auth.oidc.idp.<idp>.user-auto-provisioning': createsUsers,
    'service.auth.oidc.idp.<idp>.domains.<n>': domain({
      help: 'E-mail domains whose users this provider, and no other, signs in.',
    }),
    'service.auth.oidc.idp.<idp>.second-factor-acr.<n>': text({
      expects: 'a value of `acr`, such as `https://refeds.org/profile/mfa`',
      help: `Authentication class ${countsAsFactor}`,
    }),
    'service.auth.oidc.idp.<idp>.groups-claim': mapping.groups,
    'service.auth.oidc.idp.<idp>.groups-prefix': mapping.prefix,
    'service.auth.oidc.idp.<idp>.groups-auto-provisioning': mapping.provisions,
    'service.auth.oidc.idp.<idp>.admin-group': mapping.admin,
    'service.auth.oidc.idp.<idp>.map.<target>': mapping.map,
    'service.auth.oidc.idp.<idp>.required.<claim>': mapping.required,
    'service.auth.oidc.idp.<idp>.label': label('the provider'),
  } as const),
  removed: {
    'service.auth.oidc.clock-skew': 'clocks may differ by a minute',
    'service.auth.oidc.idp.<idp>.authorization-endpoint': 'addresses come from the discovery document of the provider',
    'service.auth.oidc.idp.<idp>.token-endpoint': 'addresses come from the discovery document of the provider',
    'service.auth.oidc.idp.<idp>.jwks-uri': 'addresses come from the discovery document of the provider',
    'service.auth.oidc.idp.<idp>.userinfo-endpoint': 'addresses come from the discovery document of the provider',
    'service.auth.oidc.idp.<idp>.end-session-endpoint': 'addresses come from the discovery document of the provider',
    'service.auth.oidc.idp.<idp>.client-auth':
      'the secret is sent as the discovery document of the provider says, by `client_secret_basic` if that is offered',
    'service.auth.oidc.idp.<idp>.prompt':
      'the provider decides what it asks; `max-authentication-age=0` makes users authenticate at each sign-on',
    'service.auth.oidc.idp.<idp>.map-replaces': 'at each sign-on the values of the provider replace what the user has',
    'service.auth.oidc.idp.<idp>.contact': 'the page for refused users tells them to ask their organisation',
    'service.auth.oidc.idp.<idp>.label.<language>': 'there is one label for all languages: set `label`',
  },
} as const

export type OidcSettings = Settings & SettingsOf<typeof oidcSettings.rows>
