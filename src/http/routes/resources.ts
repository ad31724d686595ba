import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findGroup } from '../../accounts/groups.ts'
import { NotFound, WrongMethod } from '../../base/errors.ts'
import { entryUri, metadataUri, resourceUri } from '../../model/addresses.ts'
import type { Entry } from '../../model/entry.ts'
import { listOrder } from '../../content/list-order.ts'
import { isList } from '../../content/list-records.ts'
import { orderedMembers } from '../../content/list-view.ts'
import { type EntryInContext, requireRight } from '../../model/rights.ts'
import { fileNameOf, mediaTypeOf as storedMediaType } from '../../content/uploads.ts'
import type { FileRecord } from '../../files/file-records.ts'
import { type Graph, uri } from '../../graph/graph.ts'
import { rdf } from '../../graph/vocabulary.ts'
import type { ByteRange } from '../../stores/blob-store.ts'
import { fileValidators, isRangeCurrent, isUnchanged, requirePreconditions, validatorHeaders } from '../conditional.ts'
import { describeResource } from '../describe.ts'
import { readOrder } from '../list-paging.ts'
import { parseRange } from '../range.ts'
import { embeddedGraphs, graphReader, isPlainJson, representationFor, sendGraph } from '../rdf.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'
import { readUpload } from '../upload-request.ts'
import { isFlagSet, refuseFeed } from '../query.ts'
import { isFresh, loadEntry, preconditionOf, sendChanged } from './entries.ts'

/** Resources by graph type: files, texts, graphs, lists, users, groups (wire facts 3.7, 3.8; D7). */
export const resourceRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/:context/resource/:entry', handle: getResource(deps), compressible: true, visited: true },
  { method: 'PUT', url: '/:context/resource/:entry', handle: putResource(deps) },
  { method: 'DELETE', url: '/:context/resource/:entry', handle: deleteResource(deps) },
]

const getResource = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const placed = await loadEntry(deps, request)
  const { entry } = placed
  requireRight(request.caller, 'readresource', placed, 'read the resource of this entry')
  if (entry.entryType !== 'Local') return redirectAbroad(reply, entry)
  if (entry.resourceType === 'NamedResource') return await reply.redirect(deps.base.toAbsolute(metadataUri(entry)), 303)
  if (entry.graphType === 'None') return await sendFile(deps, request, reply, entry)
  const isGraph = entry.graphType === 'Graph' || entry.graphType === 'Pipeline'
  const representation = isGraph || isList(entry) ? representationFor(request, reply) : undefined
  const order = isList(entry) ? readOrder(request.parameters) : listOrder
  // In another order than its own, a list changes with its members.
  const changesAlone = order.sort === undefined && order.first === undefined
  if (isFresh(request, reply, entry, representation) && changesAlone) return await reply.status(304).send()
  if (representation && isGraph) {
    return await sendGraph(reply, representation, deps.base.graphOutside(JSON.parse(entry.content ?? '{}') as Graph))
  }
  switch (entry.graphType) {
    case 'String':
      return await reply.type('text/plain; charset=utf-8').send(entry.content ?? '')
    case 'Graph':
    case 'Pipeline':
    case 'PipelineResult':
      return {}
    case 'List':
    case 'ResultList': {
      refuseFeed(request)
      const members = await orderedMembers(deps.database, request.caller, placed, order)
      if (!representation || isPlainJson(representation)) return members
      return await sendGraph(reply, representation, deps.base.graphOutside(sequenceOf(entry, members)))
    }
    case 'User':
      return await deps.userResource.describe(entry.id)
    case 'Group': {
      const group = await findGroup(deps.database, entry.id)
      if (!group) throw new NotFound('not-found', 'There is no such group.')
      const view = await deps.views.group(request.caller, group, placed.contextEntry)
      return describeResource(view, deps.base, embeddedGraphs(request))
    }
    case 'Context':
    case 'SystemContext':
      return await deps.contexts.list(request.caller, entry.id)
  }
}

/** A list in RDF (wire facts 3.8.5). */
const sequenceOf = (list: Entry, members: readonly string[]): Graph => ({
  [resourceUri(list)]: Object.fromEntries([
    [rdf.type, [uri(rdf.Seq)]],
    ...members.map((id, index) => [rdf.member(index + 1), [uri(entryUri({ context: list.context, id }))]] as const),
  ]),
})

