import type { System } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import type { BaseAddress } from '../http/base-address.ts'
import { CAS_PATH } from '../http/routes/cas.ts'
import { attributesUsed } from '../sso/attributes.ts'
import { CasProvider } from '../sso/cas/provider.ts'
import type { CasSignOnOptions } from '../sso/cas/sign-on.ts'
import { casRules } from './mapping.ts'

/** Where attributes are used, it has room for thousands of groups. */
const MAX_REPLY = 65_536
const MAX_REPLY_WITH_ATTRIBUTES = 524_288

/** `undefined` while CAS is off. */
export function createCas(settings: Settings, system: System, base: () => BaseAddress): CasSignOnOptions | undefined {
  const serverUrl = settings['service.auth.cas.server.url']
  // The settings have been checked: with the switch on, the address is set.
  if (!settings['service.auth.cas'] || serverUrl === undefined) return undefined
  const name = 'cas'
  const rules = casRules(settings)
  const options = {
    name,
    version: settings['service.auth.cas.version'],
    serverUrl,
    loginUrl: settings['service.auth.cas.server.url.login'],
    serviceUrl: () => base().at(CAS_PATH),
    verifyTls: !settings['service.https.disable-verification'],
    clockSkew: settings['service.auth.saml.clock-skew'] * 1000,
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
    face: {
      label: settings['service.auth.cas.label'] ?? 'CAS',
      labels: settings['service.auth.cas.label.<language>'],
      logoutUrl: settings['service.auth.cas.server.url.logout'] ?? `${serverUrl}logout`,
    },
    endsSession: settings['service.auth.cas.single-logout'],
    successUrl: settings['service.auth.cas.redirect-success.url'],
    failureUrl: settings['service.auth.cas.redirect-failure.url'],
  }
}
