/** An IRI as written in the file, or a blank node as `_:label`. */
export type Resource = string

/** A resource, or a literal: its value, language tag and datatype IRI; plain strings have neither. */
export type ObjectTerm = Resource | readonly [value: string, lang?: string | null, datatype?: string]

/** The possible problems of one statement. */
type StatementProblem = 'unreadable-statement' | 'illegal-xml-character' | 'bad-iri'

/** Receives what a reader finds, in the order of the file. */
export interface QuadSink {
  /** @param graph the IRI of the graph; `undefined` is the default graph */
  quad(subject: Resource, predicate: string, object: ObjectTerm, graph: string | undefined): void
  /** @param place the position in the file; never a literal, which may be a secret */
  problem(problem: StatementProblem, place: string): void
}

/** A file that cannot be imported. `code` is stable; the message says why. */
export class Unusable extends Error {
  readonly code: string

  constructor(code: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'Unusable'
    this.code = code
  }
}

export const truncated = (what: string): Unusable => new Unusable('truncated', what)

const XSD_STRING = 'http://www.w3.org/2001/XMLSchema#string'
const RDF_LANG_STRING = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString'

/** A literal in its short form. */
export function literalOf(value: string, lang: string | null | undefined, datatype: string | undefined): ObjectTerm {
  if (lang !== undefined && lang !== null && lang !== '') return [value, lang]
  if (datatype === undefined || datatype === '' || datatype === XSD_STRING || datatype === RDF_LANG_STRING)
    return [value]
  return [value, null, datatype]
}

/** Passes on a valid statement. Reports one with a term that is missing or not allowed in its place, such as a literal as the subject. */
export function emit(sink: QuadSink, terms: ReadonlyArray<ObjectTerm | undefined>): void {
  const [subject, predicate, object, graph] = terms
  const isNamed = graph === undefined || typeof graph === 'string'
  if (typeof subject === 'string' && typeof predicate === 'string' && object !== undefined && isNamed) {
    sink.quad(subject, predicate, object, graph)
  } else sink.problem('unreadable-statement', typeof graph === 'string' ? `graph ${graph}` : 'default graph')
}
