import { propertyName } from '../../accounts/users.ts'
import { InvalidInput } from '../../base/errors.ts'
import { isObject, jsonTypeOf } from '../../base/json.ts'
import { requireText } from '../values.ts'
import { isLanguageTag } from '../../base/text.ts'

/** Parses the members of a user resource, for a creation and for a change (W2.6). */

const MAX_PROPERTIES_BYTES = 65_536

/** Parses a member that is true or false. @throws {InvalidInput} `invalid-value`, like the functions below */
export function readFlag(value: unknown, member: string): boolean {
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw new InvalidInput('invalid-value', `\`${member}\` must be true or false, but is ${jsonTypeOf(value)}.`)
}

/** Parses a language tag; an empty one clears the language. */
export function readLanguage(value: unknown): string | undefined {
  const language = requireText(value, 'language').trim()
  if (language === '') return undefined
  if (!isLanguageTag(language)) {
    throw new InvalidInput(
      'invalid-value',
      `\`language\` must be a language tag such as en or pt-BR, but is "${language.slice(0, 40)}".`,
    )
  }
  return language
}

export function readProperties(value: unknown, userId: string): Readonly<Record<string, string>> {
  const what = `\`customProperties\` must be an object of texts, but is ${jsonTypeOf(value)}.`
  if (!isObject(value)) throw new InvalidInput('invalid-value', what)
  const entries = Object.entries(value).map(
    ([key, text]) => [propertyName(key), requireText(text, `customProperties.${key}`)] as const,
  )
  if (Buffer.byteLength(JSON.stringify(entries)) > MAX_PROPERTIES_BYTES) {
    throw new InvalidInput(
      'invalid-value',
      `The custom properties of user ${userId} exceed ${MAX_PROPERTIES_BYTES} bytes.`,
    )
  }
  return Object.fromEntries(entries)
}
