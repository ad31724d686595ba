import { decodedText } from './chunks.ts'
import type { ParserOptions, Quad } from 'n3'
import { plainTerms } from '../../../src/graph/turtle.ts'
import { literalOf, type ObjectTerm, type QuadSink, truncated, Unusable } from './quads.ts'

/** Characters of a subject that is reported. */
const MAX_SUBJECT = 200
/** The number of characters that are parsed together. */
const BATCH = 32_768

/**
 * Reads TriG, split into statements here and parsed by `n3`. A statement that the parser rejects is parsed
 * again with its IRIs corrected and without its malformed language tags, which the quads get as they were written; if that fails, it is
 * reported.
 * @throws {Unusable} `truncated` when the file ends inside a block or statement
 */
export async function readTrig(chunks: AsyncIterable<Uint8Array>, sink: QuadSink): Promise<void> {
  const reader = new TrigReader(await loadParser(), sink)
  const cutter = new TrigCutter()
  for await (const text of decodedText(chunks)) reader.take(cutter.push(text, false))
  reader.take(cutter.push('', true))
  reader.flush()
  if (!cutter.isBetween) throw truncated('it ends inside of a statement or block')
}

type Parse = (text: string) => readonly Quad[]

async function loadParser(): Promise<Parse> {
  const { Parser } = await import('n3')
  // One factory for the whole file, because it numbers the blank nodes without a label.
  const factory = plainTerms() as unknown as ParserOptions['factory']
  return text => new Parser({ format: 'TriG', blankNodePrefix: '', factory }).parse(text)
}

type Statements = Extract<TrigPiece, { kind: 'statements' }>

class TrigReader {
  readonly #parse: Parse
  readonly #sink: QuadSink
  #declarations = ''
  #batch: Statements[] = []
  #size = 0

  constructor(parse: Parse, sink: QuadSink) {
    this.#parse = parse
    this.#sink = sink
  }

  take(pieces: Iterable<TrigPiece>): void {
    for (const piece of pieces) {
      if (piece.kind === 'declaration') {
        this.flush()
        this.#declarations += `${piece.text}\n`
      } else {
        if (this.#size > BATCH || this.#batch[0]?.graph !== piece.graph) this.flush()
        this.#batch.push(piece)
        this.#size += piece.text.length
      }
    }
  }

  flush(): void {
    const batch = this.#batch
    this.#batch = []
    this.#size = 0
    if (batch.length === 0) return
    const quads = this.#tryParse(batch.map(({ text }) => text).join('\n.\n'), batch[0]?.graph)
    if (quads) this.#emit(quads)
    else for (const piece of batch) this.#readOne(piece)
  }

  #readOne({ text, graph, line }: Statements): void {
    const quads = this.#tryParse(text, graph)
    if (quads) return this.#emit(quads)
    const tags: string[] = []
    const tagged = withPlaceholders(text, tags)
    const repaired =
      (tags.length > 0 ? this.#tryParse(tagged, graph) : undefined) ?? this.#repaired(tagged, graph, line)
    if (repaired) return this.#emit(repaired, tags)
    const [subject = ''] = text.trim().split(/\s/, 1)
    this.#sink.problem('unreadable-statement', `line ${line}: ${subject.slice(0, MAX_SUBJECT)}`)
  }

  #repaired(text: string, graph: string | undefined, line: number): readonly Quad[] | undefined {
    let isChanged = false
    const valid = text.replaceAll(IRIS_OUTSIDE_STRINGS, (found, iri: string | undefined) => {
      if (iri === undefined) return found
      // Escapes stay as they are, so the backslash is not included.
      const encoded = `<${iri.replaceAll(/[\s"{}|^`]/g, encodeURIComponent)}>`
      isChanged ||= encoded !== found
      return encoded
    })
    const quads = isChanged ? this.#tryParse(valid, graph) : undefined
    if (quads) this.#sink.problem('bad-iri', `line ${line}`)
    return quads
  }

  #tryParse(text: string, graph: string | undefined): readonly Quad[] | undefined {
    const block = graph === undefined ? `${text}\n.` : `${graph} {\n${text}\n}`
    try {
      return this.#parse(this.#declarations + block)
    } catch {
      return undefined
    }
  }

  /** @param tags that stand for placeholders */
  #emit(quads: readonly Quad[], tags: readonly string[] = []): void {
    for (const { subject, predicate, object, graph } of quads) {
      const name = graph.termType === 'DefaultGraph' ? undefined : resourceOf(graph)
      this.#sink.quad(resourceOf(subject), predicate.value, termOf(object, tags), name)
    }
  }
}

const resourceOf = ({ termType, value }: { readonly termType: string; readonly value: string }): string =>
  termType === 'BlankNode' ? `_:${value}` : value

interface PlainLiteral {
  readonly termType: string
  readonly value: string
  readonly language?: string
  readonly datatype?: { readonly value: string }
}

function termOf(term: PlainLiteral, tags: readonly string[]): ObjectTerm {
  if (term.termType !== 'Literal') return resourceOf(term)
  const number = PLACEHOLDER.exec(term.language ?? '')?.[1]
  const language = number === undefined ? undefined : tags[Number(number)]
  return literalOf(term.value, language ?? term.language, term.datatype?.value)
}

const PLACEHOLDER = /^x-bad-(\d+)$/
/** The tags that the parser takes. */
const TAG = /^[a-z]{1,8}(-[a-z0-9]{1,8})*$/i

/** The text with a placeholder for each malformed language tag. @param tags gets these */
const withPlaceholders = (text: string, tags: string[]): string =>
  text.replaceAll(TAGS_OF_STRINGS, (found, string: string | undefined, wide?: string, narrow?: string) => {
    const tag = wide ?? narrow
    return string === undefined || tag === undefined || TAG.test(tag) ? found : `${string}@x-bad-${tags.push(tag) - 1}`
  })

/** A part of a TriG document that can be parsed by itself. */
type TrigPiece =
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
const IRIS_OUTSIDE_STRINGS = new RegExp(`${LONG_STRING}|${SHORT_STRING}|<([^>\\n\\r]*)>|#[^\\n\\r]*`, 'sug')

const TAG_WORD = `[^\\s;,\\])}"'<:#]{1,100}`
/** A tag in which blanks were written, or nothing, up to what ends an object; else one without blanks. */
const TAG_AS_WRITTEN = `@(?:(|\\s*${TAG_WORD}(?:\\s+${TAG_WORD}){0,8}?)(?=\\s*(?:[;,\\])}]|$))|([^\\s;,\\])}"'<]*[^\\s;,\\])}"'<.]))`
/** Strings, each with its language tag as written, if it has one; IRIs and comments, which are skipped. */
const TAGS_OF_STRINGS = new RegExp(
  `(${LONG_STRING}|${SHORT_STRING})(?:${TAG_AS_WRITTEN})?|<[^>\\n\\r]*>|#[^\\n\\r]*`,
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
class TrigCutter {
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
