import type { FastifyRequest } from 'fastify'
import { shareOf } from '../accounts/caller.ts'
import { InvalidInput, UnsupportedType } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { isObject } from '../base/json.ts'
import { findSyntax, type Syntax } from '../graph/syntaxes.ts'
import { mediaTypeParameter } from './rdf.ts'
import type { Uses } from './services.ts'

/**
 * Converts the graphs of a JSON body from the syntax that `rdfFormat` names (W3.0.4) to RDF/JSON. JSON-LD can
 * be a value or a text, any other syntax is a text.
 * @param bases for each member that is a graph: resolves its relative references
 * @throws {UnsupportedType} @throws {InvalidInput} `invalid-json`, `invalid-graph`
 */
export async function graphsToRdfJson(
  { graphs }: Uses<'graphs'>,
  request: FastifyRequest,
  text: string,
  bases: Readonly<Record<string, string>>,
): Promise<string> {
  if (text.trim() === '') return text
  const syntax = syntaxOfMembers(request)
  if (syntax.name === 'json') return text
  const body = parseJson(text)
  if (!isObject(body)) return text
  for (const [member, base] of Object.entries(bases)) {
    const value = body[member]
    if (value === undefined) continue
    body[member] = await graphs.read(syntax, typeof value === 'string' ? value : written(value), base, {
      caller: shareOf(request.caller),
    })
  }
  return written(body)
}

/** The syntax that `rdfFormat` names, by default RDF/JSON. @throws {UnsupportedType} */
export function syntaxOfMembers(request: FastifyRequest): Syntax {
  const format = mediaTypeParameter(request, 'rdfFormat') ?? 'application/rdf+json'
  const syntax = findSyntax(format)
  if (syntax) return syntax
  throw new UnsupportedType('unsupported-type', `\`rdfFormat\` is not a syntax of RDF: ${format.slice(0, 200)}.`)
}

function written(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    // The engine reads depths that it cannot write.
    throw new InvalidInput('invalid-json', 'The body is nested too deep.', { cause: error })
  }
}
