import type { HttpServices } from '../http-services.ts'
import type { GraphReader } from '../../graph/graph-reader.ts'
import type { Metadata } from '../../content/metadata.ts'
import { emptyGraph, type Graph } from '../../graph/graph.ts'
import type { ReadHttp } from '../http-services.ts'
import { invalid, done, unchanged, custom, flagParameter, route } from '../interface/route.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotSupported, WrongMethod } from '../../base/errors.ts'
import { fileNameOf } from '../../content/file-description.ts'
import type { ReadMetadata } from '../../content/metadata.ts'
import { cachedMetadataUri, metadataUri, revisionUri } from '../../model/addresses.ts'
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
  sendGraph,
} from '../representations.ts'
import { contentDisposition } from '../download.ts'
import type { Syntax } from '../../graph/syntaxes.ts'
import type { Parameters } from '../protocol/parameters.ts'
import { heavyMetadata } from '../heavy-by-entry.ts'
import type { Reads } from '../read-services.ts'
import { graphAnswer, graphBody } from './entries.ts'

interface Services extends HttpServices {
  readonly graphs: GraphReader
  readonly metadata: Metadata
}

const chapter = 'Entries'
const readers = 'callers who can read the metadata'
const writers = 'callers who can write the metadata'

export const download = flagParameter('As an attachment.')
const revision = {
  rev: custom<number | undefined>('Number of a [revision](concepts.md#revisions-of-metadata).', readRevision, {
    keywords: { type: 'integer', minimum: 1 },
  }),
}
const graphAnswers = { 200: graphAnswer('The graph.'), 304: unchanged } as const
/** An entry that refers to external metadata. */
const linked = { entry: { example: 'linked' } }

/** Metadata as they are read: local metadata, the copy of external metadata, and both merged (W3.5, W3.6). */
export const metadataReadRoutes = [
  route({
    id: 'readMetadata',
    method: 'GET',
    url: '/:context/metadata/:entry',
    chapter,
    summary: 'Read the metadata of an entry, or one of their earlier revisions.',
    access: readers,
    query: {
      format: answerFormat,
      download,
      ...revision,
    },
    answers: graphAnswers,
    refusals: { 401: [], 403: [], 404: ['not-found'], 406: ['not-acceptable'], 501: ['not-available'] },
    conditional: 'read',
    compressible: true,
    heavy: heavyMetadata,
    handle: async (deps: MetadataServices, { request, reply, caller, params, query: { rev } }) => {
      const representation = representationFor(request, reply)
      const found = await deps.metadata.read(caller, params, { revision: rev })
      refuseGraphQuery(request)
      return await sendMetadata(deps, request, reply, { representation, found, name: nameOf(found.entry, rev) })
    },
  }),
  route({
    id: 'readCachedMetadata',
    method: 'GET',
    url: '/:context/cached-external-metadata/:entry',
    chapter,
    summary:
      'Read the cached copy of the external metadata of a Reference or LinkReference. If these metadata are in this service, the response has the metadata themselves.',
    access: readers,
    path: linked,
    query: { format: answerFormat, download },
    answers: graphAnswers,
    refusals: { 401: [], 403: [], 404: ['not-found'], 406: ['not-acceptable'] },
    conditional: 'read',
    compressible: true,
    heavy: true,
    handle: async (deps: MetadataServices, { request, reply, caller, params }) => {
      const representation = representationFor(request, reply)
      const found = await deps.metadata.readCached(caller, params)
      return await sendMetadata(deps, request, reply, { representation, found, name: cachedMetadataUri(found.entry) })
    },
  }),
  route({
    id: 'readMergedMetadata',
    method: 'GET',
    url: '/:context/merged-metadata/:entry',
    chapter,
    summary: 'Read the local metadata and the cached copy of the external metadata in one graph.',
    access: readers,
    query: { format: answerFormat, download },
    answers: graphAnswers,
    refusals: { 401: [], 403: [], 404: [], 406: ['not-acceptable'] },
    conditional: 'read',
    compressible: true,
    heavy: true,
    handle: async (deps: MetadataServices, { request, reply, caller, params }) => {
      const representation = representationFor(request, reply)
      const found = await deps.metadata.readMerged(caller, params)
      return await sendMetadata(deps, request, reply, { representation, found })
    },
  }),
]

