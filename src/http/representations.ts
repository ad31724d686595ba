import type { HttpServices } from './http-services.ts'
import type { GraphReader } from '../graph/graph-reader.ts'
import { quotaObject } from '../files/quota-ledger.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { rateLimitKey } from '../accounts/caller.ts'
import { InvalidInput, NotAcceptable, UnsupportedType, PreconditionFailed } from '../base/errors.ts'
import { parseJson, parseStored } from '../base/json.ts'
import { timed } from '../base/request-timings.ts'
import { decodeUtf8, isBlankUtf8 } from '../base/text.ts'
import { type Graph, parseRdfJson } from '../graph/graph.ts'
import { describeJsonLd } from '../graph/json-ld.ts'
import { findSyntax, type Syntax, syntaxes } from '../graph/syntaxes.ts'
import type { GraphPlace } from '../graph/text.ts'
import {
  cachedMetadataUri,
  type EntryAddress,
  entryUri,
  metadataUri,
  relationsUri,
  resourceUri,
} from '../model/addresses.ts'
import type { ShownGraph, EntryView, ResourceView } from '../content/resource-kind.ts'
import { hasBody, mediaTypeOf } from './protocol/body.ts'
import { clientGoneSignal } from './protocol/response-end.ts'
import type { BaseAddress } from './base-address.ts'
import { addVary, preferenceAmong } from './protocol/negotiate.ts'
import { custom } from './interface/route.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Milliseconds } from '../base/units.ts'
import type { Entry } from '../model/entry.ts'
import type { FileRecord } from '../files/file-records.ts'

const JSON_TYPE = 'application/json'
const JSON_LD = 'application/ld+json'
const RDF_XML = 'application/rdf+xml'

/** All types in which a graph is read and written. */
export const mediaTypes = [
  JSON_TYPE,
  ...syntaxes.flatMap(({ mediaTypes }) => mediaTypes).filter(type => type !== JSON_TYPE),
]

const others = mediaTypes.filter(type => type !== RDF_XML)
/** The first type applies to `*\/*`, to a missing `Accept` and to that of a browser. */
const preferred = { json: preferenceAmong([...others, RDF_XML]), xml: preferenceAmong([RDF_XML, ...others]) }

/** How a graph is answered. */
export interface Representation {
  readonly mediaType: string
  /** The media type with its parameter, as the header of the response has it. */
  readonly contentType: string
  readonly syntax: Syntax
  /** The representation to use for a graph that this one cannot express: the client would accept any. */
  readonly otherwise?: Representation | undefined
}

const representations: ReadonlyMap<string, Representation> = new Map(
  syntaxes.flatMap(syntax =>
    syntax.mediaTypes.map(mediaType => [mediaType, { mediaType, contentType: `${mediaType}; charset=utf-8`, syntax }]),
  ),
)

/**
 * The representation that the caller wants: `format`, else `Accept` (W3.0.4). Marks the response as depending on it.
 * @param byDefault for a client without a preference: harvesters hold addresses of graphs and expect RDF/XML (W3.3.1)
 * @throws {NotAcceptable}
 */
export function representationFor(
  request: FastifyRequest,
  reply: FastifyReply,
  byDefault: 'json' | 'xml' = 'xml',
): Representation {
  addVary(reply, 'Accept')
  const format = mediaTypeParameter(request, 'format')
  // A page that loads a graph as a script can run only JSON.
  const prefer = preferred[request.callback === undefined ? byDefault : 'json']
  const mediaType = format ?? prefer(request)
  const representation = mediaType === undefined ? undefined : representations.get(mediaType)
  const { accept = '' } = request.headers
  if (representation) {
    const isNamed = format !== undefined || mediaType !== RDF_XML || accept.toLowerCase().includes(RDF_XML)
    return isNamed ? representation : { ...representation, otherwise: representations.get(JSON_TYPE) }
  }
  throw new NotAcceptable(
    'not-acceptable',
    `This is available as ${mediaTypes.join(', ')}, not ${(format ?? accept).slice(0, 200)}.`,
  )
}

