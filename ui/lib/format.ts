import { Problem } from './api.ts'
import { currentLocale, findMessage, t } from './language.ts'

export const number = (value: number): string => new Intl.NumberFormat(currentLocale()).format(value)

/** A share of a whole: `93 %`. */
export const percent = (share: number): string =>
  new Intl.NumberFormat(currentLocale(), { style: 'percent' }).format(share)

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** A size in powers of 1024 with its unit: `12.3 MiB`. */
export function bytes(size: number): string {
  let unit = 0
  let value = size
  while (Math.abs(value) >= 1023.95 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1
  const text = new Intl.NumberFormat(currentLocale(), { maximumFractionDigits: digits }).format(value)
  return `${text} ${units[unit]}`
}

/** A day in the time zone of the user. */
export const date = (time: Date): string =>
  new Intl.DateTimeFormat(currentLocale(), { dateStyle: 'medium' }).format(time)

/** Date and time in the time zone of the user. */
export const dateTime = (time: Date): string =>
  new Intl.DateTimeFormat(currentLocale(), { dateStyle: 'medium', timeStyle: 'short' }).format(time)

/** Date and time with seconds, to compare with a log. */
export const dateTimeSeconds = (time: Date): string =>
  new Intl.DateTimeFormat(currentLocale(), { dateStyle: 'medium', timeStyle: 'medium' }).format(time)

const spans = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** A recent time as the time that has passed since, an older one as date and time. */
export function ago(time: Date): string {
  const seconds = (Date.now() - time.getTime()) / 1000
  if (seconds < 60) return t('justNow')
  if (seconds > 7 * 86_400) return dateTime(time)
  const [unit, length] = spans.find(([, length]) => seconds >= length) ?? ['minute', 60]
  return new Intl.RelativeTimeFormat(currentLocale(), { numeric: 'auto' }).format(-Math.floor(seconds / length), unit)
}

/** A duration in its two largest units: `3 days, 4 hours`. @param seconds a whole number */
export function duration(seconds: number): string {
  const parts: string[] = []
  let rest = seconds
  for (const [unit, length] of [...spans, ['second', 1] as const]) {
    const count = Math.floor(rest / length)
    rest -= count * length
    const format = new Intl.NumberFormat(currentLocale(), { style: 'unit', unit, unitDisplay: 'long' })
    if (count > 0) parts.push(format.format(count))
  }
  return new Intl.ListFormat(currentLocale(), { type: 'unit' }).format(parts.slice(0, 2))
}

/** Parses a time of the service, which is in UTC and has no zone. */
export const utc = (text: string): Date => new Date(`${text}Z`)

/**
 * The message for an error, in the language of the user if its code is known, otherwise the message of the
 * service.
 */
export function tellProblem(error: unknown): string {
  if (!(error instanceof Problem)) return t('problem.unknown')
  const texts = Object.entries(error.extra).filter(([, value]) => typeof value === 'string')
  const values = { ...(Object.fromEntries(texts) as Record<string, string>), seconds: error.retryAfter ?? 0 }
  return findMessage(`problem.${error.code}`, values) ?? (error.message || t('problem.unknown'))
}

/** The message for a field; `undefined` unless the refusal has one of these codes. */
export const fieldProblem = (problem: unknown, codes: readonly string[]): string | undefined =>
  problem instanceof Problem && codes.includes(problem.code) ? tellProblem(problem) : undefined
