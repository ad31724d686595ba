import type { Audit } from './accounts/audit.ts'
import type { Log } from './base/log.ts'
import type { System } from './base/system.ts'
import type { Settings } from './config/settings.ts'
import { Provisioning } from './content/provisioning.ts'
import type { BaseAddress } from './http/base-address.ts'
import { CAS_PATH } from './http/routes/cas.ts'
import type { CasLogin, Sso } from './http/services.ts'
import { CasProvider } from './sso/cas/provider.ts'
import { SsoFailures } from './sso/failures.ts'
import { LoginFlows } from './sso/login-flows.ts'
import { SignOn } from './sso/sign-on.ts'
import type { Database } from './stores/database.ts'
import type { EphemeralStore } from './stores/ephemeral-store.ts'

interface Dependencies {
  readonly database: Database
  readonly ephemeral: EphemeralStore
  readonly audit: Audit
  /** Known only once the server listens. */
  readonly base: () => BaseAddress
}

/** Part of `server.ts`, which would be too long with it: sign-on by others. */
export function createSso(
  settings: Settings,
  machine: { readonly system: System; readonly log: Log },
  on: Dependencies,
): Sso {
  const { database, ephemeral, audit, base } = on
  const { system } = machine
  const cas = createCas(settings, system, base)
  const provisioning = new Provisioning({ database, audit, system })
  return {
    cas,
    flows: new LoginFlows(ephemeral, system),
    signOn: new SignOn({ database, provisioning, audit }, cas ? [cas.policy] : []),
    failures: new SsoFailures(machine),
  }
}

function createCas(settings: Settings, system: System, base: () => BaseAddress): CasLogin | undefined {
  const serverUrl = settings['service.auth.cas.server.url']
  // The settings have been checked: with the switch on, the address is there.
  if (!settings['service.auth.cas'] || serverUrl === undefined) return undefined
  const name = 'cas'
  const provider = new CasProvider(
    {
      name,
      version: settings['service.auth.cas.version'],
      serverUrl,
      loginUrl: settings['service.auth.cas.server.url.login'],
      serviceUrl: () => base().at(CAS_PATH),
      verifyTls: !settings['service.https.disable-verification'],
      clockSkew: settings['service.auth.saml.clock-skew'] * 1000,
    },
    system,
  )
  return {
    provider,
    policy: {
      name,
      provisions: settings['service.auth.cas.user-auto-provisioning'],
      domains: undefined,
      maxAge: settings['service.auth.cas.max-age'],
    },
    successUrl: settings['service.auth.cas.redirect-success.url'],
    failureUrl: settings['service.auth.cas.redirect-failure.url'],
  }
}