/** Only to where a browser may go: a stored `javascript:` must not come back as a redirect. */
function redirectAbroad(reply: FastifyReply, { externalResource = '' }: Entry): FastifyReply {
  if (/^https?:\/\//i.test(externalResource)) return reply.redirect(encodeURI(decodeSafely(externalResource)), 303)
  throw new NotFound('not-found', 'The resource of this entry is not on the web.')
}

/** So that escapes already there are not escaped once more. */
function decodeSafely(uri: string): string {
  try {
    return decodeURI(uri)
  } catch {
    return uri
  }
}

/** Also what browsers send as POST with `method=put` (wire facts 3.0.4). */
export const putResource = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const placed = await loadEntry(deps, request)
  const { caller } = request
  const condition = preconditionOf(request)
  const readGraph = graphReader(deps, request, reply, resourceUri(placed.entry))
  const readJson = (): Promise<unknown> => deps.bodies.json(request.raw, reply.raw)
  const type = placed.entry.entryType === 'Local' ? placed.entry.graphType : 'None'
  switch (type) {
    case 'None':
      return await receiveFile(deps, request, reply, placed)
    case 'String': {
      // Clients label the text as JSON; it is taken as it comes (wire facts 3.8.2).
      const read = (): Promise<string> => deps.bodies.text(request.raw, reply.raw)
      return sendChanged(reply, await deps.resources.putString(caller, placed, read, condition))
    }
    case 'Graph':
    case 'Pipeline':
      return sendChanged(reply, await deps.resources.putGraph(caller, placed, readGraph, condition))
    case 'List':
    case 'ResultList':
      return sendChanged(reply, await deps.lists.put(caller, placed, readJson, condition))
    case 'Group':
      return sendChanged(reply, await deps.resources.putGroup(caller, placed, readJson, condition))
    case 'User':
      return sendChanged(reply, await deps.userResource.put(caller, placed, readJson, condition))
    case 'Context':
    case 'SystemContext':
    case 'PipelineResult':
      throw new WrongMethod('Writing this resource', ['GET', 'HEAD'])
  }
}

const deleteResource = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const placed = await loadEntry(deps, request)
  if (isList(placed.entry)) return await deleteList(deps, request, reply, placed)
  if (placed.entry.graphType !== 'None') throw new WrongMethod('DELETE', ['GET', 'HEAD', 'PUT'])
  const condition = fileCondition(request)
  return sendChanged(reply, await deps.uploads.remove(request.caller, placed, condition))
}

/** Empties a list, or deletes it with all that is in it (wire facts 3.8.5). */
async function deleteList(deps: Services, request: FastifyRequest, reply: FastifyReply, placed: EntryInContext) {
  const condition = preconditionOf(request)
  if (!isFlagSet(request.parameters, 'recursive')) {
    return sendChanged(reply, await deps.lists.clear(request.caller, placed, condition))
  }
  await deps.entries.delete(request.caller, placed, condition, true)
  return await reply.status(204).send()
}

const fileCondition = (request: FastifyRequest) => (entry: Entry, file: FileRecord | undefined) =>
  requirePreconditions(request.headers, fileValidators(entry, file))

async function receiveFile(
  deps: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  placed: EntryInContext,
): Promise<unknown> {
  const upload = readUpload(deps, request, reply)
  const { entry, file } = await deps.uploads.store(request.caller, placed, upload, fileCondition(request))
  reply.status(201).headers(validatorHeaders(fileValidators(entry, file)))
  return { success: 'The file has been stored.', format: storedMediaType(entry), size: file.size, sha256: file.sha256 }
}

async function sendFile(deps: Services, request: FastifyRequest, reply: FastifyReply, entry: Entry): Promise<unknown> {
  const { method, headers } = request
  const ifRange = [headers['if-range']].flat()[0]
  let outcome: 'unchanged' | ByteRange | 'all' = 'all'
  const found = await deps.files.read(entry, file => {
    // Before the bytes are opened: nothing that can be refused may leave a file handle behind.
    reply.headers(fileHeaders(deps, request, entry, file))
    const state = fileValidators(entry, file)
    if (isUnchanged(headers, state)) outcome = 'unchanged'
    // RFC 9110 14.2: a range means something with GET only.
    else if (method === 'HEAD') return undefined
    else outcome = (isRangeCurrent(ifRange, state) && parseRange(headers.range, file.size)) || 'all'
    return outcome === 'unchanged' ? undefined : outcome
  })
  if (!found) return await reply.status(204).send()
  return await sendPart(reply, outcome, found)
}

function sendPart(
  reply: FastifyReply,
  outcome: 'unchanged' | ByteRange | 'all',
  { file, bytes }: { readonly file: FileRecord; readonly bytes: NodeJS.ReadableStream | undefined },
): FastifyReply {
  if (outcome === 'unchanged') return reply.status(304).send()
  const isPart = outcome !== 'all'
  const length = isPart ? outcome.last - outcome.first + 1 : file.size
  if (isPart) reply.status(206).header('content-range', `bytes ${outcome.first}-${outcome.last}/${file.size}`)
  return reply.header('content-length', length).send(bytes)
}

/** D7.7: what is active in a browser comes as an attachment, and nothing that is shown can reach the service. */
function fileHeaders(deps: Services, request: FastifyRequest, entry: Entry, file: FileRecord): Record<string, string> {
  const type = storedMediaType(entry)
  const inline = !request.parameters.has('download') && isShownInline(type, deps.options.inlineTypes)
  return {
    ...validatorHeaders(fileValidators(entry, file)),
    'content-type': type.startsWith('text/') ? `${type}; charset=utf-8` : type,
    'content-disposition': contentDisposition(fileNameOf(entry), { type: inline ? 'inline' : 'attachment' }),
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    'accept-ranges': 'bytes',
    digest: `sha-256=${file.sha256}`,
    'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
  }
}

const passiveTypes =
  /^(?:image\/(?:png|jpe?g|gif|webp|avif|bmp|tiff)|audio\/.+|video\/.+|text\/(?:plain|csv)|application\/json)$/

const isShownInline = (type: string, configured: readonly string[]): boolean =>
  passiveTypes.test(type) || configured.includes(type)
