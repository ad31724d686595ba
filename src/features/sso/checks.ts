import { clockOffset } from '../../base/fetch.ts'
import { realSystem } from '../../base/system.ts'
import { type CheckResult, ok, warning } from '../../core/check-result.ts'
import type { AttributeRules } from './attributes.ts'

/** Clocks further apart than this make trouble sooner or later. */
const MAX_OFFSET = 30_000

/** What the provider decides about, so that an operator sees a misspelt attribute or prefix before the first sign-on. */
export function checkRules(title: string, rules: AttributeRules | undefined): CheckResult[] {
  if (!rules) return []
  const { groups, map, required } = rules
  const found = []
  if (groups?.prefix !== undefined) {
    const others = groups.provisions ? 'missing ones are created' : 'only existing ones count'
    found.push(ok(`${title}: groups "${groups.prefix}…" come from ${groups.attribute}; ${others}`))
  }
  if (groups?.adminValue !== undefined) {
    found.push(ok(`${title}: ${groups.attribute}=${groups.adminValue} makes administrators`))
  }
  if (map.size > 0) {
    const mapped = [...map].map(([target, attribute]) => `${target} from ${attribute}`)
    found.push(ok(`${title}: ${mapped.join(', ')}`))
  }
  if (required.size > 0) found.push(ok(`${title}: required values of ${[...required.keys()].join(', ')}`))
  return found
}

/** Whether the clock of the server with this address agrees. */
export async function checkClock(title: string, url: string): Promise<CheckResult[]> {
  const offset = await clockOffset(url, realSystem)
  if (offset === undefined) return []
  const text = `${title}: clocks differ by ${Math.round(offset / 1000)} s`
  return [Math.abs(offset) > MAX_OFFSET ? warning(text) : ok(text)]
}
