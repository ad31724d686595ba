import type { JsonLdDocument, Options } from 'jsonld'
import { InvalidInput } from '../base/errors.ts'
import { isObject, parseJson } from '../base/json.ts'
import { GraphBuilder, type ParsedQuad, type ParsedTerm, refusalOf } from './graph-builder.ts'
import { type Graph, statementsOf, type Term } from './graph.ts'
import { BlankLabels, type GraphPlace, isBlankLabel } from './text.ts'
import { prefixes, rdf, xsd } from './vocabulary.ts'

/**
 * Remote contexts are refused and never fetched. The library leaves out statements that RDF cannot express: these are refused, too.
 * @throws {InvalidInput} `invalid-graph`
 */
export async function readJsonLd(text: string, base: string, maxStatements?: number): Promise<Graph> {
  const document = parseDocument(text)
  const { default: jsonld } = await import('jsonld')
  const builder = new GraphBuilder({ tags: 'lower', maxStatements, name: base })
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

/**
 * The graph as compact JSON-LD, with its name and with the prefixes that occur in it; `store` is the base address, as clients know
 * it. The empty graph is `{}`, as clients know it too.
 */
export function describeJsonLd(graph: Graph, place?: GraphPlace): Readonly<Record<string, unknown>> {
  if (Object.keys(graph).length === 0) return {}
  const context = contextFor(graph, place)
  const compact = (iri: string): string => compactIri(iri, context)
  const labels = new BlankLabels()
  const resource = (value: string): string => (isBlankLabel(value) ? `_:${labels.of(value)}` : compact(value))
  const nodes = Object.entries(graph).map(([subject, predicates]) => {
    const node: Record<string, unknown> = { '@id': resource(subject) }
    for (const [predicate, objects] of Object.entries(predicates)) {
      const types = predicate === rdf.type ? objects.filter(({ type }) => type !== 'literal') : []
      const others = objects.filter(object => !types.includes(object))
      if (types.length > 0) node['@type'] = single(types.map(({ value }) => resource(value)))
      if (others.length > 0) node[compact(predicate)] = single(others.map(term => describeTerm(term, resource)))
    }
    return node
  })
  const name = place ? { '@id': compact(place.iri) } : {}
  return { '@context': Object.fromEntries(context), ...name, '@graph': nodes }
}

function single<T>(values: readonly T[]): T | readonly T[] {
  const [first, ...others] = values
  return first === undefined || others.length > 0 ? values : first
}

type Context = ReadonlyArray<readonly [prefix: string, namespace: string]>

/** The prefixes whose namespaces occur in the graph, except prefixes that are also the scheme of an IRI in it. */
function contextFor(graph: Graph, place: GraphPlace | undefined): Context {
  const known = Object.entries(place ? { ...prefixes, store: place.base } : prefixes)
  const used = new Set<string>()
  const misleading = new Set<string>()
  for (const iri of irisIn(graph, place)) {
    const found = known.find(([, namespace]) => isCompactable(iri, namespace))
    if (found) used.add(found[0])
    else misleading.add(iri.slice(0, iri.indexOf(':')))
  }
  return known.filter(([prefix]) => used.has(prefix) && !misleading.has(prefix))
}

function* irisIn(graph: Graph, place: GraphPlace | undefined): Generator<string> {
  if (place) yield place.iri
  for (const { subject, predicate, object } of statementsOf(graph)) {
    yield subject
    yield predicate
    if (object.type === 'uri') yield object.value
    else if (object.type === 'literal' && object.lang === undefined) yield object.datatype ?? xsd.string
  }
}

/** The text after the colon of a compact IRI must not begin with `//`, as the host of a whole IRI does. */
const isCompactable = (iri: string, namespace: string): boolean =>
  iri.startsWith(namespace) && !iri.startsWith('//', namespace.length)

function compactIri(iri: string, context: Context): string {
  const found = context.find(([, namespace]) => isCompactable(iri, namespace))
  return found ? `${found[0]}:${iri.slice(found[1].length)}` : iri
}

export function* writeJsonLd(graph: Graph, place?: GraphPlace): Generator<string> {
  yield JSON.stringify(describeJsonLd(graph, place))
}

function describeTerm({ type, value, lang, datatype }: Term, resource: (value: string) => string): unknown {
  if (type !== 'literal') return { '@id': resource(value) }
  if (lang !== undefined) return { '@value': value, '@language': lang }
  return datatype === undefined ? value : { '@value': value, '@type': resource(datatype) }
}

/** The events with which the library reports that it leaves out a statement. Its other events lose no statement. */
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
 * Refuses statements that the library leaves out without an event, and changes values that the library would write differently.
 * @param property the property of these values
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
 * One plain name after a colon: a prefixed name looks like this, and no scheme in use except `urn` has such IRIs for properties, types or
 * datatypes.
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
