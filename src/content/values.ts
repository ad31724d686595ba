import { Conflict, InvalidInput } from '../base/errors.ts'
import { isId } from '../model/addresses.ts'

/** Fetches what the caller sent. Called after the access check: the body of a rejected request is not read (D1.5). */
export type Read<T> = () => Promise<T>

/** @param member names the value in the error. @throws {InvalidInput} `invalid-value` */
export function requireText(value: unknown, member: string): string {
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')) return value
  throw new InvalidInput('invalid-value', `\`${member}\` is not a text.`)
}

/**
 * A password may contain any character, including NUL (I5.6), because it is hashed, never stored. An unpaired
 * surrogate is rejected: all of them would have the same hash. @throws {InvalidInput} `invalid-value`
 */
export function requirePasswordText(value: unknown, member: string): string {
  if (typeof value === 'string' && value.isWellFormed()) return value
  throw new InvalidInput('invalid-value', `\`${member}\` is not a text.`)
}

/** Reads the ids of members of lists and groups; numbers are accepted (W3.8.5). @throws {InvalidInput} `invalid-member` */
export function requireIds(value: unknown): string[] {
  if (!Array.isArray(value)) throw new InvalidInput('invalid-member', 'An array of entry ids was expected.')
  return value.map(requireId)
}

function requireId(item: unknown): string {
  const id = typeof item === 'number' ? String(item) : item
  if (typeof id === 'string' && isId(id)) return id
  // Not written as JSON: the engine cannot serialise every depth that it can parse.
  throw new InvalidInput('invalid-member', `${typeof id === 'string' ? `"${id}"` : 'A member'} is not an entry id.`)
}

/** @throws {Conflict} when one is named twice */
export function requireDistinct(ids: readonly string[]): readonly string[] {
  if (new Set(ids).size < ids.length) throw new Conflict('conflict', 'A member is named twice.')
  return ids
}
