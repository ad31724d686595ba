import { InvalidInput } from '../base/errors.ts'
import { parseTime } from '../base/times.ts'
import type { Milliseconds } from '../base/units.ts'

/** A point in time as responses show it; `undefined` stays absent. */
export function isoTime(time: Milliseconds): string
export function isoTime(time: Milliseconds | undefined): string | undefined
export function isoTime(time: Milliseconds | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}

/** Reads the `expires` of a request. @throws {InvalidInput} `invalid-value` */
export function readExpiry(text: string): Milliseconds {
  const time = parseTime(text)
  if (time !== undefined) return time
  throw new InvalidInput('invalid-value', '`expires` must be a date such as 2027-01-31, or a time with a zone.')
}
