import { MAX_DEPTH, type LinkTraversal } from '../../content/lookup.ts'
import { isAbsoluteIri, emptyGraph, type Graph } from '../../graph/graph.ts'
import { prefixes } from '../../graph/vocabulary.ts'
import type { BaseAddress } from '../base-address.ts'
import {
  choice,
  invalid,
  textParameter,
  type ValuesOf,
  wholeNumber,
  done,
  unchanged,
  custom,
  flagParameter,
  route,
} from '../interface/route.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotSupported, WrongMethod } from '../../base/errors.ts'
import { fileNameOf } from '../../content/file-description.ts'
import type { ReadMetadata } from '../../content/metadata.ts'
import { cachedMetadataUri, metadataUri } from '../../model/addresses.ts'
import type { Entry } from '../../model/entry.ts'
import {
  entryValidators,
  requirePreconditions,
  type Validators,
  validatorHeaders,
  withoutVariants,
  isFresh,
  preconditionOf,
  sendChanged,
  answerFormat,
  graphReader,
  type Representation,
  representationFor,
  sendStoredGraph,
} from '../representations.ts'
import { contentDisposition } from '../download.ts'
import type { Parameters } from '../protocol/body.ts'
import type { Uses } from '../services.ts'
import { graphAnswer, graphBody } from './entries.ts'

/** Which links from entry to entry a response follows (W3.5). */
const linkQuery = {
  recursive: textParameter(
    'With the metadata of the entries that these predicates lead to: IRIs or short forms such as `dcterms:hasPart`, commas between them. At most 1000 entries that the caller may read.',
  ),
  depth: wholeNumber(`How many links to follow, at most ${MAX_DEPTH}.`, {
    otherwise: MAX_DEPTH,
    max: 999_999_999,
    cap: MAX_DEPTH,
  }),
  scope: choice('`context`: only entries of this context.', ['context'], undefined),
}

/** `undefined` where no link is to be followed. @throws {InvalidInput} `invalid-query` */
function readLinkTraversal(
  { recursive, depth, scope }: ValuesOf<typeof linkQuery>,
  base: BaseAddress,
): LinkTraversal | undefined {
  if (recursive === undefined) return undefined
  const iris = recursive.split(',').map(name => expand(name.trim()))
  const predicates = new Set(iris.filter(iri => iri !== undefined).map(iri => base.toRelative(iri)))
  if (predicates.size === 0) {
    throw invalid('`recursive` must contain predicates: IRIs or dcterms:relation, separated by commas.')
  }
  return { predicates, depth, withinContext: scope === 'context' }
}

/** Expands a short form with one of the prefixes that the service writes itself. */
function expand(name: string): string | undefined {
  const [prefix = '', ...local] = name.split(':')
  const namespace = Object.hasOwn(prefixes, prefix) ? prefixes[prefix] : undefined
  const iri = namespace === undefined ? name : namespace + local.join(':')
  return isAbsoluteIri(iri) ? iri : undefined
}

const chapter = 'Entries'
const readers = 'callers who can read the metadata'
const writers = 'callers who can write the metadata'

const download = flagParameter('As an attachment.')
const revision = {
  rev: custom<number | undefined>('Number of a [revision](concepts.md#revisions-of-metadata).', readRevision, {
    keywords: { type: 'integer', minimum: 1 },
  }),
}
const graphAnswers = { 200: graphAnswer('The graph.'), 304: unchanged } as const
/** An entry that refers to external metadata. */
const linked = { entry: { example: 'linked' } }

