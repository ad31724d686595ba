import { parseDuration } from '../base/durations.ts'
import { compilePattern } from '../base/patterns.ts'
import { parseSize } from '../base/sizes.ts'
import { type Bytes, type Milliseconds, type Seconds, UNLIMITED } from '../base/units.ts'
import { type Kind, type Parsed, type Setting, type SettingOptions, emptyProblem, setting, trimmed } from './setting.ts'

interface Range {
  readonly min: number
  readonly max?: number
}

/** -1 is allowed besides the range and means this. */
interface OrUnlimited {
  readonly unlimited?: string
}

/** on, off, true, false in any case (D10.3). */
export function boolean<D extends boolean | undefined = undefined>(options: SettingOptions<D>): Setting<boolean, D> {
  return setting(booleans, options)
}

const words: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['off', false],
  ['false', false],
])

const booleans: Kind<boolean> = trimmed(
  'on or off (or true or false)',
  text => words.get(text.toLowerCase()),
  value => (value ? 'on' : 'off'),
)

/** A whole number within the range. */
export function integer<D extends number | undefined = undefined>(
  options: SettingOptions<D> & Range & OrUnlimited,
): Setting<number, D> {
  return setting(integers('a whole number', options), options)
}

/** 68 years: long enough, and a date computed from it remains valid. */
const MAX_AGE = 2 ** 31 - 1

/** A whole number of seconds, as cookies and SAML metadata count; durations with a unit are another kind. */
export function seconds<D extends Seconds | undefined = undefined>(
  options: SettingOptions<D> & Range & OrUnlimited,
): Setting<Seconds, D> {
  return setting(integers('a whole number of seconds', { max: MAX_AGE, ...options }), options)
}

function integers(what: string, options: Range & OrUnlimited): Kind<number> {
  return trimmed(
    `${what} ${rangeText(options, String)}${unlimitedText(options)}`,
    text => {
      const value = /^(-1|\d{1,16})$/.test(text) ? Number(text) : Number.NaN
      return isAllowed(value, options) ? value : undefined
    },
    String,
  )
}

/** A size in bytes as D7.8 writes it. */
export function bytes<D extends Bytes | undefined = undefined>(
  options: SettingOptions<D> & Range & OrUnlimited,
): Setting<Bytes, D> {
  const kind = trimmed(
    `a size in bytes ${rangeText(options, showSize)}, with k, m, g or t for powers of 1024${unlimitedText(options)}`,
    text => {
      const value = parseSize(text) ?? Number.NaN
      return isAllowed(value, options) ? value : undefined
    },
    showSize,
  )
  return setting(kind, options)
}

/** A span of time as D10.4 writes it; the value is in milliseconds. */
export function duration<D extends Milliseconds | undefined = undefined>(
  options: SettingOptions<D> & Range,
): Setting<Milliseconds, D> {
  const kind = trimmed(
    `a duration ${rangeText(options, showDuration)}, with ns, us, ms, s, m, h or d; no unit means ms`,
    text => {
      const value = parseDuration(text) ?? Number.NaN
      return isAllowed(value, options) ? value : undefined
    },
    showDuration,
  )
  return setting(kind, options)
}

/** One of a few words; the case of letters does not matter. */
export function choice<const V extends string, D extends V | undefined = undefined>(
  values: readonly V[],
  options: SettingOptions<D>,
): Setting<V, D> {
  const kind = trimmed<V>(
    `one of ${values.join(', ')}`,
    text => values.find(value => value === text.toLowerCase()),
    value => value,
  )
  return setting(kind, options)
}

interface TextOptions {
  /** The required form of the text, as a pattern and in words. */
  readonly matches?: RegExp
  readonly expects?: string
}

/** A line of text without control characters. */
export function text<D extends string | undefined = undefined>(
  options: SettingOptions<D> & TextOptions,
): Setting<string, D> {
  const { matches = /^/, expects = 'a text' } = options
  const kind = trimmed(
    expects,
    text => (matches.test(text) && !/\p{Cc}/u.test(text) ? text : undefined),
    value => value,
  )
  return setting(kind, options)
}

/** A regular expression for the linear-time engine; the value is its text. Spaces are significant (D5.2). */
export function pattern<D extends string | undefined = undefined>(options: SettingOptions<D>): Setting<string, D> {
  return setting(patterns, options)
}

const patterns: Kind<string> = {
  expects: 'a regular expression (RE2 syntax: no lookaround, no back references)',
  secret: false,
  parse: text => {
    if (text === '') return { problem: emptyProblem }
    const reason = whyNotCompiled(text)
    return reason === undefined ? { value: text } : { problem: `expected ${patterns.expects}; ${reason}` }
  },
  show: value => value,
}

function whyNotCompiled(text: string): string | undefined {
  try {
    compilePattern(text)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read'
  }
}

/** A value that is never shown. Spaces are significant; at most 2048 code points, as for every password (I8). */
export function secret<D extends string | undefined = undefined>(options: SettingOptions<D>): Setting<string, D> {
  return setting(secrets, options)
}

const secrets: Kind<string> = {
  expects: 'a secret of at most 2048 characters',
  secret: true,
  parse: (text): Parsed<string> => {
    if (text === '') return { problem: emptyProblem }
    return Array.from(text).length <= 2048 ? { value: text } : { problem: `expected ${secrets.expects}` }
  },
  show: value => value,
}

function isAllowed(value: number, options: Range & OrUnlimited): boolean {
  if (value === UNLIMITED && options.unlimited !== undefined) return true
  return value >= options.min && value <= (options.max ?? Number.MAX_SAFE_INTEGER)
}

function rangeText({ min, max }: Range, show: (value: number) => string): string {
  return max === undefined ? `from ${show(min)}` : `from ${show(min)} to ${show(max)}`
}

function unlimitedText({ unlimited }: OrUnlimited): string {
  return unlimited === undefined ? '' : `, or -1 for ${unlimited}`
}

function showSize(size: Bytes): string {
  return showWithUnit(size, [
    [2 ** 40, 't'],
    [2 ** 30, 'g'],
    [2 ** 20, 'm'],
    [2 ** 10, 'k'],
  ])
}

function showDuration(duration: Milliseconds): string {
  if (!Number.isInteger(duration)) return `${Math.round(duration * 1e6)}ns`
  return showWithUnit(duration, [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'm'],
    [1000, 's'],
    [1, 'ms'],
  ])
}

function showWithUnit(value: number, units: ReadonlyArray<readonly [factor: number, unit: string]>): string {
  const [factor, unit] = units.find(([factor]) => value > 0 && value % factor === 0) ?? [1, '']
  return `${value / factor}${unit}`
}
