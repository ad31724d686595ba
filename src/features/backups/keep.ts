import type { Milliseconds } from '../../base/units.ts'

const DAY: Milliseconds = 86_400_000
/** 1 January 1970 was a Thursday; weeks begin on Monday. */
const THURSDAY = 3

/** The period that a time is in, for each letter of a rule. Days are those of UTC. */
const periods: Readonly<Record<string, (time: Milliseconds) => number>> = {
  d: time => Math.floor(time / DAY),
  w: time => Math.floor((Math.floor(time / DAY) + THURSDAY) / 7),
  m: time => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth(),
}

/**
 * The times whose backups a rule such as `7d 4w 12m` removes. The rule keeps the newest backup of each of the last 7 days, 4 weeks and 12
 * months that have a backup, and always the newest backup of all.
 */
export function superfluous(times: readonly Milliseconds[], rule: string): Milliseconds[] {
  const newestFirst = [...times].sort((a, b) => b - a)
  const kept = new Set(newestFirst.slice(0, 1))
  for (const [, count, letter = ''] of rule.matchAll(/(\d+)([dwm])/g)) {
    const seen = new Set<number>()
    for (const time of newestFirst) {
      const period = periods[letter]?.(time) ?? 0
      if (seen.size < Number(count) && !seen.has(period)) kept.add(time)
      seen.add(period)
    }
  }
  return newestFirst.filter(time => !kept.has(time))
}
