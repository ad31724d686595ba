import { normaliseName, requireName, systemNames } from '../../src/accounts/users.ts'
import { InvalidInput } from '../../src/base/errors.ts'
import { requireContextName } from '../../src/content/contexts.ts'
import { CONTEXTS, isReservedSegment, PRINCIPALS } from '../../src/model/addresses.ts'
import type { FindingCode } from './finding-codes.ts'
import type { Report } from './report.ts'

type Names = ReadonlyMap<string, readonly string[]>

/** System ids first, then numbers in their order, then the rest: an older id keeps its name. */
export const byAge = (a: string, b: string): number => {
  const rank = (id: string): number => (id.startsWith('_') ? 0 : /^\d+$/.test(id) ? 1 : 2)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (rank(a) === 1) return a.length - b.length || (a < b ? -1 : Number(a > b))
  return a < b ? -1 : Number(a > b)
}

/** Names of users and groups, which share one namespace. @param ids the existing ones */
export const namesOfPrincipals = (ids: Iterable<string>, names: Names, report: Report): Map<string, string> =>
  assign([...ids].sort(byAge), names, {
    what: 'principal',
    report,
    check: (id, raw) => {
      const system = Object.entries(systemNames).find(([one]) => one === id)?.[1]
      return system !== undefined && normaliseName(raw) === system ? { name: system } : accepted(() => requireName(raw))
    },
  })

/**
 * Names of contexts. In addresses an id takes precedence over a name, so no name may be the id of another
 * context.
 */
export function namesOfContexts(ids: Iterable<string>, names: Names, report: Report): Map<string, string> {
  const all = new Set(ids)
  return assign([...all].sort(byAge), names, {
    what: 'context',
    report,
    check: (id, raw) => {
      if (id === CONTEXTS || id === PRINCIPALS) return { name: id }
      const found = accepted(() => requireContextName(raw))
      const isReserved = isReservedSegment(raw.trim()) || raw.trim().startsWith('_')
      const isId = 'name' in found && found.name !== id && all.has(found.name)
      return isReserved || isId ? { refused: 'reserved-context-name' } : found
    },
  })
}

type CheckedName = { readonly name: string } | { readonly refused: FindingCode }

function accepted(require: () => string): CheckedName {
  try {
    return { name: require() }
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    return { refused: 'name-refused' }
  }
}

interface Assignment {
  readonly what: string
  readonly report: Report
  readonly check: (id: string, raw: string) => CheckedName
}

function assign(ids: readonly string[], names: Names, { what, report, check }: Assignment): Map<string, string> {
  const given = new Map<string, string>()
  const taken = new Map<string, string>()
  for (const id of ids) {
    const raws = [...(names.get(id) ?? [])].sort()
    if (raws.length > 1) report.note('several-values', `${what} ${id}: name`)
    const [raw] = raws
    if (raw === undefined) continue
    const checked = check(id, raw)
    if ('refused' in checked) {
      report.note(checked.refused, `${what} ${id}: ${raw}`)
      continue
    }
    const owner = taken.get(checked.name)
    if (owner === undefined) {
      taken.set(checked.name, id)
      given.set(id, checked.name)
    } else report.note('name-collision', `${what} ${id}: "${raw}" is the name of ${owner}`)
  }
  return given
}
