import { InvalidInput, TooLarge } from '../base/errors.ts'
import { type Graph, parseRdfJson, tooManyStatements } from './graph.ts'
import { BlankLabels } from './text.ts'

/** A term from an RDF parser. This file decides which terms can be stored. */
export interface ParsedTerm {
  readonly termType: string
  readonly value: string
  readonly language?: string | undefined
  readonly direction?: string | null | undefined
  readonly datatype?: { readonly value: string } | undefined
}

export interface ParsedQuad {
  readonly subject: ParsedTerm
  readonly predicate: ParsedTerm
  readonly object: ParsedTerm
  readonly graph: ParsedTerm
}

/**
 * A prefix can stand for a megabyte and be used a million times, so the limit applies to the expanded graph. Four times the size of
 * a graph by default, because here a subject counts with each of its statements.
 */
const MAX_CHARACTERS = 32 * 1024 * 1024

/** @throws {TooLarge} when the terms of a graph have more characters than this together */
export function requireCharacters(count: number): void {
  if (count <= MAX_CHARACTERS) return
  throw new TooLarge('graph-too-large', `Written out, the graph has more than ${MAX_CHARACTERS} characters.`, {
    extra: { limit: MAX_CHARACTERS },
  })
}

interface BuilderOptions {
  /** `lower` when the parser writes every language tag in lower case: they are given their usual case back. */
  readonly tags?: 'as-written' | 'lower'
  /** Counted as they are written down, doubles too. */
  readonly maxStatements?: number | undefined
  /** The graph of this name counts as the default graph, because the service writes it with its name in some syntaxes. */
  readonly name?: string
}

/** Gathers what a parser finds into one graph, held to the same rules as RDF/JSON. Blank nodes get labels of our own. */
export class GraphBuilder {
  readonly #subjects: Record<string, Record<string, unknown[]>> = Object.create(null) as Record<string, never>
  readonly #labels = new BlankLabels()
  readonly #tag: (language: string) => string
  readonly #maxStatements: number
  readonly #name: string | undefined
  #characters = 0
  #statements = 0

  constructor({ tags = 'as-written', maxStatements = Number.POSITIVE_INFINITY, name }: BuilderOptions = {}) {
    this.#tag = tags === 'lower' ? usualCase : language => language
    this.#maxStatements = maxStatements
    this.#name = name
  }

  /** @throws {InvalidInput} `invalid-graph` for anything but a plain statement @throws {TooLarge} */
  add({ subject, predicate, object, graph }: ParsedQuad): void {
    const isOwn = graph.termType === 'NamedNode' && graph.value === this.#name
    if (graph.termType !== 'DefaultGraph' && !isOwn) {
      throw invalid(
        'Other graphs and formulas are not supported: send the statements in the default graph, or in one that is named by the address of this graph.',
      )
    }
    if (++this.#statements > this.#maxStatements) throw tooManyStatements(this.#maxStatements)
    this.#characters += subject.value.length + predicate.value.length + object.value.length
    requireCharacters(this.#characters)
    if (predicate.termType !== 'NamedNode') throw invalid('A predicate is not an IRI.')
    const predicates = (this.#subjects[this.#resource(subject)] ??= Object.create(null) as Record<string, never>)
    const term = this.#object(object)
    const objects = predicates[predicate.value]
    if (objects) objects.push(term)
    else predicates[predicate.value] = [term]
  }

  /** @throws {InvalidInput} `invalid-graph` */
  finish(): Graph {
    return parseRdfJson(this.#subjects)
  }

  #resource({ termType, value }: ParsedTerm): string {
    if (termType === 'NamedNode') return value
    if (termType === 'BlankNode') return `_:${this.#labels.of(value)}`
    throw invalid('Only IRIs and blank nodes can be subjects.')
  }

  #object(term: ParsedTerm): unknown {
    switch (term.termType) {
      case 'NamedNode':
        return { type: 'uri', value: term.value }
      case 'BlankNode':
        return { type: 'bnode', value: `_:${this.#labels.of(term.value)}` }
      case 'Literal':
        if (term.direction) throw invalid(`"${term.value.slice(0, 100)}" has a base direction, which cannot be stored.`)
        return {
          type: 'literal',
          value: term.value,
          lang: this.#tag(term.language ?? ''),
          datatype: term.datatype?.value,
        }
      default:
        throw invalid('Variables and statements about statements are not supported.')
    }
  }
}

/** `en-GB`, `zh-Hant` (RFC 5646 2.1.1). */
function usualCase(tag: string): string {
  let isFree = true
  return tag
    .split('-')
    .map((part, index) => {
      if (part.length === 1) isFree = false
      if (index === 0 || !isFree) return part
      if (part.length === 2) return part.toUpperCase()
      return part.length === 4 ? part.charAt(0).toUpperCase() + part.slice(1) : part
    })
    .join('-')
}

const invalid = (detail: string): InvalidInput => new InvalidInput('invalid-graph', detail)

const MAX_MESSAGE = 300

/** Turns an error of a parser into a refusal; refusals of this service are returned unchanged. */
export function refusalOf(error: unknown, syntax: string): Error {
  if (error instanceof InvalidInput || error instanceof TooLarge) return error
  const message = error instanceof Error ? error.message : String(error)
  const shown = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message
  return new InvalidInput('invalid-graph', `The body is not ${syntax}: ${shown}`, { cause: error })
}
