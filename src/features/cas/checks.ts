import { realSystem } from '../../base/system.ts'
import { type CheckResult, ok, problem } from '../../core/check-result.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import { checkRules } from '../sso/checks.ts'
import { SsoRefused } from '../sso/refusal.ts'
import { CAS_PATH } from './addresses.ts'
import { createCas } from './create-provider.ts'
import type { CasSettings } from './settings.ts'
import type { CasSignOnOptions } from './sign-on.ts'

/** What the CAS server answers to a ticket that was never issued. */
export async function checkCas(settings: CasSettings, base: BaseAddress): Promise<readonly CheckResult[]> {
  const cas = createCas(settings, realSystem, () => base)
  const { 'service.auth.cas.server.url': server, 'service.auth.cas.version': version } = settings
  const title = `CAS: ${version} at ${server ?? ''}`
  const rules = checkRules('CAS', cas.policy.rules)
  const probed = await probeCas(title, cas)
  return [ok(`${title}, service URL ${base.at(CAS_PATH)}`), ...rules, probed]
}

/** A ticket that was never issued must be refused for this very reason. */
async function probeCas(title: string, { provider }: CasSignOnOptions): Promise<CheckResult> {
  try {
    const reason = await provider.probe()
    if (/INVALID_SERVICE|UNAUTHORIZED_SERVICE/.test(reason)) {
      return problem(`${title}: the server does not know this service (${reason}); register the service URL there`)
    }
    return ok(`${title}: the server answers, and refuses an unknown ticket`)
  } catch (error) {
    if (!(error instanceof SsoRefused)) throw error
    const { check, expected, received } = error.failed
    return problem(`${title}: ${check}: expected ${expected}; received ${received}`)
  }
}
