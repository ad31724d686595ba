import type { HttpServices } from './http-services.ts'
import type { GraphReader } from '../graph/graph-reader.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { rateLimitKey } from '../accounts/caller.ts'
import { InvalidInput, TooLarge, UnsupportedType } from '../base/errors.ts'
import { isObject, jsonTypeOf, parseJson } from '../base/json.ts'
import { findSyntax, type Syntax } from '../graph/syntaxes.ts'
import { mediaTypeParameter } from './representations.ts'
import type { Bytes } from '../base/units.ts'
import { cachedMetadataUri, entryUri, metadataUri, resourceUri } from '../model/addresses.ts'
import { type CreationBody, type CreationRequest, NEW_ID } from '../content/resource-kind.ts'
import { entryTypes, type GraphType, graphTypes, holdsGraph } from '../model/entry.ts'
import { type Graph, parseRdfJson, RELATIVE } from '../graph/graph.ts'
import type { BaseAddress } from './base-address.ts'
import { custom, flagParameter, invalid, textParameter, type ValuesOf } from './interface/route.ts'
import type { Parameters } from './protocol/parameters.ts'
import { clientGoneSignal } from './protocol/response-end.ts'
import { pathParameter } from './bound-route.ts'

/**
 * Converts the graphs of a JSON body from the syntax that `rdfFormat` names (W3.0.4) to RDF/JSON. JSON-LD can
 * be a value or a text, any other syntax is a text.
 * @param bases for each member that is a graph: resolves its relative references
 * @throws {UnsupportedType} @throws {InvalidInput} `invalid-json`, `invalid-graph`
 */
async function graphsToRdfJson(
  { graphs }: { readonly graphs: GraphReader },
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
    body[member] = await graphs.read(syntax, typeof value === 'string' ? value : jsonText(value), base, {
      caller: rateLimitKey(request.caller),
    })
  }
  return jsonText(body)
}

/** The syntax that `rdfFormat` names, by default RDF/JSON. @throws {UnsupportedType} */
function syntaxOfMembers(request: FastifyRequest): Syntax {
  const format = mediaTypeParameter(request, 'rdfFormat') ?? 'application/rdf+json'
  const syntax = findSyntax(format)
  if (syntax) return syntax
  throw new UnsupportedType('unsupported-type', `\`rdfFormat\` is not a syntax of RDF: ${format.slice(0, 200)}.`)
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    // `JSON.parse` accepts a deeper nesting than `JSON.stringify`.
    throw new InvalidInput('invalid-json', 'The body is nested too deep.', { cause: error })
  }
}

const uriKeywords = { keywords: { format: 'uri' } }

/** Reads one of these words in any case (W1.4). */
const typeIn =
  <T extends string>(types: readonly T[], otherwise: T) =>
  (parameters: Parameters, name: string): T => {
    const text = parameters.get(name)?.toLowerCase() ?? ''
    const type = text === '' ? otherwise : types.find(known => known.toLowerCase() === text)
    if (type !== undefined) return type
    throw invalid(`\`${name}\` must be one of ${types.join(', ')}, but is "${text.slice(0, 40)}".`)
  }

/** The query of a request that creates an entry (W3.2.1). */
export const creationQuery = {
  id: textParameter('The requested id: A-Z, a-z, 0-9, `_` and `-`. Without it the entry gets the next number.', {
    keywords: { pattern: '^[A-Za-z0-9_-]+$', maxLength: 256 },
  }),
  entrytype: custom(
    'Entry type: where the resource and its metadata are. Default: Local.',
    typeIn(entryTypes, 'Local'),
    {
      keywords: { enum: entryTypes.map(type => type.toLowerCase()) },
    },
  ),
  graphtype: custom('The kind of the resource. Default: None.', typeIn(graphTypes, 'None'), {
    keywords: { enum: graphTypes.map(type => type.toLowerCase()) },
  }),
  resource: textParameter('URI of the resource, for each entry type except Local.', uriKeywords),
  'cached-external-metadata': textParameter(
    'URI of the external metadata, for a Reference or LinkReference.',
    uriKeywords,
  ),
  informationresource: textParameter('`false`: the resource is a thing, not a document.', {
    keywords: { enum: ['true', 'false'] },
  }),
  groupURI: textParameter(
    'Group that a new user joins. The caller needs the right to write to the group.',
    uriKeywords,
  ),
  list: textParameter('Resource URI of a list of this context. The entry becomes its last member.', uriKeywords),
  template: textParameter(
    'URI of an entry of this context whose metadata, without titles and descriptions, is added.',
    uriKeywords,
  ),
  rdfFormat: textParameter(
    'Syntax of the graphs in the body. A graph in JSON-LD is JSON, a graph in any other syntax is a text.',
  ),
  file: flagParameter('The body is the file of the new entry, described by `Content-Type` and `Content-Disposition`.'),
  mimeType: textParameter('With `file`: the media type of the file, instead of `Content-Type`.'),
}

