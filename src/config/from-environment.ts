import { idpLists, removedKeys, rows } from './keys.ts'
import { editDistance, isList, isMap, isPerIdp, locate, writeKey } from './key-pattern.ts'
import type { Key } from './core-keys.ts'

/** A setting that an environment variable holds. */
export interface FromEnvironment {
  /** As written in a file. */
  readonly key: string
  readonly text: string
  readonly variable: string
}

/** Variables of the service that are no settings; see `environment.ts`. */
const OTHERS: ReadonlySet<string> = new Set([
  'SERVICE_CONFIG',
  'SERVICE_ADMIN_PASSWORD',
  'SERVICE_ADMIN_PASSWORD_FILE',
  'SERVICE_AUTH_TOKEN_KEY',
])

/** The name of a setting's variable: its key in capitals, with `_` for every character that is no letter or digit. */
export const variableOf = (key: string): string => key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')

/**
 * The settings among these variables, in the order of the variables. A variable may also have the key itself as its name,
 * which a name chosen by the operator at the end of a key needs. Empty variables count as absent.
 *
 * @param written keys and values from elsewhere, which may name identity providers
 * @returns `unknown` holds variables that look like settings but are none
 */
export function settingsOf(
  variables: Readonly<Record<string, string | undefined>>,
  written: ReadonlyMap<string, string>,
): { readonly found: readonly FromEnvironment[]; readonly unknown: readonly string[] } {
  const present = Object.entries(variables).flatMap(([name, text]) => (text ? [{ name, text }] : []))
  const plain = keysByVariable(undefined)
  const exact = present.filter(({ name }) => name.startsWith('service.'))
  const capital = present.filter(({ name }) => name.startsWith('SERVICE_') && !OTHERS.has(name))
  const known = new Map([
    ...written,
    ...exact.map(({ name, text }) => [name, text] as const),
    ...capital.flatMap(({ name, text }) => pairOf(keyOf(name, plain), text)),
  ])
  const tables = [plain, ...providersIn(known).map(keysByVariable)]
  const found: FromEnvironment[] = exact.map(({ name, text }) => ({ key: name, text, variable: name }))
  const unknown: string[] = []
  for (const { name, text } of capital) {
    const key = tables.map(table => keyOf(name, table)).find(key => key !== undefined)
    if (key === undefined) unknown.push(name)
    else found.push({ key, text, variable: name })
  }
  return { found, unknown }
}

/** What happens instead of the removed setting whose variable this is, as a clause; `undefined` for any other. */
export const adviceForRemovedVariable = (variable: string): string | undefined =>
  removedVariables.find(({ pattern }) => pattern.test(variable))?.advice

const removedVariables = Object.entries(removedKeys).map(([key, advice]) => ({
  pattern: new RegExp(`^${key.split(/<\w+>/).map(variableOf).join('.+')}$`),
  advice,
}))

/** The variable most similar to an unknown one; `undefined` when none is similar. Similar means that at most an eighth of the letters differ. */
export function nearestVariable(unknown: string): string | undefined {
  if (unknown.length > 200) return undefined
  const known = [...rows.map(([key]) => variableOf(key)), ...OTHERS]
  const distances = known.map(variable => ({ variable, distance: editDistance(unknown, variable) }))
  const [nearest] = distances.sort((one, other) => one.distance - other.distance)
  return nearest && nearest.distance <= Math.max(2, unknown.length / 8) ? nearest.variable : undefined
}

const pairOf = (key: string | undefined, text: string): ReadonlyArray<readonly [string, string]> =>
  key === undefined ? [] : [[key, text]]

/**
 * Keys by variable, of one provider or without a provider. A list is named by the part before the number. Secrets also occur with `-file`.
 */
function keysByVariable(idp: string | undefined): ReadonlyMap<string, string> {
  const written = rows
    .filter(([key]) => isPerIdp(key) === (idp !== undefined) && !isMap(key))
    .flatMap(([key, { kind }]) => {
      const name = isList(key) ? withoutLast(writeKey(key, idp)) : writeKey(key, idp)
      return kind.secret ? [name, `${name}-file`] : [name]
    })
  return new Map(written.map(key => [variableOf(key), key]))
}

function keyOf(variable: string, table: ReadonlyMap<string, string>): string | undefined {
  const key = table.get(variable)
  if (key !== undefined) return key
  const [, list = '', number] = /^(.+)_(\d+)$/.exec(variable) ?? []
  const base = table.get(list)
  return base !== undefined && locate(`${base}.${number}`) !== undefined ? `${base}.${number}` : undefined
}

const withoutLast = (key: string): string => key.slice(0, key.lastIndexOf('.'))

function providersIn(written: ReadonlyMap<string, string>): readonly string[] {
  const lists: readonly Key[] = idpLists
  return [...written].flatMap(([key, text]) => {
    const place = locate(key)
    return place !== undefined && lists.includes(place.key) ? [text.trim()] : []
  })
}
