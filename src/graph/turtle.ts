import type { ParserOptions } from 'n3'
import { GraphBuilder, type ParsedTerm, refusalOf, requireCharacters } from './graph-builder.ts'
import { type Graph, tooManyStatements } from './graph.ts'
import { BlankLabels, bracketed, type GraphPlace, isBlankLabel, literal, subjectsOf } from './text.ts'
import { prefixes, rdf } from './vocabulary.ts'

/** The syntaxes of the Turtle family, by the names their parser knows. */
type TurtleSyntax = 'Turtle' | 'N-Triples' | 'TriG' | 'N3'

/** @throws {InvalidInput} `invalid-graph`, naming the line */
export async function readTurtle(
  text: string,
  base: string,
  syntax: TurtleSyntax,
  maxStatements?: number,
): Promise<Graph> {
  const { Parser } = await import('n3')
  const builder = new GraphBuilder({ maxStatements, name: base })
  try {
    // N-Triples has no relative references, and its parser wants no base.
    const baseIRI = syntax === 'N-Triples' ? {} : { baseIRI: base }
    const parser = new Parser({
      ...baseIRI,
      format: syntax,
      factory: limitedTerms(maxStatements) as ParserOptions['factory'],
    })
    for (const quad of parser.parse(text)) builder.add(quad)
    return builder.finish()
  } catch (error) {
    throw refusalOf(error, syntax)
  }
}

interface IdentifiedTerm extends ParsedTerm {
  /** The parser knows quantified names of N3 again by it, and quotes it. */
  readonly id: string
}

/**
 * Plain terms that are counted, because the library returns all statements at once. The characters of names are counted too, because the
 * library joins prefix and name into one text for each use, in N3 as soon as it has read the name.
 * @throws {TooLarge} while it parses
 */
function limitedTerms(maxStatements = Number.POSITIVE_INFINITY): unknown {
  const terms = plainTerms()
  let statements = 0
  let characters = 0
  return {
    ...terms,
    namedNode: (value: string) => {
      requireCharacters((characters += value.length))
      return terms.namedNode(value)
    },
    quad: (...parts: Parameters<typeof terms.quad>) => {
      if (++statements > maxStatements) throw tooManyStatements(maxStatements)
      return terms.quad(...parts)
    },
  }
}

/** Makes plain terms for the parser: the library's own terms write language tags in lower case. */
export function plainTerms() {
  let fresh = 0
  const named = (value: string): IdentifiedTerm => ({ termType: 'NamedNode', value, id: value })
  const defaultGraph: ParsedTerm = { termType: 'DefaultGraph', value: '' }
  return {
    namedNode: named,
    // The parser adds a prefix to labels of the document, so these labels never collide with them.
    blankNode: (label = `fresh ${fresh++}`): IdentifiedTerm => ({
      termType: 'BlankNode',
      value: label,
      id: `_:${label}`,
    }),
    variable: (value: string): IdentifiedTerm => ({ termType: 'Variable', value, id: `?${value}` }),
    literal: (value: string, suffix?: string | ParsedTerm | { readonly language?: string }): ParsedTerm => {
      if (suffix === undefined) return { termType: 'Literal', value }
      if (typeof suffix === 'string') return { termType: 'Literal', value, language: suffix }
      if ('termType' in suffix) return { termType: 'Literal', value, datatype: suffix }
      return { termType: 'Unknown', value }
    },
    defaultGraph: () => defaultGraph,
    quad: (subject: ParsedTerm, predicate: ParsedTerm, object: ParsedTerm, graph = defaultGraph) => ({
      termType: 'Quad',
      value: '',
      subject,
      predicate,
      object,
      graph,
    }),
  }
}

type Prefixes = ReadonlyArray<readonly [prefix: string, namespace: string]>

/** The prefixes that graphs under this base address may use; clients know the prefix `store` for the base. */
export const knownPrefixes = (base: string | undefined): Prefixes =>
  Object.entries(base === undefined ? prefixes : { ...prefixes, store: base })

export const prefixLines = (declared: Prefixes): string =>
  declared.map(([prefix, namespace]) => `@prefix ${prefix}: <${namespace}> .\n`).join('')

/** Subjects in blocks, well-known namespaces with their prefixes. Good as TriG and N3 too. */
export function* writeTurtle(graph: Graph, place?: GraphPlace): Generator<string> {
  const used = usedPrefixes(graph, knownPrefixes(place?.base))
  yield prefixLines(used)
  yield* turtleBlocks(graph, used, new BlankLabels())
}

/** The blocks of a graph, in a document that declares these prefixes. */
export function* turtleBlocks(graph: Graph, declared: Prefixes, labels: BlankLabels): Generator<string> {
  const iri = (value: string): string => {
    const name = splitKnown(value, declared)
    return name ? `${name.prefix}:${name.local}` : bracketed(value)
  }
  const resource = (value: string): string => (isBlankLabel(value) ? `_:${labels.of(value)}` : iri(value))
  for (const [subject, predicates] of subjectsOf(graph)) {
    yield `\n${resource(subject)}`
    let separator = ' '
    for (const [predicate, objects] of typeFirst(predicates)) {
      if (objects.length === 0) continue
      yield `${separator}${predicate === rdf.type ? 'a' : iri(predicate)} `
      for (const [index, object] of objects.entries()) {
        const written = object.type === 'literal' ? literal(object, iri) : resource(object.value)
        yield index === 0 ? written : `, ${written}`
      }
      separator = ';\n  '
    }
    yield ' .\n'
  }
}

/** The type of a thing is the first that a reader wants to know. */
const typeFirst = (predicates: Described): Described => [
  ...predicates.filter(([predicate]) => predicate === rdf.type),
  ...predicates.filter(([predicate]) => predicate !== rdf.type),
]

type Described = ReturnType<typeof subjectsOf>[number][1]

function usedPrefixes(graph: Graph, known: Prefixes): Prefixes {
  const found = new Set<string>()
  const note = (iri: string | undefined): void => {
    const name = iri === undefined ? undefined : splitKnown(iri, known)
    if (name) found.add(name.prefix)
  }
  for (const [subject, predicates] of subjectsOf(graph)) {
    note(subject)
    for (const [predicate, objects] of predicates) {
      if (predicate !== rdf.type) note(predicate)
      for (const object of objects) note(object.type === 'uri' ? object.value : object.datatype)
    }
  }
  return known.filter(([prefix]) => found.has(prefix))
}

function splitKnown(iri: string, known: Prefixes): { readonly prefix: string; readonly local: string } | undefined {
  for (const [prefix, namespace] of known) {
    if (!iri.startsWith(namespace)) continue
    const local = iri.slice(namespace.length)
    // Narrower than Turtle allows, so that nothing needs an escape.
    if (/^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(local)) return { prefix, local }
  }
  return undefined
}
