import { type Check, hasTwice } from '../../config/check.ts'
import type { SettingsOf } from '../../config/settings.ts'

/** Where the providers of a protocol with several are set. */
interface Providers<K> {
  readonly list: K
  readonly defaultIdp: K
  /** What each provider needs. */
  readonly required: readonly [K, K]
  readonly key: K
  /** The value of `key` with which the providers are used. */
  readonly value: 'new' | true
}

/** Contradictions that each protocol can have in the settings of its providers. @typeParam T the rows of its settings */
export function providerContradictions<T>({
  list,
  defaultIdp,
  required,
  key,
  value,
}: Providers<keyof T & string>): ReadonlyArray<Check<T>> {
  const isUsed = (settings: SettingsOf<T>): boolean => (settings[key] as unknown) === value
  const namesIn = (settings: SettingsOf<T>) => settings[list] as readonly string[]
  const valuesOf = (settings: SettingsOf<T>, of: keyof T) => settings[of] as ReadonlyMap<string, unknown>
  const on = `${key}=${value === true ? 'on' : value}`
  return [
    {
      keys: [key, list],
      wrong: settings => isUsed(settings) && namesIn(settings).length === 0,
      message: `${on} needs at least one identity provider in ${list.replace('<n>', '1')}`,
    },
    {
      keys: [key, list],
      warning: 'providers-unused',
      wrong: settings => !isUsed(settings) && namesIn(settings).length > 0,
      message: 'identity providers are used only with {on}',
      values: { on },
    },
    {
      keys: [list],
      wrong: settings => hasTwice(namesIn(settings)),
      message: 'an identity provider is listed twice',
    },
    {
      keys: [list, required[0]],
      // It has the names of all providers that have any setting.
      wrong: settings => [...valuesOf(settings, required[0]).keys()].some(idp => !namesIn(settings).includes(idp)),
      message: `an identity provider has settings, but is not listed in ${list}`,
    },
    ...required.map(
      (of): Check<T> => ({
        keys: [list, of],
        wrong: settings =>
          isUsed(settings) && namesIn(settings).some(idp => valuesOf(settings, of).get(idp) === undefined),
        message: `every identity provider needs its ${of.slice(of.indexOf('>') + 2)}`,
      }),
    ),
    {
      keys: [defaultIdp, list],
      wrong: settings => {
        const idp = settings[defaultIdp] as string | undefined
        return idp !== undefined && !namesIn(settings).includes(idp)
      },
      message: 'the default identity provider is not listed',
    },
  ]
}
