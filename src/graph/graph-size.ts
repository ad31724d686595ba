import { TooLarge } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import type { Graph } from './graph.ts'

/** Limits of one graph in any syntax: 2 MB of Turtle can contain 300,000 statements, 8 MB of JSON cannot. */
export interface GraphLimits {
  readonly maxStatements: number
  /** As RDF/JSON. */
  readonly maxSize: Bytes
}

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
