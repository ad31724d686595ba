import { InvalidInput, TooLarge } from '../base/errors.ts'
import { isObject, parseStored } from '../base/json.ts'
import { xsd } from './vocabulary.ts'
import type { Bytes } from '../base/units.ts'

/** An object of a statement. `datatype` is left out for plain strings (W2.1). */
export interface Term {
  readonly type: 'uri' | 'literal' | 'bnode'
  readonly value: string
  readonly lang?: string
  readonly datatype?: string
}

/** Subject → predicate → objects, the shape of RDF/JSON. A set: no order, no doubles, no empty members. */
export type Graph = Readonly<Record<string, Readonly<Record<string, readonly Term[]>>>>

export interface Statement {
  readonly subject: string
  readonly predicate: string
  readonly object: Term
}

export const emptyGraph: Graph = {}

export const uri = (value: string): Term => ({ type: 'uri', value })
export const literal = (value: string, datatype?: string): Term =>
  datatype === undefined ? { type: 'literal', value } : { type: 'literal', value, datatype }

export function* statementsOf(graph: Graph): Generator<Statement> {
  for (const [subject, predicates] of Object.entries(graph)) {
    for (const [predicate, objects] of Object.entries(predicates)) {
      for (const object of objects) yield { subject, predicate, object }
    }
  }
}

/** The objects of one subject and predicate, possibly none. */
export const objectsOf = (graph: Graph, subject: string, predicate: string): readonly Term[] =>
  graph[subject]?.[predicate] ?? []

/** The graph of these statements, without duplicates. */
export function graphOf(statements: Iterable<Statement>): Graph {
  const graph: Record<string, Record<string, Term[]>> = {}
  /** For each array of more than {@link MAX_SCANNED} terms, their keys. */
  const known = new Map<readonly Term[], Set<string>>()
  for (const { subject, predicate, object } of statements) {
    const predicates = (graph[subject] ??= {})
    addTerm((predicates[predicate] ??= []), object, known)
  }
  return graph
}

/** Adds a term unless an equal one is there. */
function addTerm(terms: Term[], term: Term, known: Map<readonly Term[], Set<string>>): void {
  if (terms.length < MAX_SCANNED) {
    if (!terms.some(present => sameTerm(present, term))) terms.push(term)
    return
  }
  // In a body of the largest size, comparing each term with each other one would take minutes.
  const keys = known.get(terms) ?? new Set(terms.map(keyOf))
  known.set(terms, keys)
  const key = keyOf(term)
  if (keys.has(key)) return
  keys.add(key)
  terms.push(term)
}

const MAX_SCANNED = 16

// Only the value can contain a line break, and it comes last.
const keyOf = ({ type, value, lang = '', datatype = '' }: Term): string => `${type}\n${lang}\n${datatype}\n${value}`

const sameTerm = (a: Term, b: Term): boolean =>
  a.type === b.type && a.value === b.value && a.lang === b.lang && a.datatype === b.datatype

/** The prefix of the stored form of an IRI under the base address. No absolute IRI begins like this. */
export const RELATIVE = './'

/** The stored form of an IRI: relative when it lies under `base` (which ends in a slash), else unchanged. */
export const toRelative = (base: string, iri: string): string =>
  iri.startsWith(base) ? RELATIVE + iri.slice(base.length) : iri

/** The form of an IRI that clients see: absolute. */
export const toAbsolute = (base: string, iri: string): string =>
  iri.startsWith(RELATIVE) ? base + iri.slice(RELATIVE.length) : iri

/**
 * An absolute IRI: it has a scheme, and no characters that RFC 3987 never allows, nor halves of surrogate
 * pairs. The check is not stricter, because clients send principals with unusual IRIs. In every syntax an
 * absolute IRI is stored unchanged (W2.4).
 */
