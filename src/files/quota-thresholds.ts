import { UNLIMITED } from '../base/units.ts'
import type { Amount, Usage } from './quota-usage.ts'

/** Per cent of a quota at which its owner needs attention; below 100 more can be added. */
export const THRESHOLDS = [80, 90, 100] as const

type Level = Pick<Usage, 'limit' | 'used'>

/** The limits and the usage of one owner before and after a change. */
export interface UsageChange {
  readonly before: Level
  readonly after: Usage
}

export interface ReachedThreshold {
  readonly percent: number
  readonly usage: Usage
}

/** The state before an owner gets its first limit. */
export const WITHOUT_LIMIT: Level = { limit: { bytes: UNLIMITED, files: UNLIMITED }, used: { bytes: 0, files: 0 } }

/** @param usages after this much has been added */
export const growthOf = (usages: readonly Usage[], { bytes, files }: Amount): UsageChange[] =>
  usages.map(after => ({
    before: { limit: after.limit, used: { bytes: after.used.bytes - bytes, files: after.used.files - files } },
    after,
  }))

/** The highest threshold that a change has reached, in bytes or in files; `undefined` for none. */
export const reachedThreshold = ({ before, after }: UsageChange): number | undefined =>
  THRESHOLDS.findLast(percent =>
    (['bytes', 'files'] as const).some(unit => isAt(after, unit, percent) && !isAt(before, unit, percent)),
  )

const isAt = ({ limit, used }: Level, unit: keyof Amount, percent: number): boolean =>
  limit[unit] !== UNLIMITED && used[unit] > 0 && used[unit] * 100 >= limit[unit] * percent
