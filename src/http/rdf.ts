import type { FastifyReply, FastifyRequest } from 'fastify'
import { shareOf } from '../accounts/caller.ts'
import { InvalidInput, NotAcceptable, UnsupportedType } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import { decodeUtf8, isBlankUtf8 } from '../base/text.ts'
import { type Graph, parseRdfJson } from '../graph/graph.ts'
import { describeJsonLd } from '../graph/json-ld.ts'
import { findSyntax, type Syntax, syntaxes } from '../graph/syntaxes.ts'
import type { EntryAddress } from '../model/addresses.ts'
import type { ShownGraph, EntryView, ResourceView } from '../content/resource-kind.ts'
import { announcesBody, clientGoneSignal, mediaTypeOf } from './protocol/body.ts'
import type { BaseAddress } from './base-address.ts'
import { addVary, preferenceAmong } from './protocol/negotiate.ts'
import { custom } from './interface/route.ts'
import type { Uses } from './services.ts'

const JSON_TYPE = 'application/json'
const JSON_LD = 'application/ld+json'

/** JSON first: the answer to a client without a preference (W3.3.1). */
export const mediaTypes = [
  JSON_TYPE,
  ...syntaxes.flatMap(({ mediaTypes }) => mediaTypes).filter(type => type !== JSON_TYPE),
]

const preferredType = preferenceAmong(mediaTypes)

/** How a graph is answered. */
export interface Representation {
  readonly mediaType: string
  /** The media type with its parameter, as the header of the answer has it. */
  readonly contentType: string
  readonly syntax: Syntax
}

const representations: ReadonlyMap<string, Representation> = new Map(
  syntaxes.flatMap(syntax =>
    syntax.mediaTypes.map(mediaType => [mediaType, { mediaType, contentType: `${mediaType}; charset=utf-8`, syntax }]),
  ),
)

/**
 * What the caller wants: `format`, else `Accept` (W3.0.4). Notes that the answer depends on it.
 * @throws {NotAcceptable}
 */
export function representationFor(request: FastifyRequest, reply: FastifyReply): Representation {
  addVary(reply, 'Accept')
  const format = mediaTypeParameter(request, 'format')
  const mediaType = format ?? preferredType(request)
  const representation = mediaType === undefined ? undefined : representations.get(mediaType)
  if (representation) return representation
  const asked = format ?? request.headers.accept ?? ''
  throw new NotAcceptable(
    'not-acceptable',
    `This is available as ${mediaTypes.join(', ')}, not ${asked.slice(0, 200)}.`,
  )
}

/** True where the answer is the JSON that clients get by default. */
export const isPlainJson = ({ mediaType }: Representation): boolean => mediaType === JSON_TYPE

/** The form of graphs inside other JSON: RDF/JSON (`undefined`), or with `rdfFormat` JSON-LD (W3.0.4). @throws {NotAcceptable} */
export function embeddedGraphs(request: FastifyRequest): GraphForm | undefined {
  const format = mediaTypeParameter(request, 'rdfFormat')
  if (format === JSON_LD) return describeJsonLd
  if (format === undefined || findSyntax(format)?.name === 'json') return undefined
  throw new NotAcceptable(
    'not-acceptable',
    `Inside JSON a graph is RDF/JSON or ${JSON_LD}, not ${format.slice(0, 200)}.`,
  )
}

/** A media type as clients write it: the `+` in it is not always escaped (W3.0.1), parameters are passed over. */
export function mediaTypeParameter(request: FastifyRequest, name: 'format' | 'rdfFormat'): string | undefined {
  const given = request.parameters.get(name)?.split(';')[0]?.trim().replaceAll(' ', '+').toLowerCase()
  return given === '' ? undefined : given
}

/** The parameters by which a client asks for a syntax. Read by {@link representationFor} and {@link embeddedGraphs}. */
export const answerFormat = custom(
  'Media type of the answer, instead of `Accept`.',
  (parameters, name) => parameters.get(name),
  { keywords: { enum: mediaTypes } },
)
export const embeddedFormat = custom(
  '`application/ld+json`: graphs inside the JSON are JSON-LD instead of RDF/JSON.',
  (parameters, name) => parameters.get(name),
  { keywords: { enum: ['application/rdf+json', JSON_LD] } },
)

/** Sends a graph with absolute IRIs. */
export async function sendGraph(
  reply: FastifyReply,
  { mediaType, contentType, syntax }: Representation,
  graph: Graph,
): Promise<unknown> {
  if (mediaType === JSON_TYPE) return graph
  // The whole before the first byte: what cannot be written is a refusal, not half an answer.
  const text = [...syntax.write(graph)].join('')
  reply.type(contentType)
  return text
}