/** Reads what a creation asks for. The body is only fetched when the service asks for it. */
export function readCreation(
  deps: Pick<HttpServices, 'base' | 'bodies' | 'options'> & { readonly graphs: GraphReader },
  request: FastifyRequest,
  reply: FastifyReply,
  query: ValuesOf<typeof creationQuery>,
): CreationRequest {
  const { base, bodies } = deps
  const graphType = query.graphtype
  const uriParameter = (name: 'cached-external-metadata' | 'groupURI' | 'list' | 'resource' | 'template') => {
    const value = query[name]
    // The stored form of an address of the service begins like this, so the value would be taken for one.
    if (value?.startsWith(RELATIVE))
      throw new InvalidInput(
        'invalid-uri',
        `The parameter \`${name}\` must be an absolute URI, but is "${value.slice(0, 140)}".`,
      )
    return value === undefined ? undefined : base.toRelative(value)
  }
  const readGraph = (value: unknown): Graph => base.relativeGraph(deps.graphs.requireSize(parseRdfJson(value)))
  return {
    id: query.id,
    resource: uriParameter('resource'),
    externalMetadata: uriParameter('cached-external-metadata'),
    entryType: query.entrytype,
    graphType,
    namedResource: query.informationresource === 'false',
    groupUris: [uriParameter('groupURI') ?? []].flat(),
    listUri: uriParameter('list'),
    templateUri: uriParameter('template'),
    body: async () => {
      const sent = await bodies.jsonText(request.raw, reply.raw)
      // Checked before the graphs are converted, which is costly; the converted text is checked again.
      requireRoom(sent, query.id?.length ?? 1, deps.options.body.maxJson)
      const bases = graphBases(base, pathParameter(request, 'context'), graphType)
      const isLong = sent.length > MAX_READ_HERE
      const text = isLong
        ? await readOnWorker(deps, request, reply, sent, bases)
        : await graphsToRdfJson(deps, request, sent, bases)
      const read = (text: string): CreationBody =>
        readBody(text, {
          isGraph: query.entrytype === 'Local' && holdsGraph({ graphType }),
          readGraph: isLong ? asRead : readGraph,
        })
      // Most bodies do not contain the id: they are parsed once, and their text is dropped.
      if (text.includes(NEW_ID)) return newId => read(withNewId(text, newId, deps.options.body.maxJson))
      const body = read(text)
      return () => body
    },
  }
}

/** A longer request is read on a worker thread, because the client determines how long this takes. */
const MAX_READ_HERE = 65_536

/**
 * Reads the graphs of the body on a worker thread. Returns the body as a text, because parsing a text is quicker than receiving an object
 * from another thread.
 */
async function readOnWorker(
  { base, graphs }: Pick<HttpServices, 'base'> & { readonly graphs: GraphReader },
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
  bases: Readonly<Record<string, string>>,
): Promise<string> {
  const syntax = syntaxOfMembers(request)
  const others = ['resource'].filter(member => !Object.hasOwn(bases, member))
  return await graphs.readMembers(
    syntax,
    text,
    { bases, others },
    {
      caller: rateLimitKey(request.caller),
      clientGone: () => clientGoneSignal(reply),
      relativeTo: base.href,
    },
  )
}

/** For graphs that the worker thread has read and checked. */
const asRead = (value: unknown): Graph => value as Graph

function withNewId(text: string, newId: string, limit: Bytes): string {
  requireRoom(text, newId.length, limit)
  return text.replaceAll(NEW_ID, newId)
}

/** The limit on bodies applies to the result, because an id is up to twenty times as long as its placeholder. @throws {TooLarge} */
function requireRoom(text: string, idLength: number, limit: Bytes): void {
  if (text.length + countOf(NEW_ID, text) * (idLength - NEW_ID.length) <= limit) return
  throw new TooLarge('body-too-large', `With every ${NEW_ID} replaced, the body has more than ${limit} characters.`, {
    extra: { limit },
  })
}

function countOf(part: string, text: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

/** The members of the body that are graphs, and the addresses that they will have. */
function graphBases(base: BaseAddress, context: string, graphType: GraphType): Record<string, string> {
  const address = { context, id: NEW_ID }
  return {
    metadata: base.toAbsolute(metadataUri(address)),
    info: base.toAbsolute(entryUri(address)),
    'cached-external-metadata': base.toAbsolute(cachedMetadataUri(address)),
    ...(holdsGraph({ graphType }) ? { resource: base.toAbsolute(resourceUri(address)) } : {}),
  }
}

interface BodyReading {
  /** Whether `resource` is a graph. */
  readonly isGraph: boolean
  readonly readGraph: (value: unknown) => Graph
}

function readBody(text: string, { isGraph, readGraph }: BodyReading): CreationBody {
  if (text.trim() === '') return {}
  const json = parseJson(text)
  if (!isObject(json))
    throw new InvalidInput('invalid-json', `The body of a creation must be a JSON object, but is ${jsonTypeOf(json)}.`)
  const { metadata, info, resource, 'cached-external-metadata': cached } = json
  return {
    ...(metadata === undefined ? {} : { metadata: readGraph(metadata) }),
    ...(cached === undefined ? {} : { cachedExternalMetadata: readGraph(cached) }),
    ...(info === undefined ? {} : { info: readGraph(info) }),
    ...(resource === undefined ? {} : { resource: isGraph ? readGraph(resource) : resource }),
  }
}
