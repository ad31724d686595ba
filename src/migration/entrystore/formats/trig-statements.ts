import { Unusable } from './quads.ts'

/** A piece of a TriG document that can be parsed by itself. */
export type TrigPiece =
  /** A declaration of a prefix or of the base; its whole text. */
  | { readonly kind: 'declaration'; readonly text: string }
  /** One subject with what is said about it, without the full stop. `graph` is as written; `undefined` outside of a block. */
  | { readonly kind: 'statements'; readonly graph: string | undefined; readonly text: string; readonly line: number }

const LONG_STRING = `"""[^"\\\\]*(?:(?:\\\\.|"(?!""))[^"\\\\]*)*"""|'''[^'\\\\]*(?:(?:\\\\.|'(?!''))[^'\\\\]*)*'''`
const SHORT_STRING = `"(?!"")[^"\\\\\\n\\r]*(?:\\\\.[^"\\\\\\n\\r]*)*"|'(?!'')[^'\\\\\\n\\r]*(?:\\\\.[^'\\\\\\n\\r]*)*'`
const IRI = '<[^>\\n\\r]*>'
const WORD = `(?:[^\\s<>"'{}[\\]();,#.\\\\]|\\\\.|\\.(?=[^\\s<>"'{}[\\]();,#.]))+`

/** White space and comments, of which nothing is given back, then one token. */
const TOKEN = new RegExp(
  `(?=((?:\\s+|#[^\\n\\r]*)*))\\1(?:${IRI}|${LONG_STRING}|${SHORT_STRING}|([{}[\\]()])|[;,]|${WORD}|(\\.)|([^\\s#]))`,
  'suy',
)

/** Strings and comments, to be passed over, or an IRI. */
export const IRIS_OUTSIDE_STRINGS = new RegExp(`${LONG_STRING}|${SHORT_STRING}|<([^>\\n\\r]*)>|#[^\\n\\r]*`, 'sug')

/** A token may go on in the next chunk when so little is left behind it. */
const MARGIN = 16
/** Characters. A statement is one subject with all that is said about it; a list has one line for each member. */
const MAX_STATEMENT = 128 * 2 ** 20

/**
 * Cuts TriG into statements, so that one that is wrong costs only itself. Knows tokens and brackets; the grammar is the
 * parser's.
 */
export class TrigCutter {
  #text = ''
  #line = 1
  #graph: string | undefined
  #isInBlock = false
  #depth = 0
  /** Where the present piece begins in `#text`. */
  #begin = 0
  #at = 0
  #first = ''
  #tokens = 0

  /** True when the text ended between two pieces. */
  get isBetween(): boolean {
    return !this.#isInBlock && this.#tokens === 0
  }

  /** @param isLast nothing follows */
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

  /** A string or an IRI that is not closed yet looks like a stray sign. */
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
