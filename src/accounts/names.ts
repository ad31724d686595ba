import { InvalidInput } from '../base/errors.ts'

const MAX_CHARACTERS = 255
/** Allows for characters that normalising removes. Without a limit, NFKC could make a long body 18 times as long. */
const MAX_RAW_CHARACTERS = 10_000

/**
 * The single form in which names of users and groups are stored, compared and looked up, regardless of their source (D1.7):
 * Unicode NFKC, invisible format characters removed, lower case, trimmed. Applying it twice changes nothing.
 */
export function normaliseName(raw: string): string {
  let name = raw
  // Lower-casing and NFKC can each undo the other's result, so both repeat until nothing changes (two or three rounds).
  for (let previous; previous !== name; ) {
    previous = name
    name = name
      .replaceAll(/\p{Cf}/gu, '')
      .normalize('NFKC')
      .toLowerCase()
      .normalize('NFKC')
      .trim()
  }
  return name
}

/** @throws {InvalidInput} `invalid-name` when the normalised name is empty, is too long or contains control characters. */
export function requireName(raw: string): string {
  const name = raw.length > MAX_RAW_CHARACTERS ? raw : normaliseName(raw)
  if (name === '') throw new InvalidInput('invalid-name', 'The name is empty.')
  if (name.length > 2 * MAX_CHARACTERS || [...name].length > MAX_CHARACTERS) {
    throw new InvalidInput('invalid-name', `The name is longer than ${MAX_CHARACTERS} characters.`)
  }
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) {
    throw new InvalidInput('invalid-name', 'The name contains control characters.')
  }
  return name
}
