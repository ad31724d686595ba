import { StartupError } from '../../base/errors.ts'
import { createLog } from '../../base/log.ts'
import { realSystem } from '../../base/system.ts'
import { type CheckResult, ok, problem, warning } from '../../core/check-result.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import { checkClock, checkRules } from '../sso/checks.ts'
import { CALLBACK_PATH } from './addresses.ts'
import { createOidcProviders } from './create-providers.ts'
import type { OidcProvider } from './provider.ts'
import type { OidcServer } from './server.ts'
import type { OidcSettings } from './settings.ts'
import type { OidcLogin } from './sign-on.ts'

/** The providers with their configuration, as far as they can be examined without a sign-on. */
export async function checkOidc(settings: OidcSettings, base: BaseAddress): Promise<readonly CheckResult[]> {
  try {
    const logins = createOidcProviders(settings, { system: realSystem, log: createLog('silent') }, () => base)
    return (await Promise.all(logins.map(login => checkOidcProvider(login, base)))).flat()
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    return [problem('oidc-unusable', 'OpenID Connect: {reason}', { reason: error.message })]
  }
}

async function checkOidcProvider({ provider, policy }: OidcLogin, base: BaseAddress): Promise<CheckResult[]> {
  const { name, metadata } = provider
  const title = `OpenID Connect ${name}`
  const found = [
    ok('oidc-redirect', '{provider}: redirect URI {url}', { provider: title, url: base.at(CALLBACK_PATH) }),
    ...checkRules(title, policy.rules),
  ]
  await metadata.current().catch(() => undefined)
  const { url, metadata: known, problem: reason = 'unknown' } = await metadata.status()
  if (!known)
    return [
      ...found,
      problem('oidc-provider-unusable', '{provider}: the configuration cannot be used: {reason}', {
        provider: title,
        reason,
      }),
    ]
  found.push(
    ok('oidc-provider', '{provider}: {issuer}, {keys, plural, one {# key} other {# keys}}, {algorithms}', {
      provider: title,
      issuer: known.entityId,
      keys: known.keys.length,
      algorithms: known.algorithms.join(', '),
    }),
  )
  return [...found, ...checkEndSession(title, provider, known), ...(await checkClock(title, url))]
}

/** Where a sign-out here goes on to. */
function checkEndSession(provider: string, { endsSession }: OidcProvider, { endpoints }: OidcServer): CheckResult[] {
  if (!endsSession) return []
  const url = endpoints.endSession
  if (url !== undefined) return [ok('oidc-sign-out', '{provider}: a sign-out here goes on to {url}', { provider, url })]
  return [
    warning('oidc-without-sign-out', '{provider}: single-logout is on, but the provider has no end_session_endpoint', {
      provider,
    }),
  ]
}