/** True where the response is the JSON that clients get by default. */
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

interface SentGraph {
  /** Its IRIs are relative. */
  readonly graph: ShownGraph
  /** Relative; absent for statements from several graphs. */
  readonly name?: string | undefined
  /** The `Content-Disposition` of the graph as a file. */
  readonly disposition?: (syntax: Syntax) => string
}

/** Sends a graph; a stored text as RDF/JSON without parsing it. @throws {NotAcceptable} for what the syntax cannot say */
export async function sendGraph(
  base: BaseAddress,
  reply: FastifyReply,
  representation: Representation,
  sent: SentGraph,
): Promise<unknown> {
  const { contentType, syntax, otherwise } = representation
  const { graph, name, disposition } = sent
  let text: string
  try {
    // The whole graph is written before the first byte is sent, so that a graph that cannot be written is refused instead of cut off.
    text =
      syntax.name === 'json'
        ? graphJson(base, graph)
        : timed('serialising', syntax.name, () => writeGraph(base, syntax, graph, name))
  } catch (error) {
    if (!otherwise || !(error instanceof NotAcceptable)) throw error
    return await sendGraph(base, reply, otherwise, sent)
  }
  reply.type(contentType)
  if (disposition) reply.header('content-disposition', disposition(syntax))
  return text
}

const writeGraph = (base: BaseAddress, syntax: Syntax, graph: ShownGraph, name: string | undefined): string =>
  [...syntax.write(absoluteGraphOf(base, graph), name === undefined ? undefined : placeOf(base, name))].join('')

/** The syntax that the type of the body names. @throws {UnsupportedType} */
export function syntaxOfBody(request: FastifyRequest): Syntax {
  const type = mediaTypeOf(request.raw)
  const syntax = findSyntax(type ?? '')
  if (syntax) return syntax
  const accepted = mediaTypes.join(', ')
  throw new UnsupportedType(
    'unsupported-type',
    `The media type of the body must be one of ${accepted}, but ${type === undefined ? 'is missing' : `is ${type}`}.`,
  )
}

/**
 * Reads the RDF body of a request into its stored form, for an entry that the service has loaded.
 * @param iriOf the IRI of the graph of that entry, in its stored form: relative references in the body are resolved against it
 */
export const graphReader =
  (
    deps: Pick<HttpServices, 'base' | 'bodies'> & { readonly graphs: GraphReader },
    request: FastifyRequest,
    reply: FastifyReply,
    iriOf: (entry: EntryAddress) => string,
  ) =>
  async (entry: EntryAddress): Promise<Graph> => {
    const isEmpty = !hasBody(request.raw)
    const syntax = isEmpty ? findSyntax(mediaTypeOf(request.raw) ?? '') : syntaxOfBody(request)
    const text = await deps.bodies.bytes(request.raw, reply.raw)
    // An empty body is invalid JSON in any case, and an empty graph is too easily sent by mistake to replace data.
    if (!syntax) return deps.base.relativeGraph(deps.graphs.requireSize(parseRdfJson(parseJson(decodeUtf8(text)))))
    if (syntax.name !== 'json' && isBlankUtf8(text)) throw new InvalidInput('invalid-graph', 'The body is empty.')
    const clientGone = (): AbortSignal => clientGoneSignal(reply)
    const reading = { caller: rateLimitKey(request.caller), clientGone, relativeTo: deps.base.href }
    return await deps.graphs.read(syntax, text, deps.base.toAbsolute(iriOf(entry)), reading)
  }

/** The place of a graph with this relative name. */
export const placeOf = (base: BaseAddress, name: string): GraphPlace => ({
  iri: base.toAbsolute(name),
  base: base.href,
})

/** The form of a graph inside JSON. */
export type GraphForm = (graph: Graph, place: GraphPlace) => unknown

const asRdfJson: GraphForm = graph => graph

