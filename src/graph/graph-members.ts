import { InvalidInput } from '../base/errors.ts'
import { isObject, MAX_JSON_COST, parseJson, requireParsable, jsonTypeOf } from '../base/json.ts'
import { type Graph, parseRdfJson, relativeGraph } from './graph.ts'
import { type GraphLimits, requireGraphSize } from './graph-size.ts'
import type { Syntax } from './syntaxes.ts'

/** The members of a JSON object that are graphs, and those that are kept as they are. */
export interface GraphMembers {
  /** For each graph, what resolves its relative references. */
  readonly bases: Readonly<Record<string, string>>
  readonly others: readonly string[]
}

/**
 * The text of a JSON object that has only these members: its graphs in RDF/JSON, checked, and with relative IRIs.
 * @param syntax of the graphs: RDF/JSON and JSON-LD are values, or texts like those of any other syntax
 * @param relativeTo IRIs that begin with this become relative
 * @throws {InvalidInput} `invalid-json`, `invalid-graph` @throws {TooLarge} `graph-too-large`, `body-too-large`
 */
export async function graphMembersText(
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
