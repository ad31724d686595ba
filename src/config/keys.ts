import { features } from '../features/features.ts'
import { type CoreKeys, coreGroups, type Key } from './core-keys.ts'
import { removedFromCore } from './removed-keys.ts'
import type { Check } from './check.ts'
import type { Setting } from './setting.ts'

/** The sections of docs/configuration.md, in its order: those of the core, then those of features. */
export const groups: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
  ...coreGroups,
  ...Object.fromEntries(
    features.flatMap(({ settings }) =>
      settings && Object.keys(settings.rows).length > 0 ? [[settings.title, settings.rows]] : [],
    ),
  ),
}

/**
 * All keys with their meaning (D10.2). `<n>` stands for the numbers 1, 2, 3… of a list without gaps, `<idp>` for the name of an identity
 * provider, and another word at the end for a name that the operator chooses. The type has the keys of the core only; each feature knows
 * the type of its own keys.
 */
export const keys = Object.assign({}, ...Object.values(groups)) as CoreKeys

/** The rows as the loader uses them: without the type of each value. */
export const rows: ReadonlyArray<readonly [key: Key, setting: Setting]> = Object.entries(keys) as Array<[Key, Setting]>

/** The lists that define the names for `<idp>`: each protocol of sign-on has its own. */
export const idpLists = rows.map(([key]) => key).filter(key => key.endsWith('.idps.<n>'))

/** The lifetimes of sessions by each way to sign in. */
export const maxAgeKeys = rows.map(([key]) => key).filter(isMaxAge)

/** Contradictions between settings of features. */
export const contradictionsOfFeatures: readonly Check[] = features.flatMap(({ contradictions }) => contradictions)

/** Keys that were settings once, each with a clause that says what happens instead. */
export const removedKeys: Readonly<Record<string, string>> = Object.assign(
  {},
  removedFromCore,
  ...features.map(({ settings }) => settings?.removed),
)

function isMaxAge(key: Key): key is 'service.auth.cookie.max-age' {
  return /^service\.auth\.[a-z]+\.max-age$/.test(key)
}
