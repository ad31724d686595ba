import { Conflict, InvalidInput } from '../base/errors.ts'
import { jsonTypeOf } from '../base/json.ts'
import { isId } from '../model/addresses.ts'
import { isAdmin } from '../accounts/caller-guards.ts'
import type { Caller } from '../accounts/caller.ts'
import { normaliseName, requireName } from '../accounts/users.ts'

/** Fetches what the caller sent. Called after the access check: the body of a rejected request is not read (D1.5). */
export type Read<T> = () => Promise<T>

/** @param member names the value in the error. @throws {InvalidInput} `invalid-value` */
export function requireText(value: unknown, member: string): string {
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')) return value
  throw notText(value, member)
}

/**
 * A password may contain any character, including NUL (I5.6), because it is hashed, never stored. An unpaired
 * surrogate is rejected: all of them would have the same hash. @throws {InvalidInput} `invalid-value`
 */
export function requirePasswordText(value: unknown, member: string): string {
  if (typeof value === 'string' && value.isWellFormed()) return value
  throw notText(value, member)
}

const notText = (value: unknown, member: string): InvalidInput =>
  new InvalidInput(
    'invalid-value',
    `\`${member}\` must be a text, but ${typeof value === 'string' ? 'has characters that cannot be stored' : `is ${jsonTypeOf(value)}`}.`,
  )

/** Reads the ids of members of lists and groups; numbers are accepted (W3.8.5). @throws {InvalidInput} `invalid-member` */
export function requireIds(value: unknown): string[] {
  if (!Array.isArray(value))
    throw new InvalidInput('invalid-member', `The members must be an array of entry ids, but are ${jsonTypeOf(value)}.`)
  return value.map(requireId)
}

function requireId(item: unknown): string {
  const id = typeof item === 'number' ? String(item) : item
  if (typeof id === 'string' && isId(id)) return id
  // Not written as JSON: V8 cannot serialise every depth that it can parse.
  throw new InvalidInput(
    'invalid-member',
    `Each member must be an entry id, but one is ${typeof id === 'string' ? `"${id}"` : jsonTypeOf(id)}.`,
  )
}

/** @throws {Conflict} when one occurs twice */
export function requireDistinct(ids: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  for (const id of ids) {
    if (seen.has(id)) throw new Conflict('conflict', `The id "${id}" occurs twice. Send each id once.`)
    seen.add(id)
  }
  return ids
}

/**
 * The name of a group as this caller may choose it. Users and groups share one set of names, which administrators and provisioning need.
 * Names that other callers choose begin with the name of the caller, so that they take no name of this set and a refusal does not reveal
 * which names are taken (D18.13).
 * @param present the name that the group has; it can be kept
 * @throws {InvalidInput} `invalid-name`
 */
export function groupNameFor(caller: Caller, raw: string, present?: string): string {
  const name = requireName(raw)
  if (isAdmin(caller) || name === present) return name
  const prefix = `${normaliseName(caller.user.name ?? caller.user.id)}: `
  return requireName(name.startsWith(prefix) ? name : prefix + name)
}
