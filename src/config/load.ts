import type { Key } from './core-keys.ts'
import { idpLists, rows, keys } from './keys.ts'
import { adviceForRemoved, type Place, isList, isMap, locate, nearestKey, writeKey } from './key-pattern.ts'
import { Report, quote } from './report.ts'
import type { Setting } from './setting.ts'
import type { Settings } from './settings.ts'
import { type Origin, type Written, readWritten, type WrittenSources } from './source-values.ts'
import { SettingsError } from '../base/errors.ts'
import { filled, finding, type Finding } from '../base/finding.ts'
import { findContradictions } from './checks.ts'

interface ReadSettings {
  readonly settings: Settings
  /** By key as written, for every setting that has a value. */
  readonly origins: ReadonlyMap<string, Origin>
  /** In the order of the table. */
  readonly changes: readonly Change[]
  readonly unknownKeys: readonly string[]
}

/** A written value that is not the default. */
interface Change {
  readonly key: Key
  readonly writtenKey: string
}

/**
 * Converts written settings into values, row by row. A row with an error keeps its default, or the part that could be read.
 */
export function readSettings(written: ReadonlyMap<string, Written>, report: Report): ReadSettings {
  const { slots, unknownKeys } = assignToRows(written, report)
  const reading = new Reading(slots, report)
  return { settings: reading.settings(), origins: reading.origins, changes: reading.changes, unknownKeys }
}

/** The written values for one row and one identity provider, by number if it is a list, by name if it is a map. */
type Slot = Map<string | undefined, Written>
/** By identity provider, `undefined` for rows without. */
type Slots = ReadonlyMap<Key, ReadonlyMap<string | undefined, Slot>>

/** A suggestion compares the unknown key with all known ones. A file with more unknown keys is probably not one of settings. */
const MAX_SUGGESTIONS = 10

/** Finds the row of each written key. */
function assignToRows(written: ReadonlyMap<string, Written>, report: Report): { slots: Slots; unknownKeys: string[] } {
  const slots = new Map<Key, Map<string | undefined, Slot>>()
  const unknownKeys: string[] = []
  for (const [writtenKey, value] of written) {
    const place = locate(writtenKey)
    const advice = place ? undefined : adviceForRemoved(writtenKey)
    if (place) {
      slotOf(slots, place).set(place.number ?? place.name, value)
    } else if (advice !== undefined) {
      report.problem(`${writtenKey} is no longer a setting: ${advice}. Remove it`)
    } else {
      const nearest = unknownKeys.length < MAX_SUGGESTIONS ? nearestKey(writtenKey) : undefined
      unknownKeys.push(writtenKey)
      report.warnOfUnknown(describeUnknown(writtenKey, nearest))
    }
  }
  return { slots, unknownKeys }
}

/** The value is left out, because this may be the misspelt key of a secret. */
function describeUnknown(written: string, nearest: string | undefined): Finding {
  const key = written.replaceAll(/\p{Cc}/gu, '?')
  return nearest === undefined
    ? finding('unknown-key', '{key} is not a known key', { key })
    : finding('misspelt-key', '{key} is not a known key; did you mean {nearest}?', { key, nearest })
}

function slotOf(slots: Map<Key, Map<string | undefined, Slot>>, { key, idp }: Place): Slot {
  const byIdp = slots.get(key) ?? new Map<string | undefined, Slot>()
  const slot: Slot = byIdp.get(idp) ?? new Map()
  slots.set(key, byIdp.set(idp, slot))
  return slot
}

/** Converts the written values of all rows, and notes where each value comes from. */
class Reading {
  readonly origins = new Map<string, Origin>()
  readonly changes: Change[] = []
  readonly #slots: Slots
  readonly #report: Report

  constructor(slots: Slots, report: Report) {
    this.#slots = slots
    this.#report = report
  }

