import { compilePattern } from '../base/patterns.ts'
import { type Milliseconds, UNLIMITED } from '../base/units.ts'
import { parseDuration, parseSize, showDuration, showSize } from './quantities.ts'
import {
  type Kind,
  type Parsed,
  type Setting,
  type SettingOptions,
  emptyProblem,
  setting,
  settingsOf,
  trimmed,
} from './setting.ts'

interface Range {
  readonly min: number
  readonly max?: number
  /** -1 is allowed besides the range and means this. */
  readonly unlimited?: string
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
/** on, off, true, false in any case (D10.3). */
export const boolean = settingsOf(booleans)

/** What declares numbers within a range. @param expects describes them, given the range and what -1 means */
const numbers =
  (
    expects: (range: string, unlimited: string) => string,
    read: (text: string) => number | undefined,
    show: (value: number) => string,
    largest = Number.MAX_SAFE_INTEGER,
  ) =>
  <D extends number | undefined = undefined>(options: SettingOptions<D> & Range): Setting<number, D> => {
    const { min, max = largest, unlimited } = options
    const range = max === Number.MAX_SAFE_INTEGER ? `from ${show(min)}` : `from ${show(min)} to ${show(max)}`
    const isAllowed = (value: number): boolean =>
      (value >= min && value <= max) || (value === UNLIMITED && unlimited !== undefined)
    const kind = trimmed(
      expects(range, unlimited === undefined ? '' : `, or -1 for ${unlimited}`),
      text => {
        const value = read(text)
        return value !== undefined && isAllowed(value) ? value : undefined
      },
      show,
    )
    return setting(kind, options)
  }

const readInteger = (text: string): number | undefined => (/^(-1|\d{1,16})$/.test(text) ? Number(text) : undefined)

/** A whole number within the range. */
export const integer = numbers((range, unlimited) => `a whole number ${range}${unlimited}`, readInteger, String)

/** 68 years: long enough, and a date computed from it remains valid. */
const MAX_AGE = 2 ** 31 - 1

/** A whole number of seconds, as cookies count; durations with a unit are another kind. */
export const seconds = numbers(
  (range, unlimited) => `a whole number of seconds ${range}${unlimited}`,
  readInteger,
  String,
  MAX_AGE,
)

/** A size in bytes as D7.8 writes it. */
export const bytes = numbers(
  (range, unlimited) => `a size in bytes ${range}, with k, m, g or t for powers of 1024${unlimited}`,
  parseSize,
  showSize,
)

/** The maximum delay of a timer of Node.js; a longer one would fire at once. */
export const MAX_TIMER: Milliseconds = 2 ** 31 - 1

/** A span of time as D10.4 writes it; the value is in milliseconds. */
export const duration = numbers(
  range => `a duration ${range}, with ns, us, ms, s, m, h or d; no unit means ms`,
  parseDuration,
  showDuration,
)

/** One of a few words; the case of letters does not matter. */
export function choice<const V extends string, D extends V | undefined = undefined>(
  values: readonly V[],
  options: SettingOptions<D>,
): Setting<V, D> {
  const kind = trimmed<V>(`one of ${values.join(', ')}`, text => values.find(value => value === text.toLowerCase()))
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
  const kind = trimmed(expects, text => (matches.test(text) && !/\p{Cc}/u.test(text) ? text : undefined))
  return setting(kind, options)
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
/** A regular expression for the linear-time engine; the value is its text. Spaces are significant (D5.2). */
export const pattern = settingsOf(patterns)

function whyNotCompiled(text: string): string | undefined {
  try {
    compilePattern(text)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read'
  }
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
/** A value that is never shown. Spaces are significant; at most 2048 code points, as for every password (I8). */
export const secret = settingsOf(secrets)
