import { decodedText } from './chunks.ts'
import { SaxesParser } from 'saxes'
import { literalOf, type ObjectTerm, type QuadSink, truncated, Unusable } from './quads.ts'

/**
 * Reads TriX as a stream. EntryStore writes control characters that XML forbids; these are kept and reported,
 * and reading continues.
 * @throws {Unusable} `truncated` without `</TriX>`, `format-not-quads` when the root is another element
 */
export async function readTrix(chunks: AsyncIterable<Uint8Array>, sink: QuadSink): Promise<void> {
  const reader = new TrixReader(sink)
  for await (const text of decodedText(chunks)) reader.write(text)
  reader.end()
}

const elements = ['uri', 'id', 'plainLiteral', 'typedLiteral']

interface OpenTerm {
  readonly name: string
  readonly lang: string
  readonly datatype: string
}

class TrixReader {
  readonly #sink: QuadSink
  readonly #parser = new SaxesParser()
  #graph: string | undefined
  /** The terms of the current triple. */
  #terms: ObjectTerm[] | undefined
  #element: OpenTerm | undefined
  #text = ''
  #isStarted = false
  #isWhole = false
  /** Errors in the current triple. */
  #errors: string[] = []

  constructor(sink: QuadSink) {
    this.#sink = sink
    this.#parser.on('error', error => this.#errors.push(error.message))
    this.#parser.on('opentag', ({ name, attributes }) => this.#open(localName(name), attributes))
    this.#parser.on('closetag', ({ name }) => this.#close(localName(name)))
    this.#parser.on('text', text => (this.#text += text))
    this.#parser.on('cdata', text => (this.#text += text))
  }

  write(text: string): void {
    this.#parser.write(text)
  }

  end(): void {
    if (!this.#isWhole) throw truncated('it has no </TriX> at its end')
    this.#parser.close()
    if (this.#errors.length > 0) throw new Unusable('damaged-file', 'something follows </TriX>')
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (!this.#isStarted) {
      if (name !== 'TriX')
        throw new Unusable('format-not-quads', `it is XML with the root <${name.slice(0, 60)}>, not TriX`)
      this.#isStarted = true
    } else if (name === 'graph') {
      this.#graph = undefined
    } else if (name === 'triple') {
      this.#terms = []
      this.#errors = []
    } else if (elements.includes(name)) {
      this.#element = { name, lang: attributes['xml:lang'] ?? '', datatype: attributes['datatype'] ?? '' }
    }
    this.#text = ''
  }

  #close(name: string): void {
    if (name === 'TriX') {
      this.#isWhole = true
      // Later errors concern the text after the end.
      this.#errors = []
    } else if (name === 'graph') this.#graph = undefined
    else if (name === 'triple') this.#finishTriple()
    else if (this.#element?.name === name) this.#finishTerm(this.#element)
    this.#text = ''
  }

  #finishTerm({ name, lang, datatype }: OpenTerm): void {
    this.#element = undefined
    const text = this.#text
    // An IRI or label may be on separate lines.
    if (this.#terms === undefined) {
      if (name === 'uri') this.#graph = text.trim()
      else this.#graph = name === 'id' ? `_:${text.trim()}` : undefined
    } else if (name === 'uri') this.#terms.push(text.trim())
    else if (name === 'id') this.#terms.push(`_:${text.trim()}`)
    else if (name === 'plainLiteral') this.#terms.push(literalOf(text, lang, undefined))
    else this.#terms.push(literalOf(text, undefined, datatype))
  }

  #finishTriple(): void {
    const [subject, predicate, object, ...more] = this.#terms ?? []
    this.#terms = undefined
    const place = `graph ${this.#graph ?? '(default)'}, ending at byte ${this.#parser.position}`
    const isStrange = this.#errors.some(message => !message.endsWith('disallowed character.'))
    const isTriple =
      typeof subject === 'string' && typeof predicate === 'string' && object !== undefined && more.length === 0
    if (isStrange || !isTriple) this.#sink.problem('unreadable-statement', place)
    else {
      if (this.#errors.length > 0) this.#sink.problem('illegal-xml-character', place)
      this.#sink.quad(subject, predicate, object, this.#graph)
    }
    this.#errors = []
  }
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
