import type { Milliseconds } from '../../base/units.ts'

/** A unit of time in dates of queries. `round` clears all smaller units of a date. */
interface Unit {
  readonly add: (date: Date, count: number) => void
  readonly round: (date: Date) => void
}

const unit = (add: Unit['add'], round: Unit['round']): Unit => ({ add, round })

const units: Readonly<Record<string, Unit>> = {
  YEAR: unit(
    (date, count) => date.setUTCFullYear(date.getUTCFullYear() + count),
    date => date.setTime(Date.UTC(date.getUTCFullYear(), 0)),
  ),
  MONTH: unit(
    (date, count) => date.setUTCMonth(date.getUTCMonth() + count),
    date => date.setTime(Date.UTC(date.getUTCFullYear(), date.getUTCMonth())),
  ),
  DAY: unit(
    (date, count) => date.setUTCDate(date.getUTCDate() + count),
    date => date.setUTCHours(0, 0, 0, 0),
  ),
  HOUR: unit(
    (date, count) => date.setUTCHours(date.getUTCHours() + count),
    date => date.setUTCMinutes(0, 0, 0),
  ),
  MINUTE: unit(
    (date, count) => date.setUTCMinutes(date.getUTCMinutes() + count),
    date => date.setUTCSeconds(0, 0),
  ),
  SECOND: unit(
    (date, count) => date.setUTCSeconds(date.getUTCSeconds() + count),
    date => date.setUTCMilliseconds(0),
  ),
  MILLI: unit(
    (date, count) => date.setUTCMilliseconds(date.getUTCMilliseconds() + count),
    () => {},
  ),
}
const otherNames: Readonly<Record<string, string>> = { DATE: 'DAY', MILLISECOND: 'MILLI' }

const unitNamed = (name: string): Unit | undefined => {
  const one = name.endsWith('S') ? name.slice(0, -1) : name
  return units[otherNames[one] ?? one]
}

/** In UTC, like dates without a zone. */
const STEP = /([+-]\d{1,9}|\/)([A-Z]+)/g
const MATH = /^(NOW|[^A-Z]*\d(?:T[\d:.]+)?Z?)((?:(?:[+-]\d{1,9}|\/)[A-Z]+)+)$/

/**
 * Reads a date with steps, as clients of Solr write it: `NOW-1DAY`, `NOW/MONTH`, `2025-01-01T00:00:00Z+6MONTHS/DAY`.
 * @param readDate reads the date before the steps
 * @returns `undefined` for anything else
 */
export function readDateMath(
  text: string,
  now: Milliseconds,
  readDate: (text: string) => Milliseconds | undefined,
): Milliseconds | undefined {
  if (text === 'NOW') return now
  const [, start = '', steps = ''] = MATH.exec(text) ?? []
  const begin = start === 'NOW' ? now : readDate(start)
  if (start === '' || begin === undefined) return undefined
  const date = new Date(begin)
  for (const [, amount = '', name = ''] of steps.matchAll(STEP)) {
    const step = unitNamed(name)
    if (!step) return undefined
    if (amount === '/') step.round(date)
    else step.add(date, Number(amount))
  }
  const time = date.getTime()
  return Number.isNaN(time) ? undefined : time
}
