import { Problem } from './api.ts'

const XSD = 'http://www.w3.org/2001/XMLSchema#'

/** Whether a day exists. @param day as `2027-01-31` */
function isDay(day: string): boolean {
  const time = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day)
}

const ZONE = '(?:Z|[+-]\\d{2}:\\d{2})?'
const DATE = new RegExp(`^(\\d{4}-\\d{2}-\\d{2})${ZONE}$`)
const DATE_TIME = new RegExp(`^(\\d{4}-\\d{2}-\\d{2})T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?${ZONE}$`)

const isDate = (text: string): boolean => isDay(DATE.exec(text)?.[1] ?? '')
const isDateTime = (text: string): boolean => isDay(DATE_TIME.exec(text)?.[1] ?? '')
const isYear = (text: string): boolean => new RegExp(`^\\d{4}${ZONE}$`).test(text)
const isMonth = (text: string): boolean => /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)

/** Datatypes whose values are checked, with the code of the refusal. */
const checks: Readonly<Record<string, readonly [code: string, isValid: (text: string) => boolean]>> = {
  [`${XSD}date`]: ['invalid-date', isDate],
  [`${XSD}dateTime`]: ['invalid-date', isDateTime],
  [`${XSD}gYear`]: ['invalid-date', isYear],
  [`${XSD}gYearMonth`]: ['invalid-date', isMonth],
  [`${XSD}integer`]: ['invalid-number', text => /^[+-]?\d+$/.test(text)],
  [`${XSD}decimal`]: ['invalid-number', text => /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text)],
  [`${XSD}boolean`]: ['invalid-boolean', text => /^(?:true|false|[01])$/.test(text)],
}

/** @throws {Problem} for a text that is no value of the datatype */
export function requireValueOf(datatype: string | undefined, text: string): void {
  const [code, isValid] = checks[datatype ?? ''] ?? []
  if (code !== undefined && isValid?.(text.trim()) === false) throw new Problem(400, { code })
}

/** A date in words is as good as any. @throws {Problem} for one in numbers that does not exist */
export function requireDate(text: string): void {
  const date = text.trim()
  const isInNumbers = /^\d{4}-\d/.test(date)
  if (!isInNumbers || [isMonth, isDate, isDateTime].some(isValid => isValid(date))) return
  throw new Problem(400, { code: 'invalid-date' })
}