/** The graph as clients see it. A stored text gets absolute IRIs before it is parsed: that takes no second graph. */
const absoluteGraphOf = (base: BaseAddress, given: ShownGraph): Graph =>
  typeof given === 'string' ? parseStored<Graph>(base.absoluteText(given)) : base.absoluteGraph(given)

/** A graph as RDF/JSON with absolute IRIs. */
const graphJson = (base: BaseAddress, given: ShownGraph): string =>
  typeof given === 'string' ? base.absoluteText(given) : JSON.stringify(base.absoluteGraph(given))

/** The entry's JSON (W2.2); members that the caller may not see are absent. */
export function describeEntry(view: EntryView, base: BaseAddress, form = asRdfJson): Record<string, unknown> {
  const address = { context: view.contextId, id: view.entryId }
  const graph = (given: ShownGraph | undefined, name: (address: EntryAddress) => string): unknown =>
    given && form(absoluteGraphOf(base, given), placeOf(base, name(address)))
  return {
    entryId: view.entryId,
    name: view.name,
    alias: view.name,
    quota: view.quota && quotaObject(view.quota),
    disabled: view.disabled,
    info: graph(view.info, entryUri),
    metadata: graph(view.metadata, metadataUri),
    'cached-external-metadata': graph(view.cachedExternalMetadata, cachedMetadataUri),
    relations: graph(view.relations, relationsUri),
    rights: view.rights,
    size: view.size,
    truncated: view.truncated,
    resource: view.resource && describeResource(view.resource, address, base, form),
  }
}

/** The resource on its own, in the same form as inside the entry's JSON. */
export function describeResource(
  view: ResourceView,
  entry: EntryAddress,
  base: BaseAddress,
  form = asRdfJson,
): unknown {
  switch (view.form) {
    case 'value':
      return view.value
    case 'graph':
      return form(base.absoluteGraph(view.graph), placeOf(base, resourceUri(entry)))
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

/** Identifies a state of a resource. */
export interface Validators {
  /** Strong, with its quotes; `undefined` when there is no representation yet. */
  readonly etag: string | undefined
  readonly modified: Milliseconds
}

/** A state that may have no date: data that are built into the program have only a tag. */
type Dateless = Pick<Validators, 'etag'> & Partial<Validators>

/**
 * An entry's versions differ in their modification time, which never repeats (W3.0.5).
 * @param variant of the syntax, unless it is JSON: one strong tag must not stand for different bytes (RFC 9110 8.8.3).
 */
export const entryValidators = ({ modified }: Pick<Entry, 'modified'>, variant = 'json'): Validators => ({
  etag: variant === 'json' ? `"${modified}"` : `"${modified}-${variant}"`,
  modified,
})

/** The headers of a change: the tag of any variant names the state that is to be changed. */
export const withoutVariants = (headers: IncomingHttpHeaders): IncomingHttpHeaders => {
  const plain = (tags: string | undefined): string | undefined => tags?.replaceAll(/"(\d+)-[a-z0-9]+"/g, '"$1"')
  return { ...headers, 'if-match': plain(headers['if-match']), 'if-none-match': plain(headers['if-none-match']) }
}

/** A file's versions differ in their bytes. */
export const fileValidators = (entry: Entry, file: FileRecord | undefined): Validators => ({
  etag: file && `"${file.sha256}"`,
  modified: entry.modified,
})

export function validatorHeaders({ etag, modified }: Validators): Record<string, string> {
  const lastModified = new Date(modified).toUTCString()
  return etag === undefined ? { 'last-modified': lastModified } : { 'last-modified': lastModified, etag }
}

/** How far a client's clock, cut to seconds, may lie behind ours before its copy is treated as old (W3.0.6). */
const SLACK: Milliseconds = 1000

/**
 * Judges a change against the conditions of the request (RFC 9110 13.2.2).
 * @throws {PreconditionFailed}
 */
export function requirePreconditions(headers: IncomingHttpHeaders, state: Validators): void {
  requireMatch(headers, state)
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, state.etag, 'weak')) throw failed('If-None-Match')
}

