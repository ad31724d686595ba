import type { Audit } from '../accounts/audit.ts'
import type { SignIn } from '../accounts/factors/sign-in.ts'
import type { Sessions } from '../accounts/sessions.ts'
import { UNLIMITED } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { Changes } from '../content/changes.ts'
import { Provisioning } from '../content/provisioning.ts'
import type { BaseAddress } from '../http/base-address.ts'
import type { Sso } from '../http/services.ts'
import type { RuntimeEnvironment } from './machine.ts'
import { AccountMatcher } from '../sso/account-matcher.ts'
import { SsoFailures } from '../sso/failures.ts'
import { LoginFlows } from '../sso/login-flows.ts'
import { RedirectTargets } from '../sso/redirect-targets.ts'
import { LatestSignOns, SignOn } from '../sso/sign-on.ts'
import { SignOnPreview } from '../sso/sign-on-preview.ts'
import type { Database } from '../stores/database.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'

interface Dependencies {
  readonly database: Database
  readonly changes: Changes
  readonly ephemeral: EphemeralStore
  readonly audit: Audit
  readonly sessions: Sessions
  readonly signIn: SignIn
  /** Known only after the server has started to listen. */
  readonly base: () => BaseAddress
}

/**
 * Part of `assembly/server.ts`, to keep that short: sign-on through identity providers. Each protocol with its libraries is loaded
 * only if the settings use it, because it takes memory and time at the start.
 */
export async function createSso(
  settings: Settings,
  machine: Pick<RuntimeEnvironment, 'system' | 'log'>,
  deps: Dependencies,
): Promise<Sso> {
  const { database, changes, ephemeral, audit, sessions, signIn, base } = deps
  const { system } = machine
  const cas = settings['service.auth.cas'] ? (await import('./cas.ts')).createCas(settings, system, base) : undefined
  const saml =
    settings['service.auth.saml'] === 'off'
      ? undefined
      : (await import('./saml.ts')).createSamlProviders(settings, machine, { database, base })
  const oidc = settings['service.auth.oidc']
    ? (await import('./oidc.ts')).createOidcProviders(settings, machine, base, database)
    : []
  const logins = [...(cas ? [cas] : []), ...(saml?.providers ?? []), ...oidc]
  const provisioning = new Provisioning(changes)
  const flows = new LoginFlows(ephemeral, system)
  const failures = new SsoFailures(machine)
  const accounts = new AccountMatcher(
    { database, provisioning },
    logins.map(({ policy }) => policy),
  )
  const latest = new LatestSignOns(system)
  const maxAge = settings['service.auth.sso.absolute-max-age']
  const signOn = new SignOn(
    { flows, accounts, sessions, signIn, failures, audit, latest, system },
    maxAge === UNLIMITED ? undefined : maxAge * 1000,
  )
  return {
    failures,
    preview: new SignOnPreview(accounts, latest, logins),
    landsOnPage: settings['service.auth.sso.landing'] === 'page',
    cas: cas && new (await import('../sso/cas/sign-on.ts')).CasSignOn({ signOn, flows }, cas),
    oidc:
      oidc.length === 0
        ? undefined
        : new (await import('../sso/oidc/sign-on.ts')).OidcSignOn(
            { signOn, flows, system },
            {
              providers: oidc,
              defaultProvider: settings['service.auth.oidc.default-idp'],
              targets: targetsOf(base, settings['service.auth.oidc.redirect-domain-whitelist.<n>']),
              successUrl: settings['service.auth.oidc.redirect-success.url'],
              failureUrl: settings['service.auth.oidc.redirect-failure.url'],
            },
          ),
    saml:
      saml &&
      new (await import('../sso/saml/sign-on.ts')).SamlSignOn(
        { signOn, flows, system, close: saml.close },
        {
          providers: saml.providers,
          defaultProvider: saml.defaultProvider,
          targets: targetsOf(base, settings['service.auth.saml.redirect-domain-whitelist.<n>']),
          successUrl: settings['service.auth.saml.redirect-success.url'],
          failureUrl: settings['service.auth.saml.redirect-failure.url'],
        },
      ),
  }
}

/** The port of the base address can be known late. */
const targetsOf = (base: () => BaseAddress, whitelist: readonly string[]): Pick<RedirectTargets, 'require'> => ({
  require: (text, name) => new RedirectTargets(new URL(base().href).host, whitelist).require(text, name),
})
