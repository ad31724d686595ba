import { Unusable } from './quads.ts'

/** A part of a TriG document that can be parsed by itself. */
export type TrigPiece =
  /** A declaration of a prefix or of the base; its whole text. */
  | { readonly kind: 'declaration'; readonly text: string }
  /** One subject with its statements, without the full stop. `graph` is as written; `undefined` outside a block. */
  | { readonly kind: 'statements'; readonly graph: string | undefined; readonly text: string; readonly line: number }

const LONG_STRING = `"""[^"\\\\]*(?:(?:\\\\.|"(?!""))[^"\\\\]*)*"""|'''[^'\\\\]*(?:(?:\\\\.|'(?!''))[^'\\\\]*)*'''`
const SHORT_STRING = `"(?!"")[^"\\\\\\n\\r]*(?:\\\\.[^"\\\\\\n\\r]*)*"|'(?!'')[^'\\\\\\n\\r]*(?:\\\\.[^'\\\\\\n\\r]*)*'`
const IRI = '<[^>\\n\\r]*>'
const WORD = `(?:[^\\s<>"'{}[\\]();,#.\\\\]|\\\\.|\\.(?=[^\\s<>"'{}[\\]();,#.]))+`

/** White space and comments, which are dropped, then one token. */
const TOKEN = new RegExp(
  `(?=((?:\\s+|#[^\\n\\r]*)*))\\1(?:${IRI}|${LONG_STRING}|${SHORT_STRING}|([{}[\\]()])|[;,]|${WORD}|(\\.)|([^\\s#]))`,
  'suy',
)

/** Strings and comments, which are skipped, or an IRI. */
export const IRIS_OUTSIDE_STRINGS = new RegExp(`${LONG_STRING}|${SHORT_STRING}|<([^>\\n\\r]*)>|#[^\\n\\r]*`, 'sug')

/** Strings, each with its language tag as written, if it has one; IRIs and comments, which are skipped. */
export const TAGS_OF_STRINGS = new RegExp(
  `(${LONG_STRING}|${SHORT_STRING})(?:@([^\\s;,\\])}"'<]*[^\\s;,\\])}"'<.]))?|<[^>\\n\\r]*>|#[^\\n\\r]*`,
  'sug',
)

/** With less text than this after it, a token may continue in the next chunk. */
const MARGIN = 16
/** In characters. A statement is one subject with all its properties; a list has one line for each member. */
const MAX_STATEMENT = 128 * 2 ** 20

/**
 * Splits TriG into statements, so that an error affects one statement only. It knows tokens and brackets; the
 * parser knows the grammar.
 */
export class TrigCutter {
  #text = ''
  #line = 1
  #graph: string | undefined
  #isInBlock = false
  #depth = 0
  /** Where the current part begins in `#text`. */
  #begin = 0
  #at = 0
  #first = ''
  #tokens = 0

  /** True when the text ended between two parts. */
  get isBetween(): boolean {
    return !this.#isInBlock && this.#tokens === 0
  }

  /** @param isLast true for the last chunk */
  *push(text: string, isLast: boolean): Generator<TrigPiece> {
    this.#text = this.#text.slice(this.#begin) + text
    this.#at -= this.#begin
    this.#begin = 0
    for (;;) {
      TOKEN.lastIndex = this.#at
      const found = TOKEN.exec(this.#text)
      if (!found) return
      const [, space = '', bracket, stop, stray] = found
      const end = this.#at + found[0].length
      if (!isLast && (end + MARGIN > this.#text.length || this.#isIncomplete(stray, end))) {
        if (this.#text.length > MAX_STATEMENT)
          throw new Unusable('damaged-file', `line ${this.#line} begins a statement without an end`)
        return
      }
      const start = this.#at + space.length
      const token = this.#text.slice(start, end)
      this.#at = end
      yield* this.#take(token, start, { bracket, stop })
    }
  }

  /** A string or an IRI that is not closed yet looks like a stray character. */
  #isIncomplete(stray: string | undefined, end: number): boolean {
    if (stray !== '"' && stray !== "'" && stray !== '<') return false
    const isLong = this.#text.startsWith(stray + stray, end)
    return isLong || !/[\n\r]/.test(this.#text.slice(end))
  }

  *#take(
    token: string,
    start: number,
    { bracket, stop }: Readonly<Record<'bracket' | 'stop', string | undefined>>,
  ): Generator<TrigPiece> {
    if (this.#tokens === 0) this.#startPiece(token, start)
    this.#tokens++
    if (bracket === '[' || bracket === '(') this.#depth++
    if (bracket === ']' || bracket === ')') this.#depth = Math.max(0, this.#depth - 1)
    if (bracket === '{') {
      this.#graph = this.#text
        .slice(this.#begin, start)
        .replace(/^graph\b/iu, '')
        .trim()
      this.#isInBlock = true
      return this.#endPiece()
    }
    if (bracket === '}') {
      if (this.#tokens > 1) yield this.#statements(start)
      this.#isInBlock = false
      this.#graph = undefined
      return this.#endPiece()
    }
    const isDeclaration = /^@(prefix|base)$/iu.test(this.#first)
    const isSparqlDeclaration = /^(prefix|base)$/iu.test(this.#first)
    if (isSparqlDeclaration && this.#tokens === (this.#first.toLowerCase() === 'base' ? 2 : 3)) {
      yield { kind: 'declaration', text: this.#text.slice(this.#begin, this.#at) }
      return this.#endPiece()
    }
    if (stop === undefined || this.#depth > 0) return
    if (isDeclaration) yield { kind: 'declaration', text: this.#text.slice(this.#begin, this.#at) }
    else if (this.#tokens > 1) yield this.#statements(start)
    this.#endPiece()
  }

  #startPiece(token: string, start: number): void {
    this.#line += countLines(this.#text.slice(this.#begin, start))
    this.#begin = start
    this.#first = token
  }

  #statements(end: number): TrigPiece {
    const text = this.#text.slice(this.#begin, end)
    return { kind: 'statements', graph: this.#isInBlock ? (this.#graph ?? '') : undefined, text, line: this.#line }
  }

  #endPiece(): void {
    this.#line += countLines(this.#text.slice(this.#begin, this.#at))
    this.#begin = this.#at
    this.#tokens = 0
    this.#depth = 0
  }
}

const countLines = (text: string): number => text.split('\n').length - 1
