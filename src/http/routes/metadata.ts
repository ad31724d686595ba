import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { denied } from '../../accounts/caller.ts'
import { InvalidInput, NotFound, NotSupported, WrongMethod } from '../../base/errors.ts'
import { cachedMetadataUri, metadataUri } from '../../model/addresses.ts'
import {
  type CachedMetadata,
  findCachedMetadata,
  hasExternalMetadata,
  liveSourceOf,
  mergeGraphs,
} from '../../content/cached-metadata.ts'
import type { Entry } from '../../model/entry.ts'
import { linkedMetadata } from '../../content/linked-metadata.ts'
import { requireRight } from '../../model/rights.ts'
import { fileNameOf } from '../../content/uploads.ts'
import { emptyGraph, type Graph } from '../../graph/graph.ts'
import {
  entryValidators,
  requirePreconditions,
  type Validators,
  validatorHeaders,
  withoutVariants,
} from '../conditional.ts'
import { graphReader, type Representation, representationFor, sendGraph } from '../rdf.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'
import { readLinkTraversal } from '../link-traversal.ts'
import { isFresh, loadEntry, preconditionOf, sendChanged } from './entries.ts'

/** Metadata: one's own, the copy of those kept elsewhere, both together (wire facts 3.5, 3.6). */
export const metadataRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/:context/metadata/:entry', handle: getMetadata(deps), compressible: true },
  { method: 'PUT', url: '/:context/metadata/:entry', handle: putMetadata(deps) },
  { method: 'DELETE', url: '/:context/metadata/:entry', handle: deleteMetadata(deps) },
  { method: 'GET', url: '/:context/cached-external-metadata/:entry', handle: getCached(deps), compressible: true },
  { method: 'PUT', url: '/:context/cached-external-metadata/:entry', handle: putCached(deps) },
  { method: 'DELETE', url: '/:context/cached-external-metadata/:entry', handle: deleteCached(deps) },
  { method: 'GET', url: '/:context/merged-metadata/:entry', handle: getMerged(deps), compressible: true },
]

const getMetadata = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const representation = representationFor(request, reply)
  const placed = await loadEntry(deps, request)
  const { entry } = placed
  requireRight(request.caller, 'readmetadata', placed, 'read the metadata of this entry')
  if (entry.entryType === 'Reference') throw new NotFound('not-found', 'A Reference has no metadata here.')
  if (request.parameters.has('graphQuery')) throw new NotSupported('not-available', 'SPARQL is not available.')
  const number = revisionAskedFor(request)
  const walk = number === undefined ? readLinkTraversal(request.parameters, deps.base) : undefined
  if (walk) {
    // It changes with other entries, so it has no validators.
    const linked = await linkedMetadata(deps.database, request.caller, entry, walk)
    nameFile(request, reply, entry, representation)
    return await sendGraph(reply, representation, deps.base.graphOutside(linked))
  }
  const { modified, metadata } = number === undefined ? entry : await getRevision(deps, entry, number)
  if (isFresh(request, reply, { modified }, representation)) return await reply.status(304).send()
  nameFile(request, reply, entry, representation)
  return await sendGraph(reply, representation, deps.base.graphOutside(metadata))
}

/** The revision that `rev` names; revisions are read only. @throws {WrongMethod} for any other request */
function revisionAskedFor(request: FastifyRequest): number | undefined {
  const given = request.parameters.get('rev')
  if (given === undefined) return undefined
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new WrongMethod('Changing a revision', ['GET', 'HEAD'])
  }
  if (/^[0-9]{1,15}$/.test(given)) return Number(given)
  throw new InvalidInput('invalid-query', `\`rev\` is the number of a revision, not "${given.slice(0, 40)}".`)
}

/** A revision never changes: its tag and date are of the time it was made. @throws {NotFound} */
async function getRevision(
  deps: Services,
  entry: Entry,
  number: number,
): Promise<Pick<Entry, 'modified' | 'metadata'>> {
  const found = await deps.revisions.find(deps.database, entry, number)
  if (found) return { modified: found.time, metadata: found.metadata }
  throw new NotFound('not-found', `There is no revision ${number} of these metadata.`)
}

const putMetadata = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  revisionAskedFor(request)
  const placed = await loadEntry(deps, request)
  const read = graphReader(deps, request, reply, metadataUri(placed.entry))
  return sendChanged(reply, await deps.entries.putMetadata(request.caller, placed, read, preconditionOf(request)))
}

const deleteMetadata = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  revisionAskedFor(request)
  const placed = await loadEntry(deps, request)
  return sendChanged(reply, await deps.entries.putMetadata(request.caller, placed, empty, preconditionOf(request)))
}

const getCached = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const representation = representationFor(request, reply)
  const placed = await loadEntry(deps, request)
  const { entry } = placed
  requireRight(request.caller, 'readmetadata', placed, 'read the metadata of this entry')
  if (!hasExternalMetadata(entry)) throw new NotFound('not-found', 'This entry has no metadata elsewhere.')
  const cached = await findCached(deps, request, entry)
  if (isFresh(request, reply, cached, representation)) return await reply.status(304).send()
  nameFile(request, reply, entry, representation)
  return await sendGraph(reply, representation, deps.base.graphOutside(cached.graph))
}

const putCached = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const placed = await loadEntry(deps, request)
  const read = graphReader(deps, request, reply, cachedMetadataUri(placed.entry))
  return sendCached(reply, await deps.entries.putCachedMetadata(request.caller, placed, read, cachedCondition(request)))
}

const deleteCached = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const placed = await loadEntry(deps, request)
  return sendCached(
    reply,
    await deps.entries.putCachedMetadata(request.caller, placed, empty, cachedCondition(request)),
  )
}

const getMerged = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const representation = representationFor(request, reply)
  const placed = await loadEntry(deps, request)
  const { entry } = placed
  requireRight(request.caller, 'readmetadata', placed, 'read the metadata of this entry')
  const cached = hasExternalMetadata(entry) ? await findCachedMetadata(deps.database, request.caller, entry) : undefined
  // With metadata of another entry in it, the answer changes without this one.
  const isOwn = liveSourceOf(entry) === undefined
  if (isOwn && isFresh(request, reply, entry, representation)) return await reply.status(304).send()
  nameFile(request, reply, entry, representation)
  const merged = mergeGraphs(entry.metadata, cached?.graph ?? emptyGraph)
  return await sendGraph(reply, representation, deps.base.graphOutside(merged))
}

/** The copy has a tag of its own; dates are judged by the entry's, as clients know no other (wire facts 3.0.5, 3.0.6). */
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

async function findCached(deps: Services, request: FastifyRequest, entry: Entry): Promise<CachedMetadata> {
  const cached = await findCachedMetadata(deps.database, request.caller, entry)
  if (cached) return cached
  throw denied(request.caller, 'read the metadata that this entry refers to')
}

/** wire facts 3.5 */
function nameFile(request: FastifyRequest, reply: FastifyReply, entry: Entry, { syntax }: Representation): void {
  const type = request.parameters.has('download') ? 'attachment' : 'inline'
  reply.header('content-disposition', contentDisposition(`${fileNameOf(entry)}.${syntax.extension}`, { type }))
}
