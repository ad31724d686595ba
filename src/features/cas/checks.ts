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
  const place = { version, server: server ?? '' }
  const rules = checkRules('CAS', cas.policy.rules)
  const probed = await probeCas(place, cas)
  const shown = ok('cas', 'CAS: {version} at {server}, service URL {url}', { ...place, url: base.at(CAS_PATH) })
  return [shown, ...rules, probed]
}

/** A ticket that was never issued must be refused for this very reason. */
async function probeCas(
  place: { readonly version: string; readonly server: string },
  { provider }: CasSignOnOptions,
): Promise<CheckResult> {
  try {
    const reason = await provider.probe()
    if (/INVALID_SERVICE|UNAUTHORIZED_SERVICE/.test(reason)) {
      return problem(
        'cas-unregistered',
        'CAS: {version} at {server}: the server does not know this service ({reason}); register the service URL there',
        { ...place, reason },
      )
    }
    return ok('cas-answers', 'CAS: {version} at {server}: the server answers, and refuses an unknown ticket', place)
  } catch (error) {
    if (!(error instanceof SsoRefused)) throw error
    const { check, expected, received } = error.failed
    const reason = `expected ${expected}; received ${received}`
    return problem('cas-unusable', 'CAS: {version} at {server}: {check}: {reason}', { ...place, check, reason })
  }
}
