import { absoluteUrl, domain } from './address-kinds.ts'
import { oidcFactorKeys } from './factor-keys.ts'
import { boolean, choice, seconds, secret, text } from './kinds.ts'
import { oidcMappingKeys } from './mapping-keys.ts'
import { allLiveBut } from './setting.ts'
import { createsUsers, label, labelByLanguage, nameOfIdp, sessionMaxAge } from './sso-keys.ts'

const claim = { expects: 'the name of a claim' }

/** OpenID Connect, several providers (D26). */
export const oidcKeys = allLiveBut(['service.auth.oidc', 'service.auth.oidc.max-age'], {
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
  'service.auth.oidc.clock-skew': seconds({
    min: 0,
    max: 3600,
    default: 60,
    help: 'Tolerated clock difference in tokens.',
  }),
  'service.auth.oidc.idp.<idp>.issuer': absoluteUrl({
    help: 'Issuer, exactly as the provider writes it; http only from this host. Its configuration is read from `<issuer>/.well-known/openid-configuration`.',
  }),
  'service.auth.oidc.idp.<idp>.authorization-endpoint': absoluteUrl({
    help: 'With `token-endpoint` and `jwks-uri`: fixed addresses for a provider without discovery.',
  }),
  'service.auth.oidc.idp.<idp>.token-endpoint': absoluteUrl({ help: 'Where codes are exchanged, without discovery.' }),
  'service.auth.oidc.idp.<idp>.jwks-uri': absoluteUrl({ help: 'Keys of the provider, without discovery.' }),
  'service.auth.oidc.idp.<idp>.userinfo-endpoint': absoluteUrl({
    help: 'Further claims about the user, without discovery.',
  }),
  'service.auth.oidc.idp.<idp>.end-session-endpoint': absoluteUrl({
    help: 'Where users end their session at the provider, without discovery.',
  }),
  'service.auth.oidc.idp.<idp>.client-id': text({ help: 'Name of this service at the provider.' }),
  'service.auth.oidc.idp.<idp>.client-secret': secret({
    help: 'Secret of this service at the provider. Without a secret it is a public client.',
  }),
  'service.auth.oidc.idp.<idp>.client-auth': choice(['basic', 'post'], {
    defaultText: 'what the provider offers, `basic` first',
    help: 'How the secret is sent: `client_secret_basic` or `client_secret_post`.',
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
  'service.auth.oidc.idp.<idp>.prompt': choice(['login', 'consent', 'select_account'], {
    help: 'What the provider asks the user at each sign-on.',
  }),
  'service.auth.oidc.idp.<idp>.user-name-claim': text({
    ...claim,
    default: 'email',
    help: 'Claim that becomes the name of a new user. A name that is an e-mail address must be verified by the provider.',
  }),
  'service.auth.oidc.idp.<idp>.trust-unverified-email': boolean({
    default: false,
    warn: 'is on: anybody who can enter an address at the provider can take over the account of that name',
    help: 'Accept e-mail addresses without `email_verified`.',
  }),
  'service.auth.oidc.idp.<idp>.user-auto-provisioning': createsUsers,
  'service.auth.oidc.idp.<idp>.domains.<n>': domain({
    help: 'E-mail domains whose users this provider, and no other, signs in.',
  }),
  ...oidcFactorKeys,
  ...oidcMappingKeys,
  'service.auth.oidc.idp.<idp>.label': label('the provider'),
  'service.auth.oidc.idp.<idp>.label.<language>': labelByLanguage('the provider'),
} as const)
