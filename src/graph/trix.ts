import { InvalidInput } from '../base/errors.ts'
import { GraphBuilder, type ParsedTerm, refusalOf } from './graph-builder.ts'
import { type Graph, statementsOf, type Term } from './graph.ts'
import { BlankLabels, escaped, type GraphPlace, isBlankLabel } from './text.ts'

const TRIX = 'http://www.w3.org/2004/03/trix/trix-1/'
const XML = 'http://www.w3.org/XML/1998/namespace'
const ELEMENT_NODE = 1

/** One graph, with its own name or none. @throws {InvalidInput} `invalid-graph` */
export async function readTrix(text: string, base: string, maxStatements?: number): Promise<Graph> {
  const { DOMParser } = await import('@xmldom/xmldom')
  const builder = new GraphBuilder({ maxStatements, name: base })
  try {
    // TriX needs no DOCTYPE, and the size of expanded entities is unknown beforehand.
    if (/<!DOCTYPE/i.test(text)) throw invalid('it contains a DOCTYPE')
    const stop = (message: string): never => {
      throw invalid(message.replace(/\s+/g, ' '))
    }
    const options = {
      errorHandler: { warning: stop, error: stop, fatalError: stop },
      // The library's own turns characters into line ends that XML 1.0 keeps.
      normalizeLineEndings: (given: string): string => given.replaceAll(/\r\n?/g, '\n'),
    }
    const root = new DOMParser(options).parseFromString(text, 'text/xml').documentElement as Element | null
    if (root?.localName !== 'TriX' || root.namespaceURI !== TRIX) throw invalid('its root element is not TriX')
    for (const graph of childrenOf(root, 'graph')) readGraph(graph, builder)
    return builder.finish()
  } catch (error) {
    throw refusalOf(error, 'TriX')
  }
}

function readGraph(graph: Element, builder: GraphBuilder): void {
  const [first] = elementsIn(graph)
  const isNamed = first !== undefined && first.localName !== 'triple'
  const name = isNamed ? termOf(first) : { termType: 'DefaultGraph', value: '' }
  for (const triple of isNamed ? elementsIn(graph).slice(1) : childrenOf(graph, 'triple')) {
    const [subject, predicate, object, ...more] = elementsIn(triple).map(termOf)
    if (!subject || !predicate || !object || more.length > 0)
      throw invalid('a triple does not have exactly three parts')
    builder.add({ subject, predicate, object, graph: name })
  }
}

function termOf(element: Element): ParsedTerm {
  const value = element.textContent ?? ''
  if (element.namespaceURI !== TRIX || elementsIn(element).length > 0)
    throw invalid(`<${element.tagName}> is not a term`)
  switch (element.localName) {
    case 'uri':
      return { termType: 'NamedNode', value: value.trim() }
    case 'id':
      return { termType: 'BlankNode', value: value.trim() }
    case 'plainLiteral':
      return { termType: 'Literal', value, language: element.getAttributeNS(XML, 'lang') ?? '' }
    case 'typedLiteral':
      return { termType: 'Literal', value, datatype: { value: element.getAttribute('datatype') ?? '' } }
    default:
      throw invalid(`<${element.tagName}> is not a term`)
  }
}

function elementsIn(parent: Element): Element[] {
  const elements: Element[] = []
  for (let child = parent.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === ELEMENT_NODE) elements.push(child as Element)
  }
  return elements
}

function childrenOf(parent: Element, name: string): Element[] {
  const elements = elementsIn(parent)
  const stranger = elements.find(({ localName, namespaceURI }) => localName !== name || namespaceURI !== TRIX)
  if (stranger) throw invalid(`<${stranger.tagName}> is in the place of <${name}>`)
  return elements
}

const invalid = (reason: string): InvalidInput => new InvalidInput('invalid-graph', `The body is not TriX: ${reason}.`)

export const TRIX_BEGIN = `<?xml version="1.0" encoding="UTF-8"?>\n<TriX xmlns="${TRIX}">\n`
export const TRIX_END = '</TriX>\n'

/** Writes a graph with its name. @throws {NotAcceptable} for characters that XML does not allow */
export function* writeTrix(graph: Graph, place?: GraphPlace): Generator<string> {
  yield TRIX_BEGIN
  yield* trixGraph(graph, place, new BlankLabels())
  yield TRIX_END
}

/** One graph of a document, statement by statement. @throws {NotAcceptable} */
export function* trixGraph(graph: Graph, place: GraphPlace | undefined, labels: BlankLabels): Generator<string> {
  const resource = (value: string): string =>
    isBlankLabel(value) ? `<id>${labels.of(value)}</id>` : `<uri>${escaped(value)}</uri>`
  yield '  <graph>\n'
  if (place) yield `    ${resource(place.iri)}\n`
  for (const { subject, predicate, object } of statementsOf(graph)) {
    const written = object.type === 'literal' ? literal(object) : resource(object.value)
    yield `    <triple>${resource(subject)}${resource(predicate)}${written}</triple>\n`
  }
  yield '  </graph>\n'
}

function literal({ value, lang, datatype }: Term): string {
  if (datatype !== undefined) return `<typedLiteral datatype="${escaped(datatype)}">${escaped(value)}</typedLiteral>`
  return `<plainLiteral${lang === undefined ? '' : ` xml:lang="${lang}"`}>${escaped(value)}</plainLiteral>`
}
