import type { Milliseconds } from './units.ts'
import { InvalidInput } from './errors.ts'

const SHAPE = /^((?:\d{4}|-\d{6})-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * A day in UTC, or a point in time with its zone, in ISO 8601; years before 0 have six digits. `undefined` for any other text,
 * such as a time without a zone or 30 February.
 */
export function parseTime(text: string): Milliseconds | undefined {
  const [, day] = SHAPE.exec(text) ?? []
  const time = day === undefined ? Number.NaN : Date.parse(text)
  if (day === undefined || Number.isNaN(time)) return undefined
  // V8 reads 30 February as 2 March.
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day) ? time : undefined
}

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
  throw new InvalidInput(
    'invalid-value',
    `\`expires\` must be a date such as 2027-01-31, or a time with a zone, but is "${text.slice(0, 40)}".`,
  )
}

/** Resolves when the work is done or the time is over; the work continues then. */
export async function withinTimeout(work: Promise<unknown>, limit: Milliseconds): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>(resolve => {
    timer = setTimeout(resolve, limit)
  })
  await Promise.race([work, timeout])
  clearTimeout(timer)
}
