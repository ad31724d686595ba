import type { Audit } from '../accounts/audit.ts'
import type { SignIn } from '../accounts/factors/sign-in.ts'
import type { Sessions } from '../accounts/sessions.ts'
import { UNLIMITED } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import type { Changes } from '../content/changes.ts'
import { Provisioning } from '../content/provisioning.ts'
import type { BaseAddress } from '../http/base-address.ts'
import type { Sso } from '../http/services.ts'
import type { LivePart } from './live-settings.ts'
import type { RuntimeEnvironment } from './machine.ts'
import { AccountMatcher } from '../sso/account-matcher.ts'
import { SsoFailures } from '../sso/failures.ts'
import { LoginFlows } from '../sso/login-flows.ts'
import type { Verifier } from '../sso/saml/provider.ts'
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

/** What stays when the providers are replaced, so that sign-ons in progress go on. */
interface Lasting {
  readonly flows: LoginFlows
  readonly failures: SsoFailures
  readonly latest: LatestSignOns
  /** Absent while SAML is off. */
  readonly verifier: Verifier | undefined
}

/** Sign-on, whose providers are replaced as a whole when their settings change. */
interface ReplaceableSso {
  readonly current: Sso
  readonly reload: LivePart
  readonly close: () => Promise<void>
}

const areOfSso = /^service\.(auth\.(saml|oidc|cas|sso)|https\.disable-verification)/

/**
 * Part of `assembly/server.ts`, to keep that short: sign-on through identity providers. Each protocol with its libraries is loaded
 * only if the settings use it, because it takes memory and time at the start.
 */
export async function createSso(
  settings: Settings,
  machine: Pick<RuntimeEnvironment, 'system' | 'log'>,
  deps: Dependencies,
): Promise<ReplaceableSso> {
  const isSaml = settings['service.auth.saml'] !== 'off'
  const lasting = {
    flows: new LoginFlows(deps.ephemeral, machine.system),
    failures: new SsoFailures(machine),
    latest: new LatestSignOns(machine.system),
    verifier: isSaml ? new (await import('../sso/saml/provider.ts')).Verifier() : undefined,
  }
  let current = await createProviders(settings, machine, { ...deps, ...lasting })
  return {
    get current() {
      return current
    },
    reload: async ({ next, changed }) => {
      if (![...changed].some(key => areOfSso.test(key))) return undefined
      const replacement = await createProviders(next, machine, { ...deps, ...lasting })
      return {
        apply: () => {
          void current.saml?.close()
          current = replacement
        },
        discard: async () => await replacement.saml?.close(),
      }
    },
    close: async () => {
      await current.saml?.close()
      await lasting.verifier?.close()
    },
  }
}

async function createProviders(
  settings: Settings,
  machine: Pick<RuntimeEnvironment, 'system' | 'log'>,
  deps: Dependencies & Lasting,
): Promise<Sso> {
  const { database, changes, audit, sessions, signIn, base, flows, failures, latest, verifier } = deps
  const { system } = machine
  const cas = settings['service.auth.cas'] ? (await import('./cas.ts')).createCas(settings, system, base) : undefined
  const saml =
    settings['service.auth.saml'] === 'off'
      ? undefined
      : (await import('./saml.ts')).createSamlProviders(settings, machine, verifier && { database, base, verifier })
  const oidc = settings['service.auth.oidc']
    ? (await import('./oidc.ts')).createOidcProviders(settings, machine, base, database)
    : []
  const logins = [...(cas ? [cas] : []), ...(saml?.providers ?? []), ...oidc]
  const provisioning = new Provisioning(changes)
  const accounts = new AccountMatcher(
    { database, provisioning },
    logins.map(({ policy }) => policy),
  )
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
