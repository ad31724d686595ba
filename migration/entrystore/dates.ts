import type { Milliseconds } from '../../src/base/units.ts'

/** Converts local time to a point in time. */
export type Zone = (local: Milliseconds) => Milliseconds

const XSD_DATE_TIME = /^\s*(-?\d{4,6})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?\s*$/

/**
 * The time, and whether it has a zone; `undefined` when the text is not an `xsd:dateTime`. Fractions of a
 * millisecond are cut off.
 */
export function readDateTime(text: string, zone: Zone): { time: Milliseconds; hasZone: boolean } | undefined {
  const found = XSD_DATE_TIME.exec(text)
  if (!found) return undefined
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', offset] = found
  const padded =
    Number(year) >= 0 && year.length === 4
      ? year
      : `${year.startsWith('-') ? '-' : '+'}${year.replace('-', '').padStart(6, '0')}`
  const isMidnight = hour === '24'
  const local = Date.parse(
    `${padded}-${month}-${day}T${isMidnight ? '00' : hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`,
  )
  if (Number.isNaN(local)) return undefined
  const time = isMidnight ? local + 86_400_000 : local
  if (offset === undefined) return { time: zone(time), hasZone: false }
  if (offset === 'Z') return { time, hasZone: true }
  const sign = offset.startsWith('-') ? -1 : 1
  return { time: time - sign * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6))) * 60_000, hasZone: true }
}

export const utc: Zone = local => local

/** The zone with a name such as `Europe/Stockholm`, `UTC` or `+02:00`; `undefined` when there is none. */
export function zoneNamed(name: string): Zone | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(name) ?? []
  if (sign !== undefined) {
    const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
    return local => local - offset
  }
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US-u-hc-h23', {
      timeZone: name,
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
  const offsetAt = (time: Milliseconds): Milliseconds => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
    return shown - Math.floor(time / 1000) * 1000
  }
  // The offset depends on the result, so a second step corrects the first one near a change of the clocks.
  return local => local - offsetAt(local - offsetAt(local))
}
