import { InvalidInput } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { xsd } from './vocabulary.ts'

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
  // Not `Object.entries`: a subject may have 50,000 predicates.
  for (const subject of Object.keys(graph)) {
    const predicates = graph[subject] ?? {}
    for (const predicate of Object.keys(predicates)) {
      for (const object of predicates[predicate] ?? []) yield { subject, predicate, object }
    }
  }
}

/** Like `Object.entries`, but one after the other, for objects with many members. */
export function* membersOf<T>(record: Readonly<Record<string, T>>): Generator<readonly [string, T]> {
  for (const key of Object.keys(record)) yield [key, record[key] as T]
}

/** The objects of one subject and predicate, possibly none. */
export const objectsOf = (graph: Graph, subject: string, predicate: string): readonly Term[] =>
  graph[subject]?.[predicate] ?? []

export function graphOf(statements: Iterable<Statement>): Graph {
  const graph: Record<string, Record<string, Term[]>> = {}
  const known: KnownKeys = new Map()
  for (const { subject, predicate, object } of statements) {
    const predicates = (graph[subject] ??= {})
    const objects = predicates[predicate]
    if (objects) addTerm(objects, object, known)
    // Most predicates have one object. For one that is added to an empty array the engine would reserve room for 17.
    else predicates[predicate] = [object]
  }
  return graph
}

/** The keys of the terms of long arrays. */
type KnownKeys = Map<readonly Term[], Set<string>>

