import type { Bytes } from './units.ts'

export type Values = Readonly<Record<string, string | number>>

/** A text for operators. The pages show it in other languages by its code and values. */
export interface Finding {
  /** Names the text. Stable, for instance `disk-full`. */
  readonly code: string
  /** In English. */
  readonly text: string
  /** The values in the text, by name. A size is in bytes, a time in ISO 8601. `reason` is an English text. */
  readonly values: Values
}

/** The names of the places in a text: `{path}`, `{free, size}`, `{made, time}`, `{days, plural, one {# day} other {# days}}`. */
type Places<T extends string> = T extends `${string}{${infer Place}}${infer Rest}`
  ? NameOf<Place> | Places<Rest>
  : never
type NameOf<Place extends string> = Place extends `#${string}`
  ? never
  : Place extends `${infer Name},${string}`
    ? Name
    : Place

/** A value for each place of a text, if it has any. */
export type ValuesFor<T extends string> = [Places<T>] extends [never]
  ? []
  : [values: Readonly<Record<Places<T>, string | number>>]

/** @param text in English, with places for the values */
export const finding = <const T extends string>(code: string, text: T, ...[values]: ValuesFor<T>): Finding =>
  filled(code, text, values ?? {})

/** The same for a text that is not known when the program is compiled. */
export const filled = (code: string, text: string, values: Values): Finding => ({
  code,
  text: fillIn(text, values),
  values,
})

function fillIn(text: string, values: Values): string {
  const show = (name: string): string => {
    const value = values[name] ?? ''
    return typeof value === 'number' ? number(value) : value
  }
  return text
    .replaceAll(
      /\{(\w+), plural, one \{([^{}]*)\} other \{([^{}]*)\}\}/g,
      (_, name: string, one: string, other: string) => (values[name] === 1 ? one : other).replaceAll('#', show(name)),
    )
    .replaceAll(/\{(\w+), size\}/g, (_, name: string) => size(Number(values[name])))
    .replaceAll(/\{(\w+)(?:, time)?\}/g, (_, name: string) => show(name))
}

const number = (value: number, digits = 0): string =>
  new Intl.NumberFormat('en', { maximumFractionDigits: digits }).format(value)

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `67.5 GiB`. */
function size(bytes: Bytes): string {
  let [value, unit] = [bytes, 0]
  for (; value >= 1023.95 && unit < units.length - 1; unit++) value /= 1024
  return `${number(value, value < 100 ? 1 : 0)} ${units[unit]}`
}
