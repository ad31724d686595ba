import type { JsonLdDocument, Options } from 'jsonld'
import { InvalidInput } from '../base/errors.ts'
import { isObject, parseJson } from '../base/json.ts'
import { GraphBuilder, type ParsedQuad, type ParsedTerm, refusalOf } from './graph-builder.ts'
import { type Graph, statementsOf, type Term } from './graph.ts'
import { BlankLabels, isBlankLabel } from './text.ts'
import { rdf, xsd } from './vocabulary.ts'

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

/** What the library reports when it leaves something out. Its other events lose no statement. */
const losses: Readonly<Record<string, string>> = {
  'blank node predicate': 'is a blank node and cannot be a property',
  'free-floating scalar': 'is a value without a subject',
  'invalid property': 'is not a property: it is neither an absolute IRI nor a term of the context',
  'object with only @language': 'has a language and no value',
  'object with only @list': 'is a list without a subject',
  'object with only @value': 'is a value without a subject',
  'relative @id reference': 'is not an absolute IRI',
  'relative @type reference': 'is not an absolute IRI',
  'relative graph reference': 'is not an absolute IRI',
  'relative object reference': 'is not an absolute IRI',
  'relative predicate reference': 'is not an absolute IRI',
  'relative subject reference': 'is not an absolute IRI',
  'reserved @id value': 'looks like a keyword and is none',
  'reserved @reverse value': 'looks like a keyword and is none',
}

interface LossEvent {
  readonly event: { readonly code: string; readonly details: Readonly<Record<string, unknown>> }
}

/** Handles an event of the library. @throws {InvalidInput} naming what would be left out */
function refuseLoss({ event: { code, details } }: LossEvent): void {
  const reason = losses[code]
  if (reason === undefined || isIgnoredTerm(details)) return
  throw invalid(`${shown(Object.values(details)[0])} ${reason}.`)
}

/** A context can say, with `null`, that a term means nothing. */
const isIgnoredTerm = ({ property, expandedProperty }: LossEvent['event']['details']): boolean =>
  expandedProperty === null && typeof property === 'string' && !property.startsWith('@')

export function shown(value: unknown): string {
  const text = typeof value === 'string' ? `"${value}"` : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** Keywords that an expanded document may contain outside of values. */
const keywords = new Set(['@id', '@type', '@list', '@set', '@graph', '@included', '@reverse', '@index', '@language'])
/** Stands for `xsd:double`. No document can contain it, because it is no IRI. */
const WRITTEN_DOUBLE = 'double as written'

/**
 * Refuses what the library leaves out without an event, and changes values that it would write in another way.
 * @param property has these values
 * @throws {InvalidInput}
 */
function prepareExpanded(given: unknown, property = '@graph'): void {
  if (Array.isArray(given)) for (const element of given) prepareExpanded(element, property)
  if (!isObject(given)) return
  if ('@value' in given) return prepareValue(given)
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith('@') && !keywords.has(name)) throw invalid(`${shown(name)} has no meaning at this place.`)
    if (name === '@id' && !value) throw invalid(`A value of ${shown(property)} is not an absolute IRI.`)
    prepareExpanded(value, name)
  }
}

function prepareValue(given: Record<string, unknown>): void {
  const { '@value': value, '@type': type } = given
  if (given['@direction'] !== undefined) throw invalid(`${shown(value)} has a base direction, which cannot be stored.`)
  if (type === '@json') return
  if (typeof value === 'string') {
    if (type === xsd.double) given['@type'] = WRITTEN_DOUBLE
  } else if (typeof value === 'number') {
    const isApproximate = type === xsd.double || type === xsd.float || Math.abs(value) >= 1e21
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value) && !isApproximate))
      throw invalid(`A number near ${value} cannot be read exactly: send it as a string with a datatype.`)
    // A decimal has no exponent.
    if (type === xsd.decimal) given['@value'] = String(value)
  }
}

/** The statement as the document has it, after {@link prepareExpanded}. */
function asWritten(quad: ParsedQuad): ParsedQuad {
  if (quad.object.datatype?.value !== WRITTEN_DOUBLE) return quad
  return { ...quad, object: { ...quad.object, datatype: { value: xsd.double } } }
}

/**
 * One plain name after a colon: that is how a name with a prefix looks, and no scheme in use but `urn` has such IRIs for properties, types of
 * things or datatypes.
 */
const prefixed = /^(?!urn:)([A-Za-z][\w+.-]*):[\w.-]+$/i

/** The library takes a name whose prefix is not declared for an absolute IRI. @throws {InvalidInput} naming it */
function requireDeclared({ predicate, object }: ParsedQuad): void {
  const names: Array<Pick<ParsedTerm, 'value'> | undefined> = [predicate, object.datatype]
  if (predicate.value === rdf.type && object.termType === 'NamedNode') names.push(object)
  for (const name of names) {
    const prefix = name && prefixed.exec(name.value)?.[1]
    if (prefix) throw invalid(`${shown(name.value)} has the prefix "${prefix}", which the context does not declare.`)
  }
}

const invalid = (detail: string): InvalidInput => new InvalidInput('invalid-graph', detail)