export const isAbsoluteIri = (text: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- control characters are just what is refused
  /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|\\^`]*$/.test(text) && text.isWellFormed()

/** The graph with its IRIs replaced; statements that become equal are merged. */
export const mapIris = (graph: Graph, map: (iri: string) => string): Graph => graphOf(mapped(graph, map))

function* mapped(graph: Graph, map: (iri: string) => string): Generator<Statement> {
  for (const { subject, predicate, object } of statementsOf(graph)) {
    yield {
      subject: map(subject),
      predicate: map(predicate),
      object: object.type === 'uri' ? { ...object, value: map(object.value) } : object,
    }
  }
}

/** The graph as the store keeps it: IRIs under `base` made relative. */
export const relativeGraph = (base: string, graph: Graph): Graph => mapIris(graph, iri => toRelative(base, iri))

/** The graph as clients see it: every IRI absolute. */
export const absoluteGraph = (base: string, graph: Graph): Graph => mapIris(graph, iri => toAbsolute(base, iri))

/** A graph as RDF/JSON, in the form in which it is stored: IRIs of this service are relative. */
export type GraphText = string

export const graphText = (graph: Graph): GraphText => JSON.stringify(graph)
export const parseGraph = (text: GraphText): Graph => parseStored<Graph>(text)

/**
 * The text with absolute IRIs, for the responses that contain a graph as it is stored. A relative IRI opens a key, or is the value of
 * a term of type `uri`; inside a string the quotes are escaped.
 * @param base ends in a slash
 */
export function absoluteText(base: string, text: GraphText): string {
  // Terms are stored with their type first. Another writer may have stored them otherwise.
  if (text.includes('{"value":')) return graphText(absoluteGraph(base, parseGraph(text)))
  return text
    .replaceAll('{"./', () => `{"${base}`)
    .replaceAll(',"./', () => `,"${base}`)
    .replaceAll('"uri","value":"./', () => `"uri","value":"${base}`)
}

/** The statements of a graph, with a mark in the labels of its blank nodes, so that they differ from blank nodes of other graphs. */
export function* statementsApart(graph: Graph, mark: string): Generator<Statement> {
  const apart = (value: string): string => (value.startsWith('_:') ? `_:${mark}-${value.slice(2)}` : value)
  for (const { subject, predicate, object } of statementsOf(graph)) {
    const term = object.type === 'bnode' ? { ...object, value: apart(object.value) } : object
    yield { subject: apart(subject), predicate, object: term }
  }
}

/**
 * Reads RDF/JSON from a client. Skips objects that lack `type` or `value` and removes duplicates; rejects anything else that
 * is not a graph.
 * @throws {InvalidInput} `invalid-graph`, naming the place
 */
export const parseRdfJson = (value: unknown): Graph => graphOf(statementsIn(value))

function* statementsIn(value: unknown): Generator<Statement> {
  for (const [subject, predicates] of membersOf(value, 'The graph')) {
    if (!isAbsoluteIri(subject) && !isBlank(subject)) throw invalid(`The subject "${subject}" is not an absolute IRI.`)
    for (const [predicate, objects] of membersOf(predicates, `The subject "${subject}"`)) {
      if (!isAbsoluteIri(predicate)) throw invalid(`The predicate "${predicate}" is not an absolute IRI.`)
      if (!Array.isArray(objects)) throw invalid(`The objects of "${predicate}" are not an array.`)
      for (const given of objects) yield { subject, predicate, object: readTerm(given, predicate) }
    }
  }
}

function membersOf(given: unknown, what: string): ReadonlyArray<[string, unknown]> {
  if (!isObject(given)) throw invalid(`${what} is not a JSON object.`)
  return Object.entries(given)
}

function readTerm(given: unknown, predicate: string): Term {
  if (!isObject(given)) throw invalid(`An object of "${predicate}" is not a JSON object with type and value.`)
  const text = (member: string, otherwise?: string): string => {
    const value = given[member] ?? otherwise
    if (typeof value === 'string') return value
    const problem = value === undefined ? 'missing' : 'not a string'
    throw invalid(`The ${member} of an object of "${predicate}" is ${problem}.`)
  }
  return termOf({ type: text('type'), value: text('value'), lang: text('lang', ''), datatype: text('datatype', '') })
}

interface GivenTerm {
  readonly type: string
  readonly value: string
  readonly lang: string
  readonly datatype: string
}

function termOf({ type, value: text, lang, datatype }: GivenTerm): Term {
  switch (type) {
    case 'uri':
      if (!isAbsoluteIri(text)) throw invalid(`The object "${text}" is not an absolute IRI.`)
      return { type, value: text }
    case 'bnode':
      return { type, value: isBlank(text) ? text : `_:${text}` }
    case 'literal':
      if (!text.isWellFormed()) throw invalid('A literal is not well-formed Unicode.')
      if (lang !== '') {
        if (!/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(lang)) throw invalid(`"${lang}" is not a language tag.`)
        return { type, value: text, lang }
      }
      if (datatype !== '' && datatype !== xsd.string && datatype !== xsd.langString) {
        if (!isAbsoluteIri(datatype)) throw invalid(`The datatype "${datatype}" is not an absolute IRI.`)
        return { type, value: text, datatype }
      }
      return { type, value: text }
    default:
      throw invalid(`"${type}" is not a type of RDF term; possible are uri, literal and bnode.`)
  }
}

const isBlank = (text: string): boolean => /^_:[^\s]+$/.test(text)

const invalid = (detail: string): InvalidInput => new InvalidInput('invalid-graph', detail)

/** Limits of one graph in any syntax. */
export interface GraphLimits {
  readonly maxStatements: number
  /** As RDF/JSON. */
  readonly maxSize: Bytes
}

/** A change reads and indexes the whole graph. Its size alone is no limit for that: 2 MB of Turtle can contain 300,000 statements. */
export const defaultGraphLimits: GraphLimits = { maxStatements: 25_000, maxSize: 8 * 2 ** 20 }

/** Returns the graph. @throws {TooLarge} `graph-too-large` */
export function requireGraphSize(graph: Graph, { maxStatements, maxSize }: GraphLimits): Graph {
  const { statements, bytes } = sizeOf(graph)
  if (statements > maxStatements) throw tooManyStatements(maxStatements)
  if (bytes > maxSize) throw tooLarge(`more than ${maxSize} bytes as RDF/JSON`, maxSize)
  return graph
}

export const tooManyStatements = (limit: number): TooLarge => tooLarge(`more than ${limit} statements`, limit)

const tooLarge = (what: string, limit: number): TooLarge =>
  new TooLarge('graph-too-large', `The graph has ${what}.`, { extra: { limit } })

/** How many statements, and about how many bytes of RDF/JSON. */
function sizeOf(graph: Graph): { readonly statements: number; readonly bytes: Bytes } {
  let [statements, bytes] = [0, 0]
  for (const [subject, predicates] of Object.entries(graph)) {
    bytes += Buffer.byteLength(subject)
    for (const [predicate, objects] of Object.entries(predicates)) {
      bytes += Buffer.byteLength(predicate)
      statements += objects.length
      for (const { value, lang = '', datatype = '' } of objects) {
        bytes += Buffer.byteLength(value) + lang.length + datatype.length
      }
    }
  }
  return { statements, bytes }
}
