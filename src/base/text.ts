import { InvalidInput } from './errors.ts'

/** Escapes a text for HTML, in content and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, character => `&#${character.codePointAt(0)};`)

/** Escapes the control characters, which terminals obey, as JSON may; line breaks and tabs stay. */
export const escapeControls = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\t\n]/gu, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Whether the text contains a secret key of age or one in PEM, which no message may show. */
export const containsSecretKey = (text: string): boolean => /AGE-SECRET-KEY-|-----BEGIN [A-Z ]*PRIVATE KEY/i.test(text)

/** Whether the text has the form of a language tag: `en`, `pt-BR`, `sv_SE`. */
export const isLanguageTag = (text: string): boolean => /^[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*$/.test(text)

/** The text of the bytes of a request. @throws {InvalidInput} `bad-request` when they are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new InvalidInput('bad-request', 'The body is not valid UTF-8.', { cause: error })
  }
}

const SPACES: ReadonlySet<number | undefined> = new Set([9, 10, 11, 12, 13, 32])

/** Whether a text in UTF-8 is empty or has nothing but ASCII white space, without decoding it. */
export function isBlankUtf8(bytes: Uint8Array): boolean {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  let at = hasMark ? 3 : 0
  while (at < bytes.length && SPACES.has(bytes[at])) at++
  return at === bytes.length
}

const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,127}"
const FORM = new RegExp(`^${TOKEN}/${TOKEN}$`)

/**
 * A media type in the form in which the service compares, stores and serves it: `type/subtype` in lower case, without parameters (RFC 9110
 * 8.3.1). `undefined` if the text is no media type.
 */
export function parseMediaType(text: string): string | undefined {
  const bare = text.split(';', 1)[0]?.trim() ?? ''
  return FORM.test(bare) ? bare.toLowerCase() : undefined
}
