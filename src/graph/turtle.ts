import type { ParserOptions } from 'n3'
import { GraphBuilder, type ParsedTerm, refusalOf, requireCharacters } from './graph-builder.ts'
import { type Graph, tooManyStatements } from './graph.ts'
import { BlankLabels, bracketed, isBlankLabel, literal, subjectsOf } from './text.ts'
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
  const builder = new GraphBuilder('as-written', maxStatements)
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
 * Plain terms that are counted, because the library returns all statements at once. The characters of names count here too: the
 * library joins a prefix and a name into one text for each use, in N3 as soon as it has read it.
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

/** Makes plain terms for the parser: those of the library write language tags in lower case. */
export function plainTerms() {
  let fresh = 0
  const named = (value: string): IdentifiedTerm => ({ termType: 'NamedNode', value, id: value })
  const defaultGraph: ParsedTerm = { termType: 'DefaultGraph', value: '' }
  return {
    namedNode: named,
    // Labels that the document gives have a prefix of the parser's, so these are never one of them.
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

/** Subjects in blocks, well-known namespaces with their prefixes. Good as TriG and N3 too. */
export function* writeTurtle(graph: Graph): Generator<string> {
  const labels = new BlankLabels()
  const used = usedPrefixes(graph)
  const iri = (value: string): string => shortened(value, used) ?? bracketed(value)
  const resource = (value: string): string => (isBlankLabel(value) ? `_:${labels.of(value)}` : iri(value))

  for (const [prefix, namespace] of used) yield `@prefix ${prefix}: <${namespace}> .\n`
  for (const [subject, predicates] of subjectsOf(graph)) {
    yield `\n${resource(subject)}`
    let separator = '\n'
    for (const [predicate, objects] of predicates) {
      if (objects.length === 0) continue
      yield `${separator}  ${predicate === rdf.type ? 'a' : iri(predicate)} `
      for (const [index, object] of objects.entries()) {
        const written = object.type === 'literal' ? literal(object, iri) : resource(object.value)
        yield index === 0 ? written : `, ${written}`
      }
      separator = ' ;\n'
    }
    yield ' .\n'
  }
}

function usedPrefixes(graph: Graph): Array<[prefix: string, namespace: string]> {
  const found = new Set<string>()
  const note = (iri: string | undefined): void => {
    const name = iri === undefined ? undefined : splitKnown(iri)
    if (name) found.add(name.prefix)
  }
  for (const [subject, predicates] of subjectsOf(graph)) {
    note(subject)
    for (const [predicate, objects] of predicates) {
      if (predicate !== rdf.type) note(predicate)
      for (const object of objects) note(object.type === 'uri' ? object.value : object.datatype)
    }
  }
  return Object.entries(prefixes).filter(([prefix]) => found.has(prefix))
}

const shortened = (iri: string, used: ReadonlyArray<readonly [string, string]>): string | undefined => {
  const name = splitKnown(iri)
  return name && used.some(([prefix]) => prefix === name.prefix) ? `${name.prefix}:${name.local}` : undefined
}

function splitKnown(iri: string): { readonly prefix: string; readonly local: string } | undefined {
  for (const [prefix, namespace] of Object.entries(prefixes)) {
    if (!iri.startsWith(namespace)) continue
    const local = iri.slice(namespace.length)
    // Narrower than Turtle allows, so that nothing needs an escape.
    if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(local)) return { prefix, local }
  }
  return undefined
}
