import type { Milliseconds } from '../../base/units.ts'
import type { System } from '../../base/system.ts'
import { CAS_NAME, type CasSettings } from './settings.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import { CAS_PATH } from './addresses.ts'
import { attributesUsed } from '../sso/attributes.ts'
import { CasProvider } from './provider.ts'
import type { CasSignOnOptions } from './sign-on.ts'
import { rulesFrom } from '../sso/mapping.ts'
import { casMapping } from './mapping.ts'

/** Tolerated clock difference in assertions of SAML 1.1. */
const CLOCK_SKEW: Milliseconds = 60_000
/** Where attributes are used, it has room for thousands of groups. */
const MAX_REPLY = 65_536
const MAX_REPLY_WITH_ATTRIBUTES = 524_288

/** The CAS server and its users. */
export function createCas(settings: CasSettings, system: System, base: () => BaseAddress): CasSignOnOptions {
  // The settings have been checked: with the switch on, the address is set.
  const serverUrl = settings['service.auth.cas.server.url'] ?? ''
  const name = CAS_NAME
  const rules = rulesFrom(casMapping(settings))
  const options = {
    name,
    version: settings['service.auth.cas.version'],
    serverUrl,
    loginUrl: settings['service.auth.cas.server.url.login'],
    serviceUrl: () => base().at(CAS_PATH),
    verifyTls: !settings['service.https.disable-verification'],
    clockSkew: CLOCK_SKEW,
    maxBytes: attributesUsed(rules).length > 0 ? MAX_REPLY_WITH_ATTRIBUTES : MAX_REPLY,
  }
  return {
    provider: new CasProvider(options, { system }),
    policy: {
      name,
      provisions: settings['service.auth.cas.user-auto-provisioning'],
      domains: undefined,
      maxAge: settings['service.auth.cas.max-age'],
      rules,
    },
    display: {
      label: settings['service.auth.cas.label'] ?? 'CAS',
      logoutUrl: `${serverUrl}logout`,
    },
    endsSession: settings['service.auth.cas.single-logout'],
    successUrl: settings['service.auth.cas.redirect-success.url'],
    failureUrl: settings['service.auth.cas.redirect-failure.url'],
  }
}
