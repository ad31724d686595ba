import { InvalidInput, StoreDamaged, TooLarge } from './errors.ts'

/** More than any real document needs. For a body of brackets, the parser needs fifty times the body's size. */
export const MAX_JSON_DEPTH = 500

/** What parsing of a JSON text may cost: each value costs one, and each name in an object {@link NAME_COST} times more. */
interface ParsingLimit {
  readonly maxCost?: number
}

/** Maximum cost of a JSON body. Parsing a list with as many ids blocks the event loop for about 50 ms. */
export const MAX_JSON_COST = 150_000
/** V8 stores a description of the shape of each object that differs from all earlier objects. */
const NAME_COST = 10

/**
 * Parses JSON. A name that occurs twice in one object is refused, because the parser keeps only the last of its values.
 * @throws {InvalidInput} `invalid-json`, with the position of the error @throws {TooLarge} `body-too-large`
 */
export function parseJson(text: string, limit?: ParsingLimit): unknown {
  requireParsable(text, limit)
  try {
    return JSON.parse(text)
  } catch (error) {
    // V8's own message quotes the body, which may contain a password.
    const place = /at position \d+/.exec((error as Error).message)?.[0]
    throw new InvalidInput('invalid-json', `The body is not JSON${place ? ` ${place}` : ''}.`)
  }
}

/** Parses a JSON text of the database. @throws {StoreDamaged} for another text: the engine compares no checksums of what it reads */
export function parseStored<T>(text: string): T {
  try {
    return JSON.parse(text) as T
  } catch {
    // V8's own message quotes the text, which may contain a secret.
    throw new StoreDamaged({ cause: new SyntaxError('a stored JSON text cannot be parsed') })
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

/** Whether a JSON text is nested too deeply, or takes more than `maxCost` to parse. */
export function isTooCostly(text: string, maxCost: number): boolean {
  const fault = faultOf(text, maxCost)
  return fault === 'depth' || fault === 'cost'
}

/** Refuses a text that would take too much time or memory to parse, without parsing it. @throws as {@link parseJson} */
export function requireParsable(text: string, { maxCost = Number.POSITIVE_INFINITY }: ParsingLimit = {}): void {
  const fault = faultOf(text, maxCost)
  if (fault === undefined) return
  if (fault === 'depth')
    throw new InvalidInput('invalid-json', `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`)
  if (fault !== 'cost') throw new InvalidInput('invalid-json', `The name ${fault.repeated} occurs twice in one object.`)
  const detail = `The body may have at most ${maxCost} values; one with a name counts as ${NAME_COST + 1}.`
  throw new TooLarge('body-too-large', detail, { extra: { limit: maxCost } })
}

/** Finds a fault without parsing the text; a repeated name is quoted, and cut if it is long. */
function faultOf(text: string, maxCost: number): 'depth' | 'cost' | { readonly repeated: string } | undefined {
  /** The names so far in each object that is open; `undefined` for an array. */
  const open: Array<Set<string> | undefined> = []
  let [cost, start, repeated] = [1, 0, undefined as string | undefined]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      start = at
      at = endOfString(text, at)
    } else if (code === COMMA) cost++
    else if (code === COLON) {
      cost += NAME_COST
      const name = nameAt(text, start)
      if (open.at(-1)?.has(name)) repeated ??= name
      open.at(-1)?.add(name)
    } else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      cost++
      open.push(code === OPENING_BRACE ? new Set() : undefined)
      if (open.length > MAX_JSON_DEPTH) return 'depth'
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) open.pop()
    if (cost > maxCost) return 'cost'
  }
  return repeated === undefined ? undefined : { repeated: shorten(JSON.stringify(repeated)) }
}

/** The string that begins at `start`, without escapes where they are valid. */
function nameAt(text: string, start: number): string {
  const written = text.slice(start + 1, endOfString(text, start))
  if (!written.includes('\\')) return written
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return written
  }
}

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

/** The place of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return text.length
}

/** The type of a JSON value for an error: `must be …, but is an array`. Texts are not quoted, because they can be secret. */
export function jsonTypeOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' ? 'a string' : JSON.stringify(value)
}
