import { InvalidInput, TooLarge } from './errors.ts'

/** More than any real document needs. For a body of brackets, the parser needs fifty times the body's size. */
export const MAX_JSON_DEPTH = 500

/** What parsing of a JSON text may cost: each value counts once, and each name in an object {@link NAME_COST} times more. */
interface ParsingLimit {
  readonly maxCost?: number
}

/** A list of so many ids is parsed in some 50 ms, and no other request is served meanwhile. */
export const MAX_JSON_COST = 150_000
/** The engine describes the shape of every object that is unlike those before it. */
const NAME_COST = 10

/** Parses JSON. @throws {InvalidInput} `invalid-json`, with the position of the error @throws {TooLarge} `body-too-large` */
export function parseJson(text: string, limit?: ParsingLimit): unknown {
  requireParsable(text, limit)
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
const COMMA = 44
const COLON = 58
const OPENING_BRACKET = 91
const BACKSLASH = 92
const CLOSING_BRACKET = 93
const OPENING_BRACE = 123
const CLOSING_BRACE = 125

/** Whether arrays and objects of a JSON text are nested deeper than {@link MAX_JSON_DEPTH}, found without parsing it. */
export const isTooDeep = (text: string): boolean => faultOf(text, Number.POSITIVE_INFINITY) === 'depth'

/** Whether {@link requireParsable} refuses it. */
export const isTooCostly = (text: string, maxCost: number): boolean => faultOf(text, maxCost) !== undefined

/** Refuses a text that would take too much time or memory to parse, without parsing it. @throws as {@link parseJson} */
export function requireParsable(text: string, { maxCost = Number.POSITIVE_INFINITY }: ParsingLimit = {}): void {
  const fault = faultOf(text, maxCost)
  if (fault === 'depth')
    throw new InvalidInput('invalid-json', `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`)
  if (fault === undefined) return
  const detail = `The body may have at most ${maxCost} values; one with a name counts as ${NAME_COST + 1}.`
  throw new TooLarge('body-too-large', detail, { extra: { limit: maxCost } })
}

function faultOf(text: string, maxCost: number): 'depth' | 'cost' | undefined {
  // Each level takes two characters, one to open and one to close it, or the text is no JSON.
  if (text.length <= Math.min(MAX_JSON_DEPTH, maxCost / NAME_COST)) return undefined
  let [depth, cost] = [0, 1]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA) cost++
    else if (code === COLON) cost += NAME_COST
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      cost++
      if (++depth > MAX_JSON_DEPTH) return 'depth'
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth--
    if (cost > maxCost) return 'cost'
  }
  return undefined
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
