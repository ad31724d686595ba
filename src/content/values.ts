import { Conflict, InvalidInput } from '../base/errors.ts'
import { Yielding } from '../base/yielding.ts'
import { isId } from '../model/addresses.ts'
import { portionsOf } from '../stores/sql.ts'

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

/** So many ids are looked at in one step. */
const IDS_TOGETHER = 1000
/** Characters of an id, about. */
const ID_LENGTH = 10

/**
 * Reads the ids of members of lists and groups; numbers are accepted (W3.8.5). A list may have 150,000: other requests have their turn
 * meanwhile. @throws {InvalidInput} `invalid-member`
 */
export async function requireIds(value: unknown): Promise<string[]> {
  if (!Array.isArray(value)) throw new InvalidInput('invalid-member', 'An array of entry ids was expected.')
  const ids: string[] = []
  await inSteps(value, some => ids.push(...some.map(requireId)))
  return ids
}

function requireId(item: unknown): string {
  const id = typeof item === 'number' ? String(item) : item
  if (typeof id === 'string' && isId(id)) return id
  // Not written as JSON: the engine cannot serialise every depth that it can parse.
  throw new InvalidInput('invalid-member', `${typeof id === 'string' ? `"${id}"` : 'A member'} is not an entry id.`)
}

/** The ids, each once. Other requests have their turn meanwhile. */
export async function distinct(ids: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  await inSteps(ids, some => {
    for (const id of some) found.add(id)
  })
  return found
}

/** @throws {Conflict} when one is named twice */
export async function requireDistinct(ids: readonly string[]): Promise<readonly string[]> {
  if ((await distinct(ids)).size < ids.length) throw new Conflict('conflict', 'A member is named twice.')
  return ids
}

async function inSteps<T>(items: readonly T[], work: (some: readonly T[]) => void): Promise<void> {
  const yielding = new Yielding()
  for (const some of portionsOf(items, IDS_TOGETHER)) {
    work(some)
    await yielding.after(some.length * ID_LENGTH)
  }
}