/** Adds a term that is not among the others. */
function addTerm(terms: Term[], term: Term, known: KnownKeys): void {
  if (terms.length < MAX_SCANNED) {
    if (!terms.some(present => sameTerm(present, term))) terms.push(term)
    return
  }
  // Comparing each with each would take minutes for a body of the largest size.
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

/** What the stored form of an IRI under the base address begins with. No absolute IRI begins like this. */
export const RELATIVE = './'

/** The stored form of an IRI: relative when it lies under `base` (which ends in a slash), else unchanged. */
export const toRelative = (base: string, iri: string): string =>
  iri.startsWith(base) ? RELATIVE + iri.slice(base.length) : iri

/** The form of an IRI that clients see: absolute. */
export const toAbsolute = (base: string, iri: string): string =>
  iri.startsWith(RELATIVE) ? base + iri.slice(RELATIVE.length) : iri

/**
 * An absolute IRI: it has a scheme, and no characters that RFC 3987 never allows, nor halves of surrogate
 * pairs. The check is not stricter, because clients send principals with unusual IRIs, which are stored
 * unchanged (W2.4).
 */
export const isAbsoluteIri = (text: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- control characters are just what is refused
  /^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|\\^`]*$/.test(text) && text.isWellFormed() && !text.endsWith('.')

function mapIris(graph: Graph, map: (iri: string) => string): Graph {
  const result: Record<string, Record<string, readonly Term[]>> = {}
  for (const [subject, predicates] of Object.entries(graph)) {
    const mapped: Record<string, readonly Term[]> = {}
    for (const [predicate, objects] of Object.entries(predicates)) {
      mapped[map(predicate)] = objects.map(term => (term.type === 'uri' ? { ...term, value: map(term.value) } : term))
    }
    result[map(subject)] = mapped
  }
  return result
}

/** The graph with some IRIs replaced; statements that become equal are merged. */
export const renameIris = (graph: Graph, rename: (iri: string) => string): Graph =>
  graphOf(
    [...statementsOf(graph)].map(({ subject, predicate, object }) => ({
      subject: rename(subject),
      predicate: rename(predicate),
      object: object.type === 'uri' ? { ...object, value: rename(object.value) } : object,
    })),
  )

/** The graph as the store keeps it: IRIs under `base` made relative. */
export const relativeGraph = (base: string, graph: Graph): Graph => mapIris(graph, iri => toRelative(base, iri))

/** The graph as clients see it: every IRI absolute. */
export const absoluteGraph = (base: string, graph: Graph): Graph => mapIris(graph, iri => toAbsolute(base, iri))

/** A graph as RDF/JSON, in the form in which it is stored: IRIs of this service are relative. */
export type GraphText = string

/** The text from which a graph was read, or which was made of it: a graph never changes, so neither does its text. */
const texts = new WeakMap<Graph, GraphText>()

export function graphText(graph: Graph): GraphText {
  const known = texts.get(graph)
  if (known !== undefined) return known
  const text = JSON.stringify(graph)
  texts.set(graph, text)
  return text
}

export const parseGraph = (text: GraphText): Graph => withText(JSON.parse(text) as Graph, text)

/** The graph, which has been read from this text. */
export function withText(graph: Graph, text: GraphText): Graph {
  texts.set(graph, text)
  return graph
}

const URI_VALUE = '{"type":"uri","value":'

/**
 * A stored text with absolute IRIs, made without parsing it. A relative IRI is where `"./` opens a key (after a brace or
 * comma) or the value of a term of type `uri`; inside a string the quotes are escaped.
 * @param base ends in a slash
 */
export function absoluteText(base: string, text: GraphText): string {
  // Not together with the quote: a search stops at each first character, and quotes are what a text of JSON has most of.
  let at = text.indexOf(RELATIVE)
  if (at < 0) return text
  // Terms are stored with their type first. Another writer may have stored them otherwise.
  if (text.includes('{"value":')) return JSON.stringify(absoluteGraph(base, parseGraph(text)))
  let [absolute, copied] = ['', 0]
  for (; at >= 0; at = text.indexOf(RELATIVE, at + 1)) {
    if (!beginsIri(text, at)) continue
    absolute += text.slice(copied, at) + base
    copied = at + RELATIVE.length
  }
  return absolute + text.slice(copied)
}

/** Relative IRIs that get another form, each of them a different one. */
export type RenamedIris = ReadonlyMap<string, string>

/**
 * A stored text with some of its relative IRIs renamed, made without parsing it.
 * @returns `undefined` where it has one of the new forms already: its statements have to be read, because some may become equal
 */
export function renamedText(
  text: GraphText,
  iris: RenamedIris,
  isNew: (iri: string) => boolean,
): GraphText | undefined {
  // Terms are stored with their type first. Another writer may have stored them otherwise.
  if (text.includes('{"value":')) return undefined
  let [renamed, copied] = ['', 0]
  for (let at = text.indexOf(RELATIVE); at >= 0; at = text.indexOf(RELATIVE, at + 1)) {
    if (!beginsIri(text, at)) continue
    const end = text.indexOf('"', at)
    const iri = text.slice(at, end)
    if (isNew(iri)) return undefined
    const form = iris.get(iri)
    if (form === undefined) continue
    renamed += text.slice(copied, at) + form
    copied = end
  }
  return renamed + text.slice(copied)
}

function beginsIri(text: GraphText, at: number): boolean {
  const quote = at - 1
  if (text[quote] !== '"') return false
  const before = text[quote - 1]
  return before === '{' || before === ',' || text.startsWith(URI_VALUE, quote - URI_VALUE.length)
}

/**
 * The reverse of {@link absoluteText}: the text of a graph from {@link parseRdfJson}, with IRIs under `base` made relative, without
 * another copy of its objects. It is made in pieces, because each step copies what it is given.
 */
export function* relativeText(base: string, graph: Graph): Generator<string> {
  const quoted = JSON.stringify(base).slice(0, -1)
  let opening = '{'
  for (const [subject, predicates] of membersOf(graph)) {
    yield `${opening}${JSON.stringify(toRelative(base, subject))}:{`
    opening = '},'
    let next = ''
    for (const few of inBatches(predicates)) {
      yield next
      yield* relativePieces(JSON.stringify(few), quoted)
      next = ','
    }
  }
  yield opening === '{' ? '{}' : '}}'
}

/** The predicates with their objects, some hundred statements at a time. */
function* inBatches(predicates: Graph[string]): Generator<Graph[string]> {
  let [few, statements]: [Record<string, readonly Term[]>, number] = [{}, 0]
  for (const [predicate, objects] of membersOf(predicates)) {
    few[predicate] = objects
    statements += objects.length
    if (statements < BATCH) continue
    yield few
    ;[few, statements] = [{}, 0]
  }
  if (statements > 0) yield few
}

const BATCH = 500

/** The text of predicates and objects without its braces. A piece ends before a term: inside a string the quotes are escaped. */
function* relativePieces(text: string, quoted: string): Generator<string> {
  const end = text.length - 1
  for (let from = 0, to = 0; from < end; from = to) {
    to = text.indexOf('{"type":', from + PIECE)
    if (to < 0) to = end
    const piece = text.slice(from, to)
    const relative = piece.includes(quoted)
      ? piece
          .replaceAll(`{${quoted}`, `{"${RELATIVE}`)
          .replaceAll(`,${quoted}`, `,"${RELATIVE}`)
          .replaceAll(`${URI_VALUE}${quoted}`, `${URI_VALUE}"${RELATIVE}`)
      : piece
    yield from === 0 ? relative.slice(1) : relative
  }
}

const PIECE = 65_536

/**
 * Reads RDF/JSON from a client. Skips objects without `type` or `value` and removes duplicates; rejects anything else that
 * is not a graph. What needs no change becomes part of the graph as it is, so that a large graph is not in memory twice: change
 * nothing in `value` afterwards.
 * @throws {InvalidInput} `invalid-graph`, naming the place
 */
export function parseRdfJson(value: unknown): Graph {
  const known: KnownKeys = new Map()
  const read = readMembers(value, 'The graph', (subject, predicates) => {
    if (!isAbsoluteIri(subject) && !isBlank(subject)) throw invalid(`The subject "${subject}" is not an absolute IRI.`)
    return readMembers(predicates, `The subject "${subject}"`, (predicate, objects) => {
      if (!isAbsoluteIri(predicate)) throw invalid(`The predicate "${predicate}" is not an absolute IRI.`)
      if (!Array.isArray(objects)) throw invalid(`The objects of "${predicate}" are not an array.`)
      return readTerms(objects, known)
    })
  })
  return read ?? {}
}

function readMembers<T>(
  given: unknown,
  what: string,
  read: (name: string, value: unknown) => T | undefined,
): Record<string, T> | undefined {
  if (!isObject(given)) throw invalid(`${what} is not a JSON object.`)
  return membersAfter(given, read)
}

/** The members that have a value, in the object that was given if it has no others; `undefined`: none. */
function membersAfter<T, U>(
  given: Readonly<Record<string, T>>,
  read: (name: string, value: T) => U | undefined,
): Record<string, U> | undefined {
  let changed: Record<string, U> | undefined = Object.getPrototypeOf(given) === Object.prototype ? undefined : {}
  let count = 0
  const names = Object.keys(given)
  for (const [at, name] of names.entries()) {
    const value = read(name, given[name] as T)
    if (value !== undefined) count++
    if (!changed && (value as unknown) === given[name]) continue
    changed ??= Object.fromEntries(names.slice(0, at).map(before => [before, given[before] as unknown as U]))
    if (value !== undefined) changed[name] = value
  }
  return count === 0 ? undefined : (changed ?? (given as unknown as Record<string, U>))
}

/** The statements that are wanted. What stays as it is is not copied, and a graph of which all stays is returned itself, with its text. */
export const selectStatements = (graph: Graph, isWanted: (statement: Statement) => boolean): Graph =>
  membersAfter(graph, (subject, predicates) =>
    membersAfter(predicates, (predicate, objects) => {
      const wanted = objects.filter(object => isWanted({ subject, predicate, object }))
      if (wanted.length === objects.length) return objects
      return wanted.length === 0 ? undefined : wanted
    }),
  ) ?? emptyGraph

function readTerms(objects: readonly unknown[], known: KnownKeys): readonly Term[] | undefined {
  let terms: Term[] | undefined
  for (const object of objects) {
    const term = readTerm(object)
    if (!term) continue
    if (terms) addTerm(terms, term, known)
    else terms = [term]
  }
  const isSame = terms?.length === objects.length && terms.every((term, at) => term === objects[at])
  return isSame ? (objects as readonly Term[]) : terms
}

/** The given object, if it is the term in the form in which it is stored. */
function asGiven(given: Readonly<Record<string, unknown>>, term: Term): Term {
  const names = Object.keys(given)
  let at = 0
  for (const name of Object.keys(term) as Array<keyof Term>) {
    if (names[at] !== name || given[name] !== term[name]) return term
    at++
  }
  return at === names.length ? (given as unknown as Term) : term
}

function readTerm(given: unknown): Term | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const { type, value, lang, datatype } = given as Record<string, unknown>
  if (typeof type !== 'string' || typeof value !== 'string') return undefined
  return asGiven(given as Record<string, unknown>, termOf({ type, value, lang, datatype }))
}

interface GivenTerm {
  readonly type: string
  readonly value: string
  readonly lang: unknown
  readonly datatype: unknown
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
      if (typeof lang === 'string' && lang !== '') {
        if (!/^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/.test(lang)) throw invalid(`"${lang}" is not a language tag.`)
        return { type, value: text, lang }
      }
      if (typeof datatype === 'string' && datatype !== '' && datatype !== xsd.string && datatype !== xsd.langString) {
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
