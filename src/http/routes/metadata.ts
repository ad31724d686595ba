import type { FastifyReply, FastifyRequest } from 'fastify'
import { denied } from '../../accounts/caller.ts'
import { NotFound, NotSupported, WrongMethod } from '../../base/errors.ts'
import {
  type CachedMetadata,
  findCachedMetadata,
  hasExternalMetadata,
  liveSourceOf,
  mergeGraphs,
} from '../../content/cached-metadata.ts'
import { linkedMetadata } from '../../content/linked-metadata.ts'
import { fileNameOf } from '../../content/uploads.ts'
import { emptyGraph, type Graph } from '../../graph/graph.ts'
import { cachedMetadataUri, metadataUri } from '../../model/addresses.ts'
import type { Entry } from '../../model/entry.ts'
import { requireRight } from '../../model/rights.ts'
import {
  entryValidators,
  requirePreconditions,
  type Validators,
  validatorHeaders,
  withoutVariants,
} from '../conditional.ts'
import { contentDisposition } from '../protocol/content-disposition.ts'
import { done, unchanged } from '../interface/answer.ts'
import { custom, flag, invalid } from '../interface/parameters.ts'
import { route } from '../interface/route.ts'
import { linkQuery, readLinkTraversal } from '../link-traversal.ts'
import type { Parameters } from '../protocol/query.ts'
import {
  answerFormat,
  graphReader,
  type Representation,
  representationFor,
  sendGraph,
  sendStoredGraph,
} from '../rdf.ts'
import type { Uses } from '../services.ts'
import { graphAnswer, graphBody, isFresh, loadEntry, preconditionOf, sendChanged } from './entries.ts'

const chapter = 'Entries'
const readers = 'those who may read the metadata'
const writers = 'those who may write the metadata'

const download = flag('As an attachment.')
const revision = {
  rev: custom<number | undefined>('Number of a [revision](#revisions-of-metadata).', readRevision, {
    keywords: { type: 'integer', minimum: 1 },
  }),
}
const graphAnswers = { 200: graphAnswer('The graph.'), 304: unchanged } as const
/** An entry that refers to metadata elsewhere. */
const linked = { entry: { example: 'linked' } }

/** Metadata: those kept here, the copy of those kept elsewhere, both together (W3.5, W3.6). */
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
    handle: async (
      deps: Uses<'base' | 'database' | 'entries' | 'revisions'>,
      { request, reply, caller, query: { rev, ...query } },
    ) => {
      const representation = representationFor(request, reply)
      const placed = await loadEntry(deps, request)
      const { entry } = placed
      requireRight(caller, 'readmetadata', placed, 'read the metadata of this entry')
      if (entry.entryType === 'Reference') throw new NotFound('not-found', 'A Reference has no metadata here.')
      if (request.parameters.has('graphQuery')) throw new NotSupported('not-available', 'SPARQL is not available.')
      const traversal = rev === undefined ? readLinkTraversal(query, deps.base) : undefined
      if (traversal) {
        // The answer changes with other entries, so it has no validators.
        const linked = await linkedMetadata(deps.database, caller, entry, traversal)
        nameFile(request, reply, entry, representation)
        return await sendGraph(reply, representation, deps.base.graphOutside(linked))
      }
      const { modified, metadata } = rev === undefined ? entry : await getRevision(deps, entry, rev)
      if (isFresh(request, reply, { modified }, representation)) return await reply.status(304).send()
      nameFile(request, reply, entry, representation)
      return await sendStoredGraph(deps.base, reply, representation, metadata)
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
    handle: async (deps: Uses<'base' | 'bodies' | 'entries' | 'graphs'>, { request, reply, caller }) => {
      refuseRevision(request)
      const placed = await loadEntry(deps, request)
      const read = graphReader(deps, request, reply, metadataUri(placed.entry))
      return sendChanged(reply, await deps.entries.putMetadata(caller, placed, read, preconditionOf(request)))
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
    handle: async (deps: Uses<'entries'>, { request, reply, caller }) => {
      refuseRevision(request)
      const placed = await loadEntry(deps, request)
      return sendChanged(reply, await deps.entries.putMetadata(caller, placed, empty, preconditionOf(request)))
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
    handle: async (deps: Uses<'base' | 'database' | 'entries'>, { request, reply, caller }) => {
      const representation = representationFor(request, reply)
      const placed = await loadEntry(deps, request)
      const { entry } = placed
      requireRight(caller, 'readmetadata', placed, 'read the metadata of this entry')
      if (!hasExternalMetadata(entry)) throw new NotFound('not-found', 'This entry has no metadata elsewhere.')
      const cached = await findCached(deps, request, entry)
      if (isFresh(request, reply, cached, representation)) return await reply.status(304).send()
      nameFile(request, reply, entry, representation)
      return await sendStoredGraph(deps.base, reply, representation, cached.graph)
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
    handle: async (deps: Uses<'base' | 'bodies' | 'entries' | 'graphs'>, { request, reply, caller }) => {
      const placed = await loadEntry(deps, request)
      const read = graphReader(deps, request, reply, cachedMetadataUri(placed.entry))
      return sendCached(reply, await deps.entries.putCachedMetadata(caller, placed, read, cachedCondition(request)))
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
    handle: async (deps: Uses<'entries'>, { request, reply, caller }) => {
      const placed = await loadEntry(deps, request)
      return sendCached(reply, await deps.entries.putCachedMetadata(caller, placed, empty, cachedCondition(request)))
    },
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
    handle: async (deps: Uses<'base' | 'database' | 'entries'>, { request, reply, caller }) => {
      const representation = representationFor(request, reply)
      const placed = await loadEntry(deps, request)
      const { entry } = placed
      requireRight(caller, 'readmetadata', placed, 'read the metadata of this entry')
      const cached = hasExternalMetadata(entry) ? await findCachedMetadata(deps.database, caller, entry) : undefined
      // With metadata of another entry in it, the answer changes without this one.
      const isOwn = liveSourceOf(entry) === undefined
      if (isOwn && isFresh(request, reply, entry, representation)) return await reply.status(304).send()
      nameFile(request, reply, entry, representation)
      const merged = mergeGraphs(entry.metadata, cached?.graph ?? emptyGraph)
      return await sendGraph(reply, representation, deps.base.graphOutside(merged))
    },
  }),
]

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

/** A revision never changes: its tag and date are of the time when it was made. @throws {NotFound} */
async function getRevision(
  { database, revisions }: Uses<'database' | 'revisions'>,
  entry: Entry,
  number: number,
): Promise<Pick<Entry, 'modified' | 'metadata'>> {
  const found = await revisions.find(database, entry, number)
  if (found) return { modified: found.time, metadata: found.metadata }
  throw new NotFound('not-found', `There is no revision ${number} of these metadata.`)
}

/** The copy has a tag of its own. Dates are those of the entry, as clients know no other (W3.0.5, W3.0.6). */
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

async function findCached(
  { database }: Uses<'database'>,
  { caller }: FastifyRequest,
  entry: Entry,
): Promise<CachedMetadata> {
  const cached = await findCachedMetadata(database, caller, entry)
  if (cached) return cached
  throw denied(caller, 'read the metadata that this entry refers to')
}

/** W3.5 */
function nameFile(request: FastifyRequest, reply: FastifyReply, entry: Entry, { syntax }: Representation): void {
  const type = request.parameters.has('download') ? 'attachment' : 'inline'
  reply.header('content-disposition', contentDisposition(`${fileNameOf(entry)}.${syntax.extension}`, type))
}
