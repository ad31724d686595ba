import type { ParserOptions, Quad } from 'n3'
import { plainTerms } from '../../../graph/turtle.ts'
import { literalOf, type ObjectTerm, type QuadSink, truncated } from './quads.ts'
import { decodedText } from './text-chunks.ts'
import { IRIS_OUTSIDE_STRINGS, TAGS_OF_STRINGS, TrigCutter, type TrigPiece } from './trig-statements.ts'

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
  text.replaceAll(TAGS_OF_STRINGS, (found, string: string | undefined, tag: string | undefined) =>
    string === undefined || tag === undefined || TAG.test(tag) ? found : `${string}@x-bad-${tags.push(tag) - 1}`,
  )
