import type { Milliseconds } from '../base/units.ts'

/**
 * A point in time of XML Schema (`dateTime`) with its zone, which SAML requires; `undefined` for any other text, such as a time without
 * a zone or the 30th of February.
 */
export function parseXmlTime(text: string): Milliseconds | undefined {
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/.test(text)
  const time = isTime ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) return undefined
  const day = text.slice(0, 10)
  // The engine reads the 30th of February as the 2nd of March.
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day) ? time : undefined
}
