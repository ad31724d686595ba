import type { IActiveTag } from 'rdfxml-streaming-parser'
import { GraphBuilder, type ParsedQuad, refusalOf } from './graph-builder.ts'
import type { Graph, Term } from './graph.ts'
import { BlankLabels, escaped, isBlankLabel, subjectsOf, unwritable } from './text.ts'
import { prefixes, rdf } from './vocabulary.ts'

const MAX_DEPTH = 500

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
  const builder = new GraphBuilder({ tags: 'lower', maxStatements })
  /** Keeps, or refuses, constructs of a document that the parser of the library would change or leave out. */
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
      // For each level, the library does as much work as for all levels above it.
      if (++this.#depth > MAX_DEPTH) throw this.newParseError(`The document is nested deeper than ${MAX_DEPTH} levels.`)
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

/** Protects a relative reference that begins with a name such as `.well-known`: the library would remove the dot. */
const keptDot = (reference: string): string => reference.replace(/^\.(?![./?#]|$)/, './.')

/** After its first error the tokeniser would go on, and report an error for each character that follows. */
function stopAtFirstError(parser: object): void {
  const { saxParser } = parser as { readonly saxParser: { on(event: 'error', handler: (error: Error) => never): void } }
  saxParser.on('error', error => {
    throw error
  })
}

/** The parser accepts a document that breaks off; the tokeniser inside it reports the error. */
function requireEnded(parser: object): void {
  const { saxParser } = parser as { readonly saxParser: { close(): void } }
  saxParser.close()
}

/** @throws {NotAcceptable} when XML cannot represent the graph */
export function* writeRdfXml(graph: Graph): Generator<string> {
  const namespaces = new Namespaces()
  const subjects = namedSubjects(graph, namespaces)
  yield rdfXmlBegin(namespaces.all)
  yield* elementsOf(subjects, new BlankLabels(), '')
  yield RDF_XML_END
}

export const rdfXmlBegin = (namespaces: Iterable<readonly [namespace: string, prefix: string]>): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF${declarations(namespaces, '\n    ')}>\n`
export const RDF_XML_END = '</rdf:RDF>\n'

const declarations = (namespaces: Iterable<readonly [string, string]>, separator: string): string =>
  [...namespaces].map(([namespace, prefix]) => `${separator}xmlns:${prefix}="${escaped(namespace)}"`).join('')

/**
 * The elements of a graph, for a document that declares these namespaces; each element declares the other namespaces that it uses.
 * @throws {NotAcceptable}
 */
export function* rdfXmlElements(
  graph: Graph,
  declared: ReadonlyMap<string, string>,
  labels: BlankLabels,
): Generator<string> {
  const namespaces = new Namespaces(declared)
  const subjects = namedSubjects(graph, namespaces)
  const others = [...namespaces.all].filter(([namespace]) => !declared.has(namespace))
  yield* elementsOf(subjects, labels, declarations(others, ' '))
}

interface NamedSubject {
  readonly subject: string
  readonly predicates: ReadonlyArray<{ readonly name: string; readonly objects: readonly Term[] }>
  readonly type: { readonly name: string; readonly term: Term } | undefined
}

const namedSubjects = (graph: Graph, namespaces: Namespaces): NamedSubject[] =>
  subjectsOf(graph).map(([subject, predicates]) => ({
    subject,
    predicates: predicates.map(([predicate, objects]) => ({ name: namespaces.nameOf(predicate), objects })),
    type: typeOf(predicates, namespaces),
  }))

function* elementsOf(subjects: readonly NamedSubject[], labels: BlankLabels, declared: string): Generator<string> {
  const node = (value: string, attribute: string): string =>
    isBlankLabel(value) ? ` rdf:nodeID="${labels.of(value)}"` : ` ${attribute}="${escaped(value)}"`
  for (const { subject, predicates, type } of subjects) {
    const element = type?.name ?? 'rdf:Description'
    yield `  <${element}${declared}${node(subject, 'rdf:about')}>\n`
    for (const { name, objects } of predicates) {
      for (const object of objects) {
        if (object === type?.term) continue
        yield object.type === 'literal'
          ? `    <${name}${literalAttributes(object)}>${escaped(object.value)}</${name}>\n`
          : `    <${name}${node(object.value, 'rdf:resource')}/>\n`
      }
    }
    yield `  </${element}>\n`
  }
}

/** The first type of a subject that can be the name of its element. */
function typeOf(
  predicates: ReadonlyArray<readonly [string, readonly Term[]]>,
  namespaces: Namespaces,
): { readonly name: string; readonly term: Term } | undefined {
  const types = predicates.find(([predicate]) => predicate === rdf.type)?.[1] ?? []
  for (const term of types) {
    const name = term.type === 'uri' ? namespaces.findName(term.value) : undefined
    if (name !== undefined) return { name, term }
  }
  return undefined
}

const literalAttributes = ({ lang, datatype }: Term): string => {
  if (lang !== undefined) return ` xml:lang="${lang}"`
  return datatype === undefined ? '' : ` rdf:datatype="${escaped(datatype)}"`
}

const RDF = prefixes['rdf'] ?? ''

/** Names with another meaning in the place of a property or a type (RDF/XML 5.1, 7.2.11, 7.2.14). */
const reserved = new Set(
  ['Description', 'RDF', 'ID', 'about', 'parseType', 'resource', 'nodeID', 'datatype', 'li']
    .concat('aboutEach', 'aboutEachPrefix', 'bagID')
    .map(name => RDF + name),
)
/** Only `xml` and `xmlns` may be prefixes of these namespaces (Namespaces in XML 3). */
const unboundable = new Set([XML, 'http://www.w3.org/2000/xmlns/'])

class Namespaces {
  readonly all: Map<string, string>

  constructor(declared: ReadonlyMap<string, string> = new Map([[RDF, 'rdf']])) {
    this.all = new Map(declared)
  }

  /** The qualified name of a predicate: XML has no other way to write one. @throws {NotAcceptable} */
  nameOf(predicate: string): string {
    const name = this.findName(predicate)
    if (name === undefined) throw unwritable(`the predicate ${predicate} cannot be an XML name`)
    return name
  }

  /** The qualified name of a predicate or type; `undefined` where it has none. */
  findName(iri: string): string | undefined {
    const start = localStart(iri)
    const namespace = iri.slice(0, start)
    if (start === iri.length || namespace === '' || unboundable.has(namespace) || reserved.has(iri)) return undefined
    let prefix = this.all.get(namespace)
    if (prefix === undefined) {
      prefix = Object.entries(prefixes).find(([, known]) => known === namespace)?.[0] ?? `ns${this.all.size}`
      this.all.set(namespace, prefix)
    }
    return `${prefix}:${iri.slice(start)}`
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
