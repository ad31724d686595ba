import type { EffectiveSetting } from './effective-setting.ts'
import { escapeValue } from 'properties-file/escape'
import type { Key } from './core-keys.ts'
import { groups, keys } from './keys.ts'
import type { LoadedSettings } from './load.ts'
import type { Setting } from './setting.ts'
import { shownValues } from './show.ts'

/** All settings in effect, in the order of the reference; secrets are masked. */
export function effectiveSettings({
  settings,
  origins,
}: Pick<LoadedSettings, 'settings' | 'origins'>): readonly EffectiveSetting[] {
  return Object.entries(groups).flatMap(([title, keys]) =>
    Object.entries(keys).flatMap(([key, { help }]) =>
      shownValues(settings, key as Key).map(({ writtenKey, text, isSet }) => ({
        key: writtenKey,
        value: text,
        isSet,
        origin: origins.get(writtenKey) ?? 'default',
        area: title,
        meaning: help,
      })),
    ),
  )
}

/** The keys, as written, of the secrets whose values stand in the settings file itself. */
export const secretsInFile = ({ settings, origins }: Pick<LoadedSettings, 'settings' | 'origins'>): readonly string[] =>
  Object.entries<Setting>(keys)
    .filter(([, { kind }]) => kind.secret)
    .flatMap(([key]) => shownValues(settings, key as Key))
    .map(({ writtenKey }) => writtenKey)
    .filter(key => origins.get(key) === 'file')

/**
 * The settings in effect, one `key=value # origin` per line; secrets are masked. Without `all`, only those that are not
 * defaults. Empty when there is nothing to show.
 */
export function showSettings(loaded: LoadedSettings, options: { readonly all?: boolean } = {}): string {
  return effectiveSettings(loaded)
    .filter(({ origin }) => options.all || origin !== 'default')
    .map(({ key, value, isSet, origin }) => `${key}=${escapeValue(value)}   # ${isSet ? origin : 'not set'}\n`)
    .join('')
}
