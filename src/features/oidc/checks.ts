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
    return [problem(`OpenID Connect: ${error.message}`)]
  }
}

async function checkOidcProvider({ provider, policy }: OidcLogin, base: BaseAddress): Promise<CheckResult[]> {
  const { name, metadata } = provider
  const title = `OpenID Connect ${name}`
  const found = [ok(`${title}: redirect URI ${base.at(CALLBACK_PATH)}`), ...checkRules(title, policy.rules)]
  await metadata.current().catch(() => undefined)
  const { url, metadata: known, problem: reason } = await metadata.status()
  if (!known) return [...found, problem(`${title}: the configuration cannot be used: ${reason ?? 'unknown'}`)]
  found.push(ok(`${title}: ${known.entityId}, ${known.keys.length} key(s), ${known.algorithms.join(', ')}`))
  return [...found, ...checkEndSession(title, provider, known), ...(await checkClock(title, url))]
}

/** Where a sign-out here goes on to. */
function checkEndSession(title: string, { endsSession }: OidcProvider, { endpoints }: OidcServer): CheckResult[] {
  if (!endsSession) return []
  if (endpoints.endSession !== undefined) return [ok(`${title}: a sign-out here goes on to ${endpoints.endSession}`)]
  return [warning(`${title}: single-logout is on, but the provider has no end_session_endpoint`)]
}
