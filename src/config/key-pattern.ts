import type { Key } from './core-keys.ts'
import { keys, removedKeys, rows } from './keys.ts'

/** The meaning of a written key: its row, and the values of its placeholders. */
export interface Place {
  readonly key: Key
  readonly idp: string | undefined
  /** As written; `undefined` too when the number is missing, as in `….whitelist` for `….whitelist.<n>`. */
  readonly number: string | undefined
  /** The last part of a key such as `….required.<claim>`; it may contain dots. */
  readonly name: string | undefined
}

/** The place of a written key, `undefined` for an unknown one. */
export function locate(written: string): Place | undefined {
  const key = plain.get(written)
  if (key !== undefined) return { key, idp: undefined, number: undefined, name: undefined }
  for (const { key, pattern } of patterns) {
    const groups = pattern.exec(written)?.groups
    if (groups) return { key, idp: groups['idp'], number: groups['number'], name: groups['name'] }
  }
  return undefined
}

/** The key of the secret that the file named by `….password-file` holds; `undefined` for every other key. */
export function secretOfFile(written: string): string | undefined {
  const key = written.slice(0, -'-file'.length)
  const place = written.endsWith('-file') && locate(written) === undefined ? locate(key) : undefined
  return place !== undefined && keys[place.key].kind.secret ? key : undefined
}

/** The key as it is written for one identity provider and one number of a list or one name of a map. */
export function writeKey(key: Key, idp?: string, last?: number | string): string {
  return fillIn(key, idp, last)
}

/** What a written key looks like, with the placeholders of a row as groups. */
export function patternOf(key: string): RegExp {
  const hasLast = key.endsWith('>') && !key.endsWith('.<idp>')
  const base = (hasLast ? key.slice(0, key.lastIndexOf('.')) : key)
    .replaceAll('.', '\\.')
    .replace('<idp>', '(?<idp>[^.]+)')
  const last = !hasLast ? '' : key.endsWith('.<n>') ? '(?:\\.(?<number>[^.]*))?' : '\\.(?<name>.+)'
  return new RegExp(`^${base}${last}$`)
}

export const isList = (key: Key): boolean => key.endsWith('.<n>')
/** Whether the last part of the key is a name that the operator chooses, as in `….required.<claim>`. */
export const isMap = (key: Key): boolean => key.endsWith('>') && !isList(key)
export const isPerIdp = (key: Key): boolean => key.includes('.<idp>.')

/**
 * The known key most similar to an unknown one, with the name and number of the unknown one; `undefined` when none is
 * similar. Similar means that at most about a quarter of the letters differ, not counting `service.`.
 */
export function nearestKey(unknown: string): string | undefined {
  if (unknown.length > 200) return undefined
  const segments = unknown.split('.')
  const longer = rows.map(([key]) => key).filter(key => isSubsequence(segments, key.split('.')))
  // `service.port` means `service.http.port`, although other keys have more letters in common with it.
  if (segments.length > 2 || (segments.length === 2 && segments[0] === 'service')) {
    const [shortest] = longer.sort((a, b) => a.split('.').length - b.split('.').length)
    if (shortest !== undefined) return shortest
  }
  let nearest: string | undefined
  let least = Math.max(2, Math.floor((unknown.length - 'service.'.length) / 4)) + 1
  for (const [key] of rows) {
    const own = key.split('.')
    const alike = own.length === segments.length
    const candidate = own.map((part, index) => (alike && part.startsWith('<') ? segments[index] : part)).join('.')
    // Each letter more or less is a difference.
    if (Math.abs(unknown.length - candidate.length) >= least) continue
    const distance = editDistance(unknown, candidate)
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

const plain: ReadonlyMap<string, Key> = new Map(
  rows.filter(([key]) => !isList(key) && !isMap(key) && !isPerIdp(key)).map(([key]) => [key, key]),
)

const patterns: ReadonlyArray<{ readonly key: Key; readonly pattern: RegExp }> = rows
  .filter(([key]) => !plain.has(key))
  .map(([key]) => ({ key, pattern: patternOf(key) }))

const removed = Object.entries(removedKeys).map(([key, advice]) => ({ pattern: patternOf(key), advice }))

/** What happens instead of a removed setting, as a clause; `undefined` for a key that never was one. */
export const adviceForRemoved = (written: string): string | undefined =>
  removed.find(({ pattern }) => pattern.test(written))?.advice

function fillIn(key: Key, idp: string | undefined, last: number | string | undefined): string {
  const parts = key.split('.').map(part => (part === '<idp>' ? (idp ?? part) : part))
  const hasLast = last !== undefined && (isList(key) || isMap(key))
  return (hasLast ? [...parts.slice(0, -1), last] : parts).join('.')
}

/** Whether `all` has every element of `some`, in the same order. */
function isSubsequence(some: readonly string[], all: readonly string[]): boolean {
  let found = 0
  for (const part of all) if (part === some[found]) found++
  return found === some.length
}

/** The Levenshtein distance: insertions, deletions and replacements of one letter. */
export function editDistance(from: string, to: string): number {
  const letters = Array.from(to)
  let previous = [0, ...letters.map((_, index) => index + 1)]
  for (const [row, letter] of Array.from(from).entries()) {
    const current = [row + 1]
    for (const [column, other] of letters.entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return previous.at(-1) ?? 0
}