/** Metadata: local metadata, the copy of external metadata, and both merged (W3.5, W3.6). */
export const metadataRoutes = [
  route({
    id: 'readMetadata',
    method: 'GET',
    url: '/:context/metadata/:entry',
    chapter,
    summary: 'Read the metadata of an entry, or an earlier revision of them.',
    access: readers,
    query: {
      format: answerFormat,
      download,
      ...revision,
      ...linkQuery,
    },
    answers: graphAnswers,
    refusals: { 401: [], 403: [], 404: ['not-found'], 406: ['not-acceptable'], 501: ['not-available'] },
    conditional: 'read',
    compressible: true,
    handle: async (deps: MetadataServices, { request, reply, caller, params, query: { rev, ...query } }) => {
      const representation = representationFor(request, reply)
      const traversal = rev === undefined ? readLinkTraversal(query, deps.base) : undefined
      const found = await deps.metadata.read(caller, params, { revision: rev, traversal })
      if (request.parameters.has('graphQuery')) throw new NotSupported('not-available', 'SPARQL is not available.')
      return await sendMetadata(deps, request, reply, { representation, found })
    },
  }),
  route({
    id: 'writeMetadata',
    method: 'PUT',
    url: '/:context/metadata/:entry',
    chapter,
    summary: 'Replace the metadata of an entry.',
    access: writers,
    body: graphBody,
    answers: { 204: done },
    refusals: { 400: ['invalid-graph', 'invalid-json'], 401: [], 403: [], 404: [], 405: ['method-not-allowed'] },
    conditional: 'write',
    handle: async (deps: ChangeServices, { request, reply, caller, params }) => {
      refuseRevision(request)
      const read = graphReader(deps, request, reply, metadataUri)
      return sendChanged(reply, await deps.metadata.put(caller, params, read, preconditionOf(request)))
    },
  }),
  route({
    id: 'emptyMetadata',
    method: 'DELETE',
    url: '/:context/metadata/:entry',
    chapter,
    summary: 'Replace the metadata of an entry by the empty graph.',
    access: writers,
    answers: { 204: done },
    refusals: { 401: [], 403: [], 404: [], 405: ['method-not-allowed'] },
    conditional: 'write',
    handle: async ({ metadata }: Uses<'metadata'>, { request, reply, caller, params }) => {
      refuseRevision(request)
      return sendChanged(reply, await metadata.put(caller, params, empty, preconditionOf(request)))
    },
  }),
  route({
    id: 'readCachedMetadata',
    method: 'GET',
    url: '/:context/cached-external-metadata/:entry',
    chapter,
    summary:
      'Read the copy of metadata that are kept elsewhere, of a Reference or LinkReference; the metadata themselves where they are kept at this service.',
    access: readers,
    path: linked,
    query: { format: answerFormat, download },
    answers: graphAnswers,
    refusals: { 401: [], 403: [], 404: ['not-found'], 406: ['not-acceptable'] },
    conditional: 'read',
    compressible: true,
    handle: async (deps: MetadataServices, { request, reply, caller, params }) => {
      const representation = representationFor(request, reply)
      const found = await deps.metadata.readCached(caller, params)
      return await sendMetadata(deps, request, reply, { representation, found })
    },
  }),
  route({
    id: 'writeCachedMetadata',
    method: 'PUT',
    url: '/:context/cached-external-metadata/:entry',
    chapter,
    summary: 'Replace the copy of metadata that are kept elsewhere.',
    access: writers,
    path: linked,
    body: graphBody,
    answers: { 204: done },
    refusals: { 400: ['invalid-graph', 'invalid-json'], 401: [], 403: [], 404: [], 405: ['method-not-allowed'] },
    conditional: 'write',
    handle: async (deps: ChangeServices, { request, reply, caller, params }) => {
      const read = graphReader(deps, request, reply, cachedMetadataUri)
      return sendCached(reply, await deps.metadata.putCached(caller, params, read, cachedCondition(request)))
    },
  }),
  route({
    id: 'emptyCachedMetadata',
    method: 'DELETE',
    url: '/:context/cached-external-metadata/:entry',
    chapter,
    summary: 'Replace the copy of metadata that are kept elsewhere by the empty graph.',
    access: writers,
    path: linked,
    answers: { 204: done },
    refusals: { 401: [], 403: [], 404: [], 405: ['method-not-allowed'] },
    conditional: 'write',
    handle: async ({ metadata }: Uses<'metadata'>, { request, reply, caller, params }) =>
      sendCached(reply, await metadata.putCached(caller, params, empty, cachedCondition(request))),
  }),
  route({
    id: 'readMergedMetadata',
    method: 'GET',
    url: '/:context/merged-metadata/:entry',
    chapter,
    summary: 'Read the metadata kept here and the copy of those kept elsewhere in one graph.',
    access: readers,
    query: { format: answerFormat, download },
    answers: graphAnswers,
    refusals: { 401: [], 403: [], 404: [], 406: ['not-acceptable'] },
    conditional: 'read',
    compressible: true,
    handle: async (deps: MetadataServices, { request, reply, caller, params }) => {
      const representation = representationFor(request, reply)
      const found = await deps.metadata.readMerged(caller, params)
      return await sendMetadata(deps, request, reply, { representation, found })
    },
  }),
]

type MetadataServices = Uses<'base' | 'metadata'>
type ChangeServices = MetadataServices & Uses<'bodies' | 'graphs'>

/** Without validators when the graph also changes with other entries. */
async function sendMetadata(
  { base }: Uses<'base'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { representation, found }: { readonly representation: Representation; readonly found: ReadMetadata },
): Promise<unknown> {
  const { entry, graph, modified } = found
  if (modified !== undefined && isFresh(request, reply, { modified }, representation)) {
    return reply.status(304).send()
  }
  nameFile(request, reply, entry, representation)
  return await sendStoredGraph(base, reply, representation, graph)
}

/** Revisions are read only. @throws {WrongMethod} */
function refuseRevision({ parameters }: FastifyRequest): void {
  if (parameters.has('rev')) throw new WrongMethod('Changing a revision', ['GET', 'HEAD'])
}

function readRevision(parameters: Parameters, name: string): number | undefined {
  const given = parameters.get(name)
  if (given === undefined) return undefined
  if (/^[0-9]{1,15}$/.test(given)) return Number(given)
  throw invalid(`\`${name}\` must be the number of a revision, not "${given.slice(0, 40)}".`)
}

/** The copy has its own tag. Its date is that of the entry, because clients know no other (W3.0.5, W3.0.6). */
const cachedValidators = (entry: Entry): Validators => ({
  etag: entryValidators({ modified: entry.cached ?? entry.modified }).etag,
  modified: entry.modified,
})

const cachedCondition = (request: FastifyRequest) => (entry: Entry) =>
  requirePreconditions(withoutVariants(request.headers), cachedValidators(entry))

const sendCached = (reply: FastifyReply, entry: Entry): FastifyReply =>
  reply
    .status(204)
    .headers(validatorHeaders(cachedValidators(entry)))
    .send()

const empty = async (): Promise<Graph> => emptyGraph

/** Names the file that a browser saves (W3.5). */
function nameFile(request: FastifyRequest, reply: FastifyReply, entry: Entry, { syntax }: Representation): void {
  const type = request.parameters.has('download') ? 'attachment' : 'inline'
  reply.header('content-disposition', contentDisposition(`${fileNameOf(entry)}.${syntax.extension}`, type))
}
