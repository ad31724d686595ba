import { type Graph, graphOutside } from './graph.ts'

/** The text from which a graph was read, or which was made of it: a graph never changes, so neither does its text. */
const texts = new WeakMap<Graph, string>()

/** The graph as RDF/JSON, in the form in which it is stored: IRIs of this service are relative. */
export function graphText(graph: Graph): string {
  const known = texts.get(graph)
  if (known !== undefined) return known
  const text = JSON.stringify(graph)
  texts.set(graph, text)
  return text
}

export function parseGraph(text: string): Graph {
  const graph = JSON.parse(text) as Graph
  texts.set(graph, text)
  return graph
}

/**
 * The graph as RDF/JSON with absolute IRIs, made from its stored text without parsing it. In that text a
 * relative IRI is where `"./` opens a key (after a brace or comma) or the value of a term of type `uri`;
 * inside a string the quotes are escaped.
 * @param base ends in a slash
 */
export function absoluteText(base: string, graph: Graph): string {
  const text = graphText(graph)
  if (!text.includes('"./')) return text
  // Terms are stored with their type first. Another writer may have stored them otherwise.
  if (text.includes('{"value":')) return JSON.stringify(graphOutside(base, graph))
  return text
    .replaceAll('{"./', `{"${base}`)
    .replaceAll(',"./', `,"${base}`)
    .replaceAll('{"type":"uri","value":"./', `{"type":"uri","value":"${base}`)
}
