import { type Bytes, type Milliseconds, UNLIMITED } from '../base/units.ts'

/** Units by name, the largest first; the empty name is for a number without a unit. */
type Units = ReadonlyArray<readonly [name: string, factor: number]>

const sizes: Units = [
  ['t', 2 ** 40],
  ['g', 2 ** 30],
  ['m', 2 ** 20],
  ['k', 2 ** 10],
  ['', 1],
]
const durations: Units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
  ['', 1],
  ['us', 1e-3],
  ['ns', 1e-6],
]

/**
 * A size as written in the settings (D7.8): digits and an optional k, m, g or t in upper or lower case,
 * powers of 1024; `-1` means unlimited. Returns `undefined` for any other text: fractions, `KB`, inner
 * blanks, other signs, more than 2^53-1 bytes.
 */
export const parseSize = (text: string): Bytes | undefined =>
  text === String(UNLIMITED) ? UNLIMITED : parse(text, sizes)

/**
 * A duration as written in the settings (D10.4): digits and an optional ns, us, ms, s, m, h or d; without a
 * unit, milliseconds. Returns `undefined` for any other text. Nanoseconds and microseconds can give fractions
 * of a millisecond.
 */
export const parseDuration = (text: string): Milliseconds | undefined => parse(text, durations)

function parse(text: string, units: Units): number | undefined {
  const [, digits, unit = ''] = /^(\d+)([a-z]*)$/i.exec(text) ?? []
  const [, factor = Number.NaN] = units.find(([name]) => name === unit.toLowerCase()) ?? []
  const value = Number(digits) * factor
  return value <= Number.MAX_SAFE_INTEGER ? value : undefined
}

/** As written with the largest unit of which it is a whole number. */
export const showSize = (size: Bytes): string => show(size, sizes)

export const showDuration = (duration: Milliseconds): string =>
  Number.isInteger(duration) ? show(duration, durations) : `${Math.round(duration * 1e6)}ns`

function show(value: number, units: Units): string {
  const [unit, factor] = units.find(([, factor]) => value > 0 && value % factor === 0) ?? ['', 1]
  return `${value / factor}${unit}`
}
