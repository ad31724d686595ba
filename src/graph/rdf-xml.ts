import type { IActiveTag } from 'rdfxml-streaming-parser'
import { GraphBuilder, type ParsedQuad, refusalOf } from './graph-builder.ts'
import type { Graph, Term } from './graph.ts'
import { BlankLabels, escaped, isBlankLabel, subjectsOf, unwritable } from './text.ts'
import { prefixes } from './vocabulary.ts'

const DEEPEST = 500

interface Attribute {
  /** Its namespace. */
  readonly uri: string
  readonly local: string
  value: string
}

interface Tag {
  readonly attributes: Readonly<Record<string, Attribute>>
}

/** @throws {InvalidInput} `invalid-graph`, naming the line */
export async function readRdfXml(text: string, base: string, maxStatements?: number): Promise<Graph> {
  const { RdfXmlParser } = await import('rdfxml-streaming-parser')
  const builder = new GraphBuilder('lower', maxStatements)
  /** Keeps or refuses what the library would change or leave out. */
  class ExactParser extends RdfXmlParser {
    #depth = 0
    /** The depth of the element whose content is an XML literal; 0 outside of one. */
    #literal = 0
    /** Whether text at this place would not be the value of a property. */
    #isTextLost = true
    #text = ''

    /** The library removes dot segments from absolute IRIs too. */
    override valueToUri(value: string, tag: IActiveTag) {
      return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(value)
        ? this.uriToNamedNode(value)
        : super.valueToUri(keptDot(value), tag)
    }

    protected override onTag(tag: never): void {
      // Every level costs the library as much as all those above it.
      if (++this.#depth > DEEPEST) throw this.newParseError(`The document is nested deeper than ${DEEPEST} levels.`)
      this.#endText(true)
      this.#isTextLost = false
      if (this.#literal === 0) this.#readAttributes(Object.values((tag as Tag).attributes))
      super.onTag(tag)
    }

    #readAttributes(attributes: readonly Attribute[]): void {
      for (const attribute of attributes) {
        const { uri, local, value } = attribute
        if (uri === XML && local === 'base') attribute.value = keptDot(value)
        if (uri === '') throw this.newParseError(`The attribute "${local}" has no namespace; is rdf:${local} meant?`)
        if (uri !== RDF) continue
        if (local === 'about' || local === 'nodeID' || local === 'resource') this.#isTextLost = true
        if (local === 'parseType' && value === 'Literal') this.#literal = this.#depth
      }
    }

    /** The library keeps only the last part of a text that a comment or CDATA interrupts. */
    protected override onText(text: string): void {
      this.#text += text
    }

    #endText(isLost: boolean): void {
      const text = this.#text
      this.#text = ''
      if (isLost && this.#literal === 0 && text.trim() !== '')
        throw this.newParseError(`The text "${text.trim().slice(0, 100)}" is not the value of a property.`)
      if (text !== '') super.onText(text)
    }

    protected override onCloseTag(): void {
      this.#endText(this.#isTextLost)
      this.#isTextLost = true
      if (this.#literal === this.#depth) this.#literal = 0
      this.#depth--
      super.onCloseTag()
    }
  }
  return await new Promise((resolve, reject) => {
    const parser = new ExactParser({ baseIRI: base, trackPosition: true })
    stopAtFirstError(parser)
    const refuse = (error: unknown): void => {
      reject(refusalOf(error, 'RDF/XML'))
      parser.destroy()
    }
    parser.on('data', (quad: unknown) => {
      try {
        builder.add(quad as ParsedQuad)
      } catch (error) {
        refuse(error)
      }
    })
    parser.on('error', refuse)
    parser.on('end', () => {
      try {
        requireEnded(parser)
        resolve(builder.finish())
      } catch (error) {
        refuse(error)
      }
    })
    parser.end(text)
  })
}

const XML = 'http://www.w3.org/XML/1998/namespace'

/** A relative reference that begins with a name such as `.well-known`, whose dot the library would remove. */
const keptDot = (reference: string): string => reference.replace(/^\.(?![./?#]|$)/, './.')

/** The tokeniser would go on and find one error for each character that follows. */
function stopAtFirstError(parser: object): void {
  const { saxParser } = parser as { readonly saxParser: { on(event: 'error', handler: (error: Error) => never): void } }
  saxParser.on('error', error => {
    throw error
  })
}

/** The parser takes a document that breaks off for a whole one; the tokeniser inside it knows better. */
function requireEnded(parser: object): void {
  const { saxParser } = parser as { readonly saxParser: { close(): void } }
  saxParser.close()
}

/** @throws {NotAcceptable} when XML cannot represent the graph */
export function* writeRdfXml(graph: Graph): Generator<string> {
  const labels = new BlankLabels()
  const namespaces = new Namespaces()
  const names = new Map<string, string>()
  for (const [, predicates] of subjectsOf(graph)) {
    for (const [predicate] of predicates) if (!names.has(predicate)) names.set(predicate, namespaces.nameOf(predicate))
  }
  const node = (value: string, attribute: string): string =>
    isBlankLabel(value) ? ` rdf:nodeID="${labels.of(value)}"` : ` ${attribute}="${escaped(value)}"`

  yield '<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF'
  for (const [namespace, prefix] of namespaces.all) yield `\n    xmlns:${prefix}="${escaped(namespace)}"`
  yield '>\n'
  for (const [subject, predicates] of subjectsOf(graph)) {
    yield `  <rdf:Description${node(subject, 'rdf:about')}>\n`
    for (const [predicate, objects] of predicates) {
      const name = names.get(predicate) ?? ''
      for (const object of objects) {
        yield object.type === 'literal'
          ? `    <${name}${literalAttributes(object)}>${escaped(object.value)}</${name}>\n`
          : `    <${name}${node(object.value, 'rdf:resource')}/>\n`
      }
    }
    yield '  </rdf:Description>\n'
  }
  yield '</rdf:RDF>\n'
}

const literalAttributes = ({ lang, datatype }: Term): string => {
  if (lang !== undefined) return ` xml:lang="${lang}"`
  return datatype === undefined ? '' : ` rdf:datatype="${escaped(datatype)}"`
}

const RDF = prefixes['rdf'] ?? ''

/** Names with another meaning than a property in the place of a property (RDF/XML 5.1, 7.2.14). */
const notProperties = new Set(
  ['Description', 'RDF', 'ID', 'about', 'parseType', 'resource', 'nodeID', 'datatype', 'li']
    .concat('aboutEach', 'aboutEachPrefix', 'bagID')
    .map(name => RDF + name),
)
/** Bound to prefixes of their own (Namespaces in XML 3). */
const unboundable = new Set([XML, 'http://www.w3.org/2000/xmlns/'])

class Namespaces {
  readonly all = new Map<string, string>([[RDF, 'rdf']])

  /** The qualified name of a predicate: XML has no other way to write one. @throws {NotAcceptable} */
  nameOf(predicate: string): string {
    const start = localStart(predicate)
    const namespace = predicate.slice(0, start)
    if (start === predicate.length || namespace === '' || unboundable.has(namespace) || notProperties.has(predicate)) {
      throw unwritable(`the predicate ${predicate} cannot be an XML name`)
    }
    let prefix = this.all.get(namespace)
    if (prefix === undefined) {
      prefix = Object.entries(prefixes).find(([, known]) => known === namespace)?.[0] ?? `ns${this.all.size}`
      this.all.set(namespace, prefix)
    }
    return `${prefix}:${predicate.slice(start)}`
  }
}

/** Where the longest suffix that is an XML name begins; the length of the IRI when there is none. */
function localStart(iri: string): number {
  let start = iri.length
  for (let index = iri.length - 1; index >= 0; index--) {
    const character = iri.charAt(index)
    if (!/[A-Za-z0-9_.-]/.test(character)) break
    if (/[A-Za-z_]/.test(character)) start = index
  }
  return start
}
