import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { isPerIdp, writeKey } from '../config/key-pattern.ts'
import type { Key } from '../config/core-keys.ts'
import { rows } from '../config/keys.ts'
import type { LoadedSettings } from '../config/load.ts'
import type { Settings } from '../config/settings.ts'
import type { SettingsChange } from './reload.ts'

/** The difference between the settings in force and the settings that were read again. */
export interface ComparedSettings extends SettingsChange {
  /** The settings that were read again. */
  readonly read: LoadedSettings
  /** The settings that change, as written. */
  readonly applied: readonly string[]
  /** The settings that would change, but need a restart. */
  readonly pending: readonly string[]
  readonly files: Files
}

/** The contents of the certificates and keys that settings name, by the setting as written. */
type Files = ReadonlyMap<string, string>

/** The settings of a running service. */
export class LiveSettings {
  /** Has the values in force at each reading. */
  readonly settings: Settings
  #values: Settings
  #files: Files

  constructor(values: Settings) {
    this.#values = values
    this.#files = filesOf(values)
    const getters = rows.map(([key]) => [key, { enumerable: true, get: () => this.#values[key] }] as const)
    this.settings = Object.freeze(Object.defineProperties({}, Object.fromEntries(getters))) as Settings
  }

  compare(read: LoadedSettings): ComparedSettings {
    const files = filesOf(read.settings)
    const next: Record<string, unknown> = {}
    const changed = new Set<Key>()
    const applied: string[] = []
    const pending: string[] = []
    for (const [key, { live }] of rows) {
      const now: unknown = this.#values[key]
      const names = differences(key, { values: now, files: this.#files }, { values: read.settings[key], files })
      const isLive = live === true || (live === 'credentials' && differsInCredentials(now, read.settings[key]))
      next[key] = isLive ? read.settings[key] : now
      if (names.length === 0) continue
      if (isLive) changed.add(key)
      ;(isLive ? applied : pending).push(...names)
    }
    return { read, next: Object.freeze(next) as Settings, changed, applied, pending, files }
  }

  replace({ next, files }: ComparedSettings): void {
    this.#values = next
    this.#files = files
  }
}

interface State {
  readonly values: unknown
  readonly files: Files
}

/** The settings of a row that differ, as written. */
function differences(key: Key, before: State, after: State): string[] {
  const isSame = (name: string, old: unknown, other: unknown): boolean =>
    isDeepStrictEqual(old, other) && before.files.get(name) === after.files.get(name)
  if (!isPerIdp(key)) return isSame(key, before.values, after.values) ? [] : [key]
  const [old, other] = [before.values as ReadonlyMap<string, unknown>, after.values as ReadonlyMap<string, unknown>]
  const idps = [...new Set([...old.keys(), ...other.keys()])]
  return idps.flatMap(idp => {
    const name = writeKey(key, idp)
    return isSame(name, old.get(idp), other.get(idp)) ? [] : [name]
  })
}

/** Whether two addresses differ in nothing but user name and password. */
function differsInCredentials(now: unknown, then: unknown): boolean {
  if (typeof now !== 'string' || typeof then !== 'string' || now === then) return false
  const [old, other] = [new URL(now), new URL(then)]
  old.username = other.username
  old.password = other.password
  return old.href === other.href
}

/** The contents of key and certificate files may change while the settings stay the same. */
function filesOf(settings: Settings): Files {
  const paths = rows
    .filter(([key, { live }]) => live === true && key.endsWith('-file'))
    .flatMap(([key]) => {
      const value: unknown = settings[key]
      return value instanceof Map
        ? [...(value as ReadonlyMap<string, unknown>)].map(([idp, path]) => [writeKey(key, idp), path] as const)
        : [[key, value] as const]
    })
  return new Map(paths.flatMap(([name, path]) => (typeof path === 'string' ? [[name, contentOf(path)]] : [])))
}

/** Empty for a file that cannot be read: the part that needs it says so. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