/**
 * True when the reader already has the present state: the response is 304. Also checks a reader's `If-Match` and
 * `If-Unmodified-Since`.
 * @throws {PreconditionFailed}
 */
export function isUnchanged(headers: IncomingHttpHeaders, state: Dateless): boolean {
  requireMatch(headers, state)
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch !== undefined) return matches(ifNoneMatch, state.etag, 'weak')
  const since = parseDate(headers['if-modified-since'])
  return since !== undefined && state.modified !== undefined && Math.floor(state.modified / 1000) * 1000 <= since
}

/** The date applies only without a tag (RFC 9110 13.1.4). @throws {PreconditionFailed} */
function requireMatch(headers: IncomingHttpHeaders, { etag, modified }: Dateless): void {
  const ifMatch = headers['if-match']
  if (ifMatch === undefined) {
    if (isOlder(headers['if-unmodified-since'], modified)) throw failed('If-Unmodified-Since')
  } else if (!matches(ifMatch, etag, 'strong')) {
    throw failed('If-Match')
  }
}

/** True when a range requested with `If-Range` belongs to the current state (RFC 9110 13.1.5). */
export function isRangeCurrent(ifRange: string | undefined, state: Validators): boolean {
  if (ifRange === undefined) return true
  if (ifRange.startsWith('"')) return ifRange === state.etag
  return parseDate(ifRange) === Math.floor(state.modified / 1000) * 1000
}

const isOlder = (header: string | undefined, modified: Milliseconds | undefined): boolean => {
  const since = parseDate(header)
  return since !== undefined && modified !== undefined && modified - since >= SLACK
}

/** Unparsable dates are ignored, as the standard asks; a client of ours sends "Invalid Date" (W3.0.2). */
function parseDate(header: string | undefined): Milliseconds | undefined {
  const time = header === undefined ? Number.NaN : Date.parse(header)
  return Number.isNaN(time) ? undefined : time
}

function matches(list: string, etag: string | undefined, comparison: 'strong' | 'weak'): boolean {
  if (etag === undefined) return false
  if (list.trim() === '*') return true
  const candidates = list.match(/(?:W\/)?"[^"]*"/g) ?? []
  return candidates.some(tag => (comparison === 'weak' ? tag.replace(/^W\//, '') : tag) === etag)
}

const failed = (header: string): PreconditionFailed =>
  new PreconditionFailed('precondition-failed', `${header} does not hold: the resource has changed.`)

/** The conditions of the request. They are checked against the entry inside the transaction that changes it. */
export const preconditionOf =
  (request: FastifyRequest) =>
  (entry: Entry): void =>
    requirePreconditions(withoutVariants(request.headers), entryValidators(entry))

/** Sets the validators of the entry; true when the client has the current state. */
export function isFresh(
  request: FastifyRequest,
  reply: FastifyReply,
  entry: Pick<Entry, 'modified'>,
  representation?: Representation,
): boolean {
  const state = entryValidators(entry, representation?.syntax.name)
  reply.headers(validatorHeaders(state))
  return isUnchanged(request.headers, state)
}

export const sendChanged = (reply: FastifyReply, entry: Entry): FastifyReply =>
  reply
    .status(204)
    .headers(validatorHeaders(entryValidators(entry)))
    .send()

/** The status and headers of the answer to a creation. */
export const withLocation = ({ base }: Pick<HttpServices, 'base'>, reply: FastifyReply, entry: Entry): FastifyReply =>
  reply.status(201).headers({ ...validatorHeaders(entryValidators(entry)), location: base.toAbsolute(entryUri(entry)) })

export const sendCreated = (deps: Pick<HttpServices, 'base'>, reply: FastifyReply, entry: Entry): FastifyReply =>
  withLocation(deps, reply, entry).send({ entryId: entry.id })