/** Changes of metadata: of local metadata, and of the copy of external metadata (W3.5, W3.6). */
export const metadataRoutes = [
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
    handle: async (deps: Services, { request, reply, caller, params }) => {
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
    summary: 'Remove all statements from the metadata of an entry.',
    access: writers,
    answers: { 204: done },
    refusals: { 401: [], 403: [], 404: [], 405: ['method-not-allowed'] },
    conditional: 'write',
    handle: async ({ metadata }: Services, { request, reply, caller, params }) => {
      refuseRevision(request)
      return sendChanged(reply, await metadata.put(caller, params, empty, preconditionOf(request)))
    },
  }),
  route({
    id: 'writeCachedMetadata',
    method: 'PUT',
    url: '/:context/cached-external-metadata/:entry',
    chapter,
    summary: 'Replace the cached copy of the external metadata.',
    access: writers,
    path: linked,
    body: graphBody,
    answers: { 204: done },
    refusals: { 400: ['invalid-graph', 'invalid-json'], 401: [], 403: [], 404: [], 405: ['method-not-allowed'] },
    conditional: 'write',
    handle: async (deps: Services, { request, reply, caller, params }) => {
      const read = graphReader(deps, request, reply, cachedMetadataUri)
      return sendCached(reply, await deps.metadata.putCached(caller, params, read, cachedCondition(request)))
    },
  }),
  route({
    id: 'emptyCachedMetadata',
    method: 'DELETE',
    url: '/:context/cached-external-metadata/:entry',
    chapter,
    summary: 'Remove all statements from the cached copy of the external metadata.',
    access: writers,
    path: linked,
    answers: { 204: done },
    refusals: { 401: [], 403: [], 404: [], 405: ['method-not-allowed'] },
    conditional: 'write',
    handle: async ({ metadata }: Services, { request, reply, caller, params }) =>
      sendCached(reply, await metadata.putCached(caller, params, empty, cachedCondition(request))),
  }),
]

type MetadataServices = Reads<'base' | 'metadata'>

interface Answer {
  readonly representation: Representation
  readonly found: ReadMetadata
  /** The name of the graph; absent for statements from several graphs. */
  readonly name?: string | undefined
}

const nameOf = (entry: Entry, revision: number | undefined): string =>
  revision === undefined ? metadataUri(entry) : revisionUri(entry, revision)

/** @throws {NotSupported} */
export function refuseGraphQuery({ parameters }: FastifyRequest): void {
  if (parameters.has('graphQuery')) throw new NotSupported('not-available', 'SPARQL is not available.')
}

/** Without validators when the graph also changes with other entries. */
export async function sendMetadata(
  { base }: Pick<ReadHttp, 'base'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { representation, found, name }: Answer,
): Promise<unknown> {
  const { entry, graph, modified } = found
  if (modified !== undefined && isFresh(request, reply, { modified }, representation)) {
    return reply.status(304).send()
  }
  const disposition = (syntax: Syntax): string => dispositionOf(request, entry, syntax)
  return await sendGraph(base, reply, representation, { graph, name, disposition })
}

/** Revisions are read only. @throws {WrongMethod} */
function refuseRevision({ parameters }: FastifyRequest): void {
  if (parameters.has('rev')) throw new WrongMethod('Changing a revision', ['GET', 'HEAD'])
}

function readRevision(parameters: Parameters, name: string): number | undefined {
  const given = parameters.get(name)
  if (given === undefined) return undefined
  if (/^[0-9]{1,15}$/.test(given)) return Number(given)
  throw invalid(`\`${name}\` must be the number of a revision, but is "${given.slice(0, 40)}".`)
}

/** The copy has its own tag, but the date of the entry, because clients know no other date (W3.0.5, W3.0.6). */
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
const dispositionOf = (request: FastifyRequest, entry: Entry, { extension }: Syntax): string =>
  contentDisposition(`${fileNameOf(entry)}.${extension}`, request.parameters.has('download') ? 'attachment' : 'inline')
