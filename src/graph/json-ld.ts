import type { JsonLdDocument, Options } from 'jsonld'
import { InvalidInput } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { GraphBuilder, type ParsedQuad, refusalOf } from './graph-builder.ts'
import { asWritten, prepareExpanded, refuseLoss, requireDeclared, shown } from './json-ld-losses.ts'
import { type Graph, statementsOf, type Term } from './graph.ts'
import { BlankLabels, isBlankLabel } from './text.ts'
import { rdf } from './vocabulary.ts'

/**
 * Contexts of elsewhere are refused, never fetched. The library leaves out what it cannot say in RDF: that is refused, too.
 * @throws {InvalidInput} `invalid-graph`
 */
export async function readJsonLd(text: string, base: string, maxStatements?: number): Promise<Graph> {
  const document = parseDocument(text)
  const { default: jsonld } = await import('jsonld')
  const builder = new GraphBuilder('lower', maxStatements)
  let refused: string | undefined
  const documentLoader = (url: string): Promise<never> => {
    refused = url
    return Promise.reject(new Error('refused'))
  }
  try {
    const options = { base, documentLoader, eventHandler: refuseLoss }
    const expanded = await jsonld.expand(document, options)
    prepareExpanded(expanded)
    const quads = await jsonld.toRDF(expanded, { ...options, skipExpansion: true } as Options.ToRdf)
    for (const quad of quads as unknown as ParsedQuad[]) {
      requireDeclared(quad)
      builder.add(asWritten(quad))
    }
    return builder.finish()
  } catch (error) {
    if (refused === undefined) throw refusalOf(error, 'JSON-LD')
    throw invalid(`The context ${shown(refused)} is not fetched: include its content in the document.`)
  }
}

function parseDocument(text: string): JsonLdDocument {
  let value: unknown
  try {
    // Also limits the depth: the library is recursive and would exhaust the stack.
    value = parseJson(text)
  } catch (error) {
    throw error instanceof InvalidInput ? invalid(error.message) : error
  }
  // A bare string would be an address to fetch the document from.
  if (typeof value !== 'object' || value === null) throw invalid('JSON-LD is a JSON object or an array.')
  return value
}

/** The graph as JSON-LD without a context: every name written out. The empty graph is `{}`, as clients know it. */
export function describeJsonLd(graph: Graph): { readonly '@graph'?: readonly unknown[] } {
  const labels = new BlankLabels()
  const resource = (value: string): string => (isBlankLabel(value) ? `_:${labels.of(value)}` : value)
  const nodes = new Map<string, Record<string, unknown[]>>()
  for (const { subject, predicate, object } of statementsOf(graph)) {
    const node = nodes.get(subject) ?? (Object.create(null) as Record<string, unknown[]>)
    nodes.set(subject, node)
    if (predicate === rdf.type && object.type !== 'literal') (node['@type'] ??= []).push(resource(object.value))
    else (node[predicate] ??= []).push(describeTerm(object, resource))
  }
  if (nodes.size === 0) return {}
  return { '@graph': [...nodes].map(([subject, node]) => ({ '@id': resource(subject), ...node })) }
}

export function* writeJsonLd(graph: Graph): Generator<string> {
  yield JSON.stringify(describeJsonLd(graph))
}

function describeTerm({ type, value, lang, datatype }: Term, resource: (value: string) => string): unknown {
  if (type !== 'literal') return { '@id': resource(value) }
  if (lang !== undefined) return { '@value': value, '@language': lang }
  return datatype === undefined ? { '@value': value } : { '@value': value, '@type': datatype }
}

const invalid = (detail: string): InvalidInput => new InvalidInput('invalid-graph', detail)
