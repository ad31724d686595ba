import type { Values } from '../base/finding.ts'
import type { Key as CoreKey } from './core-keys.ts'
import type { Settings as CoreSettings, SettingsOf } from './settings.ts'

/** The keys of the core, and those of a feature with these rows. */
type Key<T = object> = CoreKey | (keyof T & string)
type Settings<T = object> = CoreSettings & SettingsOf<T>

/** A contradiction between settings that are each valid. @typeParam T the rows of a feature, beside those of the core */
export interface Check<T = object> {
  /** The settings concerned; they are shown with the message. */
  readonly keys: ReadonlyArray<Key<T>>
  /** The code of the warning that is logged; the service still starts. */
  readonly warning?: string
  /** @param isWritten whether the key is set, be it to its default */
  readonly wrong: (settings: Settings<T>, isWritten: (key: Key<T>) => boolean) => boolean
  /** A sentence without a full stop. */
  readonly message: string
  /** What stands in the places of the message of a warning. */
  readonly values?: Values
}

/** Two settings of which neither makes sense without the other. */
export const both = <T = object>(one: Key<T>, other: Key<T>, message: string): Check<T> => ({
  keys: [one, other],
  wrong: settings => (settings[one] === undefined) !== (settings[other] === undefined),
  message,
})

/** A setting that another needs where that is `on`, or has this value. */
export const needs = <T = object>(key: Key<T>, value: true | string, needed: Key<T>): Check<T> => ({
  keys: [key, needed],
  wrong: settings => settings[key] === value && settings[needed] === undefined,
  message: `${key}=${value === true ? 'on' : value} needs ${needed}`,
})

export const KEY_PAIR = 'a key file needs its certificate file, and the other way round'

/** Whether a browser must run on the same machine as the service, so that plain http is safe. `undefined`: the default. */
function isLoopback(url: string | undefined): boolean {
  if (url === undefined) return true
  const { hostname } = new URL(url)
  return isLoopbackHost(hostname.replace(/^\[|\]$/g, ''))
}

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

export const isHttps = (url: string | undefined): boolean => url?.startsWith('https:') ?? false

/** Whether data sent to the address can be read in transit. */
export function isPlainHttp(url: string | undefined): boolean {
  return url !== undefined && /^http:/i.test(url) && !isLoopback(url)
}

export function hasTwice(values: readonly string[]): boolean {
  return new Set(values).size < values.length
}