/** Sends a graph with relative IRIs; a stored text as RDF/JSON without parsing it. */
export async function sendStoredGraph(
  base: BaseAddress,
  reply: FastifyReply,
  representation: Representation,
  graph: ShownGraph,
): Promise<unknown> {
  const { contentType, syntax } = representation
  if (syntax.name !== 'json') return await sendGraph(reply, representation, absoluteGraphOf(base, graph))
  reply.type(contentType)
  return graphJson(base, graph)
}

/** The syntax that the type of the body names. @throws {UnsupportedType} */
export function syntaxOfBody(request: FastifyRequest): Syntax {
  const type = mediaTypeOf(request.raw)
  const syntax = findSyntax(type ?? '')
  if (syntax) return syntax
  const accepted = mediaTypes.join(', ')
  throw new UnsupportedType('unsupported-type', `The body must be one of ${accepted}; it is ${type ?? 'untyped'}.`)
}

/**
 * Reads the RDF body of a request into its stored form, for an entry that the service has loaded.
 * @param iriOf the IRI of the graph of that entry, in its stored form: what relative references in the body stand for
 */
export const graphReader =
  (
    deps: Uses<'base' | 'bodies' | 'graphs'>,
    request: FastifyRequest,
    reply: FastifyReply,
    iriOf: (entry: EntryAddress) => string,
  ) =>
  async (entry: EntryAddress): Promise<Graph> => {
    const isEmpty = !announcesBody(request.raw) || request.headers['content-length'] === '0'
    const syntax = isEmpty ? findSyntax(mediaTypeOf(request.raw) ?? '') : syntaxOfBody(request)
    const text = await deps.bodies.bytes(request.raw, reply.raw)
    // An empty body is invalid JSON in any case, and an empty graph is too easily sent by mistake to replace data.
    if (!syntax) return deps.base.relativeGraph(deps.graphs.requireSize(parseRdfJson(parseJson(decodeUtf8(text)))))
    if (syntax.name !== 'json' && isBlankUtf8(text)) throw new InvalidInput('invalid-graph', 'The body is empty.')
    const clientGone = (): AbortSignal => clientGoneSignal(reply)
    const reading = { caller: shareOf(request.caller), clientGone, relativeTo: deps.base.href }
    return await deps.graphs.read(syntax, text, deps.base.toAbsolute(iriOf(entry)), reading)
  }

/** The form of a graph inside JSON. */
export type GraphForm = (graph: Graph) => unknown

const asRdfJson: GraphForm = graph => graph

/** The graph as clients see it. A stored text gets absolute IRIs before it is parsed: that takes no second graph. */
const absoluteGraphOf = (base: BaseAddress, given: ShownGraph): Graph =>
  typeof given === 'string' ? (JSON.parse(base.absoluteText(given)) as Graph) : base.absoluteGraph(given)

/** A graph as RDF/JSON with absolute IRIs. */
const graphJson = (base: BaseAddress, given: ShownGraph): string =>
  typeof given === 'string' ? base.absoluteText(given) : JSON.stringify(base.absoluteGraph(given))

/** The entry's JSON (W2.2); members that the caller may not see are absent. */
export function describeEntry(view: EntryView, base: BaseAddress, form = asRdfJson): Record<string, unknown> {
  const graph = (given: ShownGraph | undefined): unknown => given && form(absoluteGraphOf(base, given))
  return {
    entryId: view.entryId,
    name: view.name,
    alias: view.name,
    quota: view.quota,
    disabled: view.disabled,
    info: graph(view.info),
    metadata: graph(view.metadata),
    'cached-external-metadata': graph(view.cachedExternalMetadata),
    relations: graph(view.relations),
    rights: view.rights,
    size: view.size,
    truncated: view.truncated,
    resource: view.resource && describeResource(view.resource, base, form),
  }
}

/** The resource on its own, in the same form as inside the entry's JSON. */
export function describeResource(view: ResourceView, base: BaseAddress, form = asRdfJson): unknown {
  switch (view.form) {
    case 'value':
      return view.value
    case 'graph':
      return form(base.absoluteGraph(view.graph))
    case 'list':
      return { ...view.page, children: view.page.children.map(child => describeMember(child, base, form)) }
    case 'group':
      return { name: view.name, children: view.members.map(member => describeMember(member, base, form)) }
  }
}

/** An entry as a member of another, without some of its parts. */
function describeMember(view: EntryView, base: BaseAddress, form: GraphForm): Record<string, unknown> {
  const { alias: _alias, quota: _quota, resource: _resource, ...member } = describeEntry(view, base, form)
  return member
}
