import { clockOffset } from '../../base/fetch.ts'
import { realSystem } from '../../base/system.ts'
import { type CheckResult, ok, warning } from '../../core/check-result.ts'
import type { AttributeRules } from './attributes.ts'

/** Clocks further apart than this make trouble sooner or later. */
const MAX_OFFSET = 30_000

/** What the provider decides about, so that an operator sees a misspelt attribute or prefix before the first sign-on. */
export function checkRules(provider: string, rules: AttributeRules | undefined): CheckResult[] {
  if (!rules) return []
  const { groups, map, required } = rules
  const found = []
  if (groups?.prefix !== undefined) {
    const values = { provider, prefix: groups.prefix, attribute: groups.attribute }
    found.push(
      groups.provisions
        ? ok('sso-groups', '{provider}: groups "{prefix}…" come from {attribute}; missing ones are created', values)
        : ok(
            'sso-known-groups',
            '{provider}: groups "{prefix}…" come from {attribute}; only existing ones count',
            values,
          ),
    )
  }
  if (groups?.adminValue !== undefined) {
    const values = { provider, attribute: groups.attribute, value: groups.adminValue }
    found.push(ok('sso-admins', '{provider}: {attribute}={value} makes administrators', values))
  }
  if (map.size > 0) {
    const mapped = [...map].map(([target, attribute]) => `${target}=${attribute}`).join(', ')
    found.push(ok('sso-profile', '{provider}: the profile is set from attributes: {map}', { provider, map: mapped }))
  }
  if (required.size > 0) {
    const attributes = [...required.keys()].join(', ')
    found.push(ok('sso-required', '{provider}: required values of {attributes}', { provider, attributes }))
  }
  return found
}

/** Whether the clock of the server with this address agrees. */
export async function checkClock(provider: string, url: string): Promise<CheckResult[]> {
  const offset = await clockOffset(url, realSystem)
  if (offset === undefined) return []
  const seconds = Math.round(offset / 1000)
  if (Math.abs(offset) <= MAX_OFFSET)
    return [ok('provider-clock', '{provider}: clocks differ by {seconds} s', { provider, seconds })]
  return [
    warning('provider-clock-wrong', '{provider}: clocks differ by {seconds} s; set both right', { provider, seconds }),
  ]
}