  settings(): Settings {
    const idps = new Map(idpLists.map(list => [list, this.#idpNames(list)]))
    const values = rows.map(([key, setting]) => {
      const names = idpNamesFor(key, idps)
      if (!names) return [key, this.#value(key, setting)]
      return [key, new Map([...names].map(idp => [idp, this.#value(key, setting, idp)]))]
    })
    // `SettingsOf` computes the type of each key from the kind of its row and its placeholders, as this code does.
    return Object.freeze(Object.fromEntries(values)) as Settings
  }

  /** The names of identity providers that occur, including names that are not on the list, which a later check reports. */
  #idpNames(list: Key): ReadonlySet<string> {
    const listed = [...(this.#slots.get(list)?.get(undefined)?.values() ?? [])].map(({ text }) => text.trim())
    const configured = [...this.#slots].flatMap(([key, byIdp]) => (belongsTo(key, list) ? [...byIdp.keys()] : []))
    return new Set([...listed, ...configured].filter(name => name !== undefined))
  }

  #value(key: Key, setting: Setting, idp?: string): unknown {
    const slot: Slot = this.#slots.get(key)?.get(idp) ?? new Map()
    if (isList(key)) return this.#list(key, setting, slot, idp)
    if (isMap(key)) return this.#map(key, setting, slot, idp)
    const writtenKey = writeKey(key, idp)
    const written = slot.get(undefined)
    if (written) return this.#parse(key, setting, writtenKey, written)
    if (setting.default !== undefined) this.origins.set(writtenKey, 'default')
    return setting.default
  }

  /** An entry with an error is left out. */
  #map(key: Key, setting: Setting, slot: Slot, idp?: string): ReadonlyMap<string, unknown> {
    const entries = [...slot].map(([name = '', written]) => {
      return [name, this.#parse(key, setting, writeKey(key, idp, name), written)] as const
    })
    return new Map(entries.filter(([, value]) => value !== undefined))
  }

  #list(key: Key, setting: Setting, slot: Slot, idp?: string): readonly unknown[] {
    const base = writeKey(key, idp).slice(0, -'.<n>'.length)
    this.#checkNumbers(key, setting, slot, base)
    const numbers = [...slot.keys()]
      .filter(isNumber)
      .map(Number)
      .sort((a, b) => a - b)
    const gap = numbers.findIndex((number, index) => number !== index + 1)
    if (gap !== -1) {
      const next = String(numbers[gap])
      const shown = quote(setting, slot.get(next)?.text ?? '')
      this.#report.problem(`${base}.${gap + 1} is missing, but ${base}.${next} is ${shown}`, key)
    }
    const values = numbers.map(number => {
      const written = slot.get(String(number))
      return written && this.#parse(key, setting, writeKey(key, idp, number), written)
    })
    return Object.freeze(values)
  }

  #checkNumbers(key: Key, setting: Setting, slot: Slot, base: string): void {
    for (const [number, { text }] of slot) {
      const shown = quote(setting, text)
      if (number === undefined) {
        const other = [...slot.keys()].find(isNumber)
        const advice = other === undefined ? `write ${base}.1` : `${base}.${other} is set as well`
        this.#report.problem(`${base} is ${shown}, but it is a numbered list: ${advice}`, key)
      } else if (!isNumber(number)) {
        this.#report.problem(`${base}.${number} is ${shown}, but the entries of a list are numbered 1, 2, 3…`, key)
      }
    }
  }

  #parse(key: Key, setting: Setting, writtenKey: string, { text, origin }: Written): unknown {
    const parsed = setting.kind.parse(text)
    const shown = quote(setting, text)
    if ('problem' in parsed) {
      this.#report.problem(`${writtenKey} is ${shown}: ${parsed.problem}`, key)
      return setting.default
    }
    this.origins.set(writtenKey, origin)
    if (parsed.value !== setting.default) this.changes.push({ key, writtenKey })
    return parsed.value
  }
}

/** Whether the key is a setting of one of the identity providers on this list. */
const belongsTo = (key: Key, list: Key): boolean => key.startsWith(list.replace(/idps\.<n>$/, 'idp.<idp>.'))

const idpNamesFor = (key: Key, idps: ReadonlyMap<Key, ReadonlySet<string>>): ReadonlySet<string> | undefined => {
  const list = idpLists.find(list => belongsTo(key, list))
  return list && idps.get(list)
}

const isNumber = (number: string | undefined): boolean => /^[1-9]\d{0,5}$/.test(number ?? '')

export interface LoadedSettings {
  /** Frozen, its lists too; its maps are read-only by type. */
  readonly settings: Settings
  /** By key as written, for every setting that has a value. */
  readonly origins: ReadonlyMap<string, Origin>
  /** No secret is in them. */
  readonly warnings: readonly Finding[]
  /** Unknown keys and environment variables. They are also among the warnings; `config check --strict` rejects them. */
  readonly unknown: readonly string[]
}

/**
 * Reads the settings: overrides (`key=value`) take precedence over the environment, the environment over the file, the file over
 * the defaults (D10).
 *
 * @throws {SettingsError} with all errors, one per line, each naming key and value, and with the unknown keys, which alone are no error.
 */
export function loadSettings(sources: WrittenSources): LoadedSettings {
  const report = new Report()
  const { written, unknownVariables } = readWritten(sources, report)
  const { settings, origins, changes, unknownKeys } = readSettings(written, report)
  for (const change of changes) checkChange(change, report)
  findContradictions(settings, origins, report)
  if (report.problems.length > 0) throw new SettingsError([...report.problems, ...report.unknown].join('\n'))
  return { settings, origins, warnings: report.warnings, unknown: [...unknownKeys, ...unknownVariables] }
}

/**
 * Checks settings that were read at two times: after a reload, some settings keep their earlier value until a restart. @returns warnings
 * @throws {SettingsError} when they contradict each other
 */
export function requireConsistent(settings: Settings, origins: LoadedSettings['origins']): readonly Finding[] {
  const report = new Report()
  findContradictions(settings, origins, report)
  if (report.problems.length === 0) return report.warnings
  throw new SettingsError(`Without a restart these settings contradict each other:\n${report.problems.join('\n')}`)
}

/** Adds the warnings about a value that is not the default. */
function checkChange({ key, writtenKey }: Change, report: Report): void {
  const setting: Setting = keys[key]
  if (setting.warn === undefined) return
  report.warning(filled(setting.warn.code, `{key} ${setting.warn.text}`, { key: writtenKey }))
}
