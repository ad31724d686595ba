import { type Graph, statementsOf, type Term } from './graph.ts'
import { NotAcceptable } from '../base/errors.ts'

/** Escapes that Turtle and N-Triples share. */
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const codePoint = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

export const quoted = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are just what is escaped
  `"${text.replaceAll(/["\\\u0000-\u001f\u007f]/g, found => escapes[found] ?? codePoint(found))}"`

export const bracketed = (iri: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are just what is escaped
  `<${iri.replaceAll(/[\u0000-\u0020<>"{}|\\^`]/g, codePoint)}>`

/** Numbers blank nodes, because stored labels may contain characters that a syntax does not allow. */
export class BlankLabels {
  readonly #known = new Map<string, string>()
  readonly #start: number

  /** @param start the first number to use, if earlier graphs of the same document have used the numbers before it */
  constructor(start = 0) {
    this.#start = start
  }

  /** The first number that is free after these. */
  get next(): number {
    return this.#start + this.#known.size
  }

  /** The label without its `_:`. */
  of(label: string): string {
    const known = this.#known.get(label)
    if (known !== undefined) return known
    const given = `b${this.next}`
    this.#known.set(label, given)
    return given
  }
}

export const isBlankLabel = (subject: string): boolean => subject.startsWith('_:')

/** The address of a graph. */
export interface GraphPlace {
  readonly iri: string
  /** Of the service; ends in a slash. */
  readonly base: string
}

/** Subjects with their statements, in the order of the graph. */
export const subjectsOf = (graph: Graph): Array<[string, Array<[string, readonly Term[]]>]> =>
  Object.entries(graph).map(([subject, predicates]) => [subject, Object.entries(predicates)])

/** Statement by statement, one to a line. */
export function* writeNTriples(graph: Graph, _place?: GraphPlace, labels = new BlankLabels()): Generator<string> {
  const resource = (value: string): string => (isBlankLabel(value) ? `_:${labels.of(value)}` : bracketed(value))
  for (const { subject, predicate, object } of statementsOf(graph)) {
    const written = object.type === 'literal' ? literal(object, bracketed) : resource(object.value)
    yield `${resource(subject)} ${bracketed(predicate)} ${written} .\n`
  }
}

export function literal({ value, lang, datatype }: Term, iri: (value: string) => string): string {
  if (lang !== undefined) return `${quoted(value)}@${lang}`
  return datatype === undefined ? quoted(value) : `${quoted(value)}^^${iri(datatype)}`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * Escapes text for content and attributes. A parser would turn a bare carriage return into another line end,
 * so it is escaped too.
 * @throws {NotAcceptable} for characters that XML does not allow
 */
export function escaped(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are just what XML cannot hold
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) {
    throw unwritable('it contains a character that XML does not allow')
  }
  return text.replaceAll(/[&<>"\r]/g, found => entities[found] ?? '&#13;')
}

export const unwritable = (reason: string): NotAcceptable =>
  new NotAcceptable('not-acceptable', `This graph cannot be written in XML: ${reason}.`)
