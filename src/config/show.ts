import { escapeValue } from 'properties-file/escape'
import type { Key } from './core-keys.ts'
import { keys } from './keys.ts'
import { isList, isMap, isPerIdp, writeKey } from './key-pattern.ts'
import type { Setting } from './setting.ts'
import type { Settings } from './settings.ts'

/** One value of a setting with its key as written. */
export interface Shown {
  readonly writtenKey: string
  /** A secret is masked; empty where there is no value. */
  readonly text: string
  readonly isSet: boolean
}

/** Shown in place of a secret. */
const MASK = '********'

/** `key=value` for each value of one row. */
export function showSetting(settings: Settings, key: Key): string[] {
  return shownValues(settings, key).map(({ writtenKey, text }) => `${writtenKey}=${escapeValue(text)}`)
}

/** All values of one row as one text, for people; a secret is masked. */
export function valueText(settings: Settings, key: Key): string {
  const set = shownValues(settings, key).filter(({ isSet }) => isSet)
  return set.length === 0 ? 'not set' : set.map(({ text }) => text).join(', ')
}

/**
 * Each value of one row: one value, or a value for each number of a list and each identity provider; if none is set, one entry without a
 * value.
 */
export function shownValues(settings: Settings, key: Key): Shown[] {
  if (!isPerIdp(key)) return shownOfOne(key, settings[key])
  const shown = [...(settings[key] as unknown as ReadonlyMap<string, unknown>)].flatMap(([idp, value]) =>
    shownOfOne(key, value, idp),
  )
  return shown.length > 0 ? shown : [{ writtenKey: key, text: '', isSet: false }]
}

/** A value as it may be written in a .properties file; a secret is masked. */
export const showValue = (setting: Setting, value: unknown): string => escapeValue(plainValue(setting, value))

const plainValue = ({ kind }: Setting, value: unknown): string => (kind.secret ? MASK : kind.show(value))

function shownOfOne(key: Key, value: unknown, idp?: string): Shown[] {
  const setting: Setting = keys[key]
  const show = (value: unknown, last?: number | string): Shown => ({
    writtenKey: writeKey(key, idp, last),
    text: value === undefined ? '' : plainValue(setting, value),
    isSet: value !== undefined,
  })
  if (isMap(key)) {
    const entries = [...(value as ReadonlyMap<string, unknown>)]
    return entries.length > 0 ? entries.map(([name, value]) => show(value, name)) : [show(undefined)]
  }
  const list: readonly unknown[] = isList(key) ? (value as readonly unknown[]) : []
  return list.length > 0 ? list.map((value, index) => show(value, index + 1)) : [show(isList(key) ? undefined : value)]
}
