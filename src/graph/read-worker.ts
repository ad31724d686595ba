import { decodeUtf8 } from '../base/text.ts'
import { serveTasks } from '../workers/serve-tasks.ts'
import {
  type Graph,
  type GraphLimits,
  type GraphText,
  graphText,
  parseRdfJson,
  relativeGraph,
  requireGraphSize,
} from './graph.ts'
import { findSyntax, type Syntax } from './syntaxes.ts'
import { InvalidInput } from '../base/errors.ts'
import { isObject, jsonTypeOf, MAX_JSON_COST, parseJson, requireParsable } from '../base/json.ts'

export interface ReadTask {
  readonly mediaType: string
  /** Bytes are UTF-8. */
  readonly text: string | Uint8Array<ArrayBuffer>
  readonly base: string
  /** IRIs that begin with this become relative. */
  readonly relativeTo: string | undefined
  readonly limits: GraphLimits
  /** The text is a JSON object in which these members are graphs of that media type. */
  readonly members?: GraphMembers
}

/** Reads one graph, on a worker thread. */
serveTasks(read)

/**
 * The graph as text, which is parsed faster than many small objects are received from another thread.
 * @throws {InvalidInput} @throws {TooLarge}
 */
async function read({ mediaType, text, base, relativeTo, limits, members }: ReadTask): Promise<GraphText> {
  const syntax = findSyntax(mediaType)
  if (!syntax) throw new Error(`There is no syntax for ${mediaType}.`)
  const decoded = typeof text === 'string' ? text : decodeUtf8(text)
  if (members) return await graphMembersText(decoded, members, syntax, relativeTo ?? '', limits)
  const graph = requireGraphSize(await syntax.read(decoded, base, limits.maxStatements), limits)
  return graphText(relativeTo === undefined ? graph : relativeGraph(relativeTo, graph))
}

/** The members of a JSON object that are graphs, and the members that are kept unchanged. */
export interface GraphMembers {
  /** For each graph, the base of its relative references. */
  readonly bases: Readonly<Record<string, string>>
  readonly others: readonly string[]
}

/**
 * The text of a JSON object that has only these members: its graphs in RDF/JSON, checked, and with relative IRIs.
 * @param syntax of the graphs: RDF/JSON and JSON-LD are values, or texts like those of any other syntax
 * @param relativeTo IRIs that begin with this become relative
 * @throws {InvalidInput} `invalid-json`, `invalid-graph` @throws {TooLarge} `graph-too-large`, `body-too-large`
 */
async function graphMembersText(
  text: string,
  { bases, others }: GraphMembers,
  syntax: Syntax,
  relativeTo: string,
  limits: GraphLimits,
): Promise<string> {
  const body = parseJson(text)
  if (!isObject(body))
    throw new InvalidInput('invalid-json', `The body of a creation must be a JSON object, but is ${jsonTypeOf(body)}.`)
  const graphs: Record<string, Graph> = {}
  for (const [member, base] of Object.entries(bases)) {
    const value = body[member]
    if (value === undefined) continue
    const graph =
      syntax.name === 'json'
        ? parseRdfJson(value)
        : await syntax.read(typeof value === 'string' ? value : JSON.stringify(value), base, limits.maxStatements)
    graphs[member] = relativeGraph(relativeTo, requireGraphSize(graph, limits))
  }
  const rest = Object.fromEntries(others.map(member => [member, body[member]]))
  // The thread that asks for this text parses it in one step.
  requireParsable(JSON.stringify(rest), { maxCost: MAX_JSON_COST })
  return JSON.stringify({ ...graphs, ...rest })
}
