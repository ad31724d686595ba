import type { BaseAddress } from '../http/base-address.ts'
import { OIDC_CALLBACK_PATH } from '../http/routes/oidc.ts'
import type { Settings } from '../config/settings.ts'
import { attributesUsed } from '../sso/attributes.ts'
import { MetadataCopies, MetadataSource } from '../sso/metadata-source.ts'
import type { Database } from '../stores/database.ts'
import { discoveryUrl, fixedServer, OidcProvider, readServer } from '../sso/oidc/provider.ts'
import type { OidcLogin } from '../sso/oidc/sign-on.ts'
import type { RuntimeEnvironment } from './machine.ts'
import { oidcRules } from './mapping.ts'
import type { Endpoints, OidcServer } from '../sso/oidc/server.ts'

/** Age at which configuration and keys of a provider are read again, in seconds. An unknown key has them read at once. */
const MAX_AGE = 3600

/** The providers of OpenID Connect; none while it is off. */
export function createOidcProviders(
  settings: Settings,
  machine: Pick<RuntimeEnvironment, 'system' | 'log'>,
  base: () => BaseAddress,
  database?: Database,
): readonly OidcLogin[] {
  if (!settings['service.auth.oidc']) return []
  const copies = database && new MetadataCopies<OidcServer>(database)
  return settings['service.auth.oidc.idps.<n>'].map(name => createLogin(name, settings, machine, base, copies))
}

function createLogin(
  name: string,
  settings: Settings,
  machine: Pick<RuntimeEnvironment, 'system' | 'log'>,
  base: () => BaseAddress,
  copies: MetadataCopies<OidcServer> | undefined,
): OidcLogin {
  // The settings have been checked: what a provider needs is there.
  const issuer = settings['service.auth.oidc.idp.<idp>.issuer'].get(name) ?? ''
  const nameClaim = settings['service.auth.oidc.idp.<idp>.user-name-claim'].get(name) ?? 'email'
  const endpoints = fixedEndpoints(settings, name)
  const rules = oidcRules(settings, name)
  const source = { idp: name, url: endpoints?.jwks ?? discoveryUrl(issuer), maxAge: MAX_AGE }
  const parse = async (text: string): Promise<OidcServer> =>
    endpoints ? fixedServer(text, issuer, endpoints) : await readServer(text, issuer)
  const metadata = new MetadataSource(source, { ...machine, parse, copies })
  const options = {
    name,
    issuer,
    clientId: settings['service.auth.oidc.idp.<idp>.client-id'].get(name) ?? '',
    clientSecret: settings['service.auth.oidc.idp.<idp>.client-secret'].get(name),
    clientAuth: settings['service.auth.oidc.idp.<idp>.client-auth'].get(name),
    scopes: settings['service.auth.oidc.idp.<idp>.scopes'].get(name) ?? 'openid',
    acrValues: settings['service.auth.oidc.idp.<idp>.acr-values'].get(name),
    maxAuthenticationAge: settings['service.auth.oidc.idp.<idp>.max-authentication-age'].get(name),
    prompt: settings['service.auth.oidc.idp.<idp>.prompt'].get(name),
    endsSession: settings['service.auth.oidc.idp.<idp>.single-logout'].get(name) ?? false,
    rules: {
      nameClaim,
      trustsUnverifiedEmail: settings['service.auth.oidc.idp.<idp>.trust-unverified-email'].get(name) ?? false,
      others: attributesUsed(rules),
    },
    clockSkew: settings['service.auth.oidc.clock-skew'] * 1000,
    callbackUrl: () => base().at(OIDC_CALLBACK_PATH),
  }
  return {
    provider: new OidcProvider(options, { system: machine.system, metadata }),
    face: {
      label: settings['service.auth.oidc.idp.<idp>.label'].get(name) ?? name,
      labels: settings['service.auth.oidc.idp.<idp>.label.<language>'].get(name) ?? new Map<string, string>(),
      // The provider publishes the address: it is known once its configuration has been read.
      logoutUrl: undefined,
    },
    policy: {
      name,
      provisions: settings['service.auth.oidc.idp.<idp>.user-auto-provisioning'].get(name) ?? false,
      domains: settings['service.auth.oidc.idp.<idp>.domains.<n>'].get(name) ?? [],
      acceptsPlainNames: nameClaim !== 'email',
      maxAge: settings['service.auth.oidc.max-age'],
      factorContexts: settings['service.auth.oidc.idp.<idp>.second-factor-acr.<n>'].get(name),
      rules,
    },
  }
}

/** `undefined` for a provider with discovery. */
function fixedEndpoints(settings: Settings, name: string): Endpoints | undefined {
  const authorization = settings['service.auth.oidc.idp.<idp>.authorization-endpoint'].get(name)
  const token = settings['service.auth.oidc.idp.<idp>.token-endpoint'].get(name)
  const jwks = settings['service.auth.oidc.idp.<idp>.jwks-uri'].get(name)
  if (authorization === undefined || token === undefined || jwks === undefined) return undefined
  return {
    authorization,
    token,
    jwks,
    userinfo: settings['service.auth.oidc.idp.<idp>.userinfo-endpoint'].get(name),
    endSession: settings['service.auth.oidc.idp.<idp>.end-session-endpoint'].get(name),
  }
}
