import { parseTime } from '../base/times.ts'
import type { Milliseconds } from '../base/units.ts'

/** A point in time of XML Schema (`dateTime`) with seconds and its zone, which SAML requires; `undefined` for any other text. */
export const parseXmlTime = (text: string): Milliseconds | undefined =>
  /T\d{2}:\d{2}:\d{2}/.test(text) ? parseTime(text) : undefined
