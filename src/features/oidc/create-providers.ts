import type { BaseAddress } from '../../http/base-address.ts'
import { CALLBACK_PATH } from './addresses.ts'
import { attributesUsed } from '../sso/attributes.ts'
import { MetadataCopies, MetadataSource } from '../sso/metadata-source.ts'
import type { Database } from '../../stores/database.ts'
import { discoveryUrl, OidcProvider, readServer } from './provider.ts'
import type { OidcLogin } from './sign-on.ts'
import type { Log } from '../../base/log.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { System } from '../../base/system.ts'
import type { OidcSettings } from './settings.ts'
import { oidcRules } from './mapping.ts'
import type { OidcServer } from './server.ts'

/** Age at which configuration and keys of a provider are read again, in seconds. An unknown key has them read at once. */
const MAX_AGE = 3600
/** Tolerated clock difference in tokens. */
const CLOCK_SKEW: Milliseconds = 60_000

/** The clock and the log. */
export interface Machine {
  readonly system: System
  readonly log: Log
}

/** The providers that are set. */
export function createOidcProviders(
  settings: OidcSettings,
  machine: Machine,
  base: () => BaseAddress,
  database?: Database,
): readonly OidcLogin[] {
  const copies = database && new MetadataCopies<OidcServer>(database)
  return settings['service.auth.oidc.idps.<n>'].map(name => createLogin(name, settings, machine, base, copies))
}

function createLogin(
  name: string,
  settings: OidcSettings,
  machine: Machine,
  base: () => BaseAddress,
  copies: MetadataCopies<OidcServer> | undefined,
): OidcLogin {
  // The settings have been checked: what a provider needs is there.
  const issuer = settings['service.auth.oidc.idp.<idp>.issuer'].get(name) ?? ''
  const nameClaim = settings['service.auth.oidc.idp.<idp>.user-name-claim'].get(name) ?? 'email'
  const rules = oidcRules(settings, name)
  const source = { idp: name, url: discoveryUrl(issuer), maxAge: MAX_AGE }
  const parse = async (text: string): Promise<OidcServer> => await readServer(text, issuer)
  const metadata = new MetadataSource(source, { ...machine, parse, copies })
  const options = {
    name,
    issuer,
    clientId: settings['service.auth.oidc.idp.<idp>.client-id'].get(name) ?? '',
    clientSecret: settings['service.auth.oidc.idp.<idp>.client-secret'].get(name),
    scopes: settings['service.auth.oidc.idp.<idp>.scopes'].get(name) ?? 'openid',
    acrValues: settings['service.auth.oidc.idp.<idp>.acr-values'].get(name),
    maxAuthenticationAge: settings['service.auth.oidc.idp.<idp>.max-authentication-age'].get(name),
    endsSession: settings['service.auth.oidc.idp.<idp>.single-logout'].get(name) ?? false,
    rules: {
      nameClaim,
      trustsUnverifiedEmail: settings['service.auth.oidc.idp.<idp>.trust-unverified-email'].get(name) ?? false,
      others: attributesUsed(rules),
    },
    clockSkew: CLOCK_SKEW,
    callbackUrl: () => base().at(CALLBACK_PATH),
  }
  return {
    provider: new OidcProvider(options, { system: machine.system, metadata }),
    display: {
      label: settings['service.auth.oidc.idp.<idp>.label'].get(name) ?? name,
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
