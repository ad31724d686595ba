import type { Graph } from './graph.ts'
import { RDF_XML_END, rdfXmlBegin, rdfXmlElements } from './rdf-xml.ts'
import { BlankLabels, bracketed, type GraphPlace, writeNTriples } from './text.ts'
import { TRIX_BEGIN, TRIX_END, trixGraph } from './trix.ts'
import { knownPrefixes, prefixLines, turtleBlocks } from './turtle.ts'

/** A document of many graphs, written graph by graph. */
interface GraphDocument {
  readonly begin: (base: string) => string
  /** @throws {NotAcceptable} when the syntax cannot say it */
  readonly graph: (graph: Graph, place: GraphPlace, labels: BlankLabels) => Iterable<string>
  readonly end: string
}

const turtle: GraphDocument = {
  begin: base => prefixLines(knownPrefixes(base)),
  graph: (graph, { base }, labels) => turtleBlocks(graph, knownPrefixes(base), labels),
  end: '',
}

const namespacesOf = (base: string): ReadonlyMap<string, string> =>
  new Map(knownPrefixes(base).map(([prefix, namespace]) => [namespace, prefix]))

/** By media type. TriG and TriX keep the graphs apart by their names; in the other formats all statements are in one graph. */
const documents: Readonly<Record<string, GraphDocument>> = {
  'application/trig': {
    ...turtle,
    *graph(graph, place, labels) {
      yield `\n${bracketed(place.iri)} {`
      yield* turtle.graph(graph, place, labels)
      yield '}\n'
    },
  },
  'application/trix': { begin: () => TRIX_BEGIN, graph: trixGraph, end: TRIX_END },
  'text/turtle': turtle,
  'text/n3': turtle,
  'application/n-triples': { begin: () => '', graph: writeNTriples, end: '' },
  'application/rdf+xml': {
    begin: base => rdfXmlBegin(namespacesOf(base)),
    graph: (graph, { base }, labels) => rdfXmlElements(graph, namespacesOf(base), labels),
    end: RDF_XML_END,
  },
}

export const documentTypes = Object.keys(documents)

/** A graph with its name, for a document of many graphs. */
export interface NamedGraph {
  readonly graph: Graph
  /** Its name. */
  readonly iri: string
}

/**
 * Writes graphs into one document, piece by piece.
 * @param type one of {@link documentTypes}
 * @throws {NotAcceptable} when the syntax cannot say it
 */
export async function* writeDocument(
  type: string,
  base: string,
  graphs: AsyncIterable<NamedGraph>,
): AsyncGenerator<string> {
  const document = documents[type]
  if (!document) throw new TypeError(`There are no documents of the type ${type}.`)
  yield document.begin(base)
  let labels = new BlankLabels()
  for await (const { graph, iri } of graphs) {
    yield* document.graph(graph, { iri, base }, labels)
    // Labels of blank nodes are valid in one graph only, so the next graph gets new ones.
    labels = new BlankLabels(labels.next)
  }
  yield document.end
}
