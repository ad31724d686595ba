import { InvalidInput } from '../base/errors.ts'

const MAX_CHARACTERS = 255
/** Room for what normalising removes. Without a bound, NFKC could make a long body 18 times as long. */
const MAX_RAW_CHARACTERS = 10_000

/**
 * The one form in which names of users and groups are stored, compared and looked up, wherever they come from (D1.7):
 * Unicode NFKC, invisible format characters removed, lower case, trimmed. Applying it twice changes nothing.
 */
export function normaliseName(raw: string): string {
  let name = raw
  // Lower-casing and NFKC can each undo the other's form, so until neither changes anything (two or three rounds).
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

/** @throws {InvalidInput} `invalid-name` when nothing is left of it, or it is too long or holds control characters. */
export function requireName(raw: string): string {
  const name = raw.length > MAX_RAW_CHARACTERS ? raw : normaliseName(raw)
  if (name === '') throw new InvalidInput('invalid-name', 'The name is empty.')
  if (name.length > 2 * MAX_CHARACTERS || [...name].length > MAX_CHARACTERS) {
    throw new InvalidInput('invalid-name', `The name is longer than ${MAX_CHARACTERS} characters.`)
  }
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) {
    throw new InvalidInput('invalid-name', 'The name holds control characters.')
  }
  return name
}
