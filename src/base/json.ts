import { InvalidInput } from './errors.ts'

/** More than any real document needs. For a body of brackets, the parser needs fifty times the body's size. */
export const MAX_JSON_DEPTH = 500

/** Parses JSON. @throws {InvalidInput} `invalid-json`, with the position of the error */
export function parseJson(text: string): unknown {
  if (isTooDeep(text))
    throw new InvalidInput('invalid-json', `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`)
  try {
    return JSON.parse(text)
  } catch (error) {
    // The engine's own message quotes the body, which may contain a password.
    const place = /at position \d+/.exec((error as Error).message)?.[0]
    throw new InvalidInput('invalid-json', `The body is not JSON${place ? ` ${place}` : ''}.`)
  }
}

/** True for a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const QUOTE = 34
const BACKSLASH = 92
const OPENING = new Set([91, 123])
const CLOSING = new Set([93, 125])

/** Whether arrays and objects of a JSON text are nested deeper than {@link MAX_JSON_DEPTH}, found without parsing it. */
export function isTooDeep(text: string): boolean {
  // Each level takes two characters, one to open and one to close it, or the text is no JSON.
  if (text.length <= MAX_JSON_DEPTH) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (OPENING.has(code) && ++depth > MAX_JSON_DEPTH) return true
    else if (CLOSING.has(code)) depth--
  }
  return false
}

/** The place of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return text.length
}
