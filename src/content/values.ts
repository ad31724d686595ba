import { Conflict, InvalidInput } from '../base/errors.ts'
import { isId } from '../model/addresses.ts'

/** Fetches what the caller sent. Called once the right has been judged: what is refused is not even read (D1.5). */
export type Read<T> = () => Promise<T>

/** What JSON calls an object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @param member names the value in the refusal. @throws {InvalidInput} `invalid-value` */
export function requireText(value: unknown, member: string): string {
  if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')) return value
  throw new InvalidInput('invalid-value', `\`${member}\` is not a text.`)
}

/**
 * A password may hold any character, NUL too (interface 5.6): it is hashed, never stored. Half a surrogate pair is none; all
 * of them would hash alike. @throws {InvalidInput} `invalid-value`
 */
export function requirePasswordText(value: unknown, member: string): string {
  if (typeof value === 'string' && value.isWellFormed()) return value
  throw new InvalidInput('invalid-value', `\`${member}\` is not a text.`)
}

/** Ids as lists and groups hold them; numbers are tolerated (wire facts 3.8.5). @throws {InvalidInput} `invalid-member` */
export function requireIds(value: unknown): string[] {
  if (!Array.isArray(value)) throw new InvalidInput('invalid-member', 'An array of entry ids was expected.')
  return value.map((item: unknown) => {
    const id = typeof item === 'number' ? String(item) : item
    if (typeof id === 'string' && isId(id)) return id
    // Not quoted as JSON: the engine cannot write all the depths that it can read.
    throw new InvalidInput('invalid-member', `${typeof id === 'string' ? `"${id}"` : 'A member'} is not an entry id.`)
  })
}

/** @throws {Conflict} when one is named twice */
export function requireDistinct(ids: readonly string[]): readonly string[] {
  if (new Set(ids).size < ids.length) throw new Conflict('conflict', 'A member is named twice.')
  return ids
}
