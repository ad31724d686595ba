import type { FastifyReply, FastifyRequest } from 'fastify'
import { findGroup } from '../../accounts/groups.ts'
import { NotFound, WrongMethod } from '../../base/errors.ts'
import { listOrder, type Order } from '../../content/list-order.ts'
import { isList } from '../../content/list-records.ts'
import { orderedMembers } from '../../content/list-view.ts'
import { mediaTypeOf as storedMediaType } from '../../content/uploads.ts'
import { type FileRecord, findFile } from '../../files/file-records.ts'
import { type Graph, uri } from '../../graph/graph.ts'
import { rdf } from '../../graph/vocabulary.ts'
import { entryUri, metadataUri, resourceUri } from '../../model/addresses.ts'
import type { Entry } from '../../model/entry.ts'
import { type EntryInContext, requireRight } from '../../model/rights.ts'
import { fileValidators, requirePreconditions, validatorHeaders } from '../conditional.ts'
import { describeResource } from '../describe.ts'
import { sendFile } from '../download.ts'
import { content, done, empty, json, redirect, unchanged } from '../interface/answer.ts'
import { streamedBody } from '../interface/body.ts'
import { flag, text as textParameter, type ValuesOf } from '../interface/parameters.ts'
import { type Refusals, route } from '../interface/route.ts'
import { anything } from '../interface/schema.ts'
import { StoredFile } from '../interface/schemas.ts'
import { orderOf, orderQuery } from '../list-paging.ts'
import { refuseFeed } from '../protocol/query.ts'
import {
  answerFormat,
  embeddedFormat,
  embeddedGraphs,
  graphReader,
  isPlainJson,
  representationFor,
  sendGraph,
} from '../rdf.ts'
import type { Uses } from '../services.ts'
import { readUpload } from '../upload-request.ts'
import { changeContext, ContextState } from './context-changes.ts'
import { isFresh, loadEntry, preconditionOf, sendChanged } from './entries.ts'

/** Any bytes: a file, a text, a graph, a list of ids, the data of a user. */
export const resourceBody = streamedBody(['*/*'])

export const uploadRefusals: Refusals = {
  400: ['missing-body', 'missing-file', 'invalid-form', 'invalid-json', 'invalid-graph', 'invalid-value'],
  401: [],
  403: [],
  404: [],
  408: ['request-timeout'],
  413: ['quota-exceeded', 'file-too-large', 'graph-too-large'],
}

const chapter = 'Resources'
const resourceQuery = {
  download: flag('A file: as an attachment.'),
  format: answerFormat,
  rdfFormat: embeddedFormat,
  ...orderQuery,
}

/** Resources by graph type: files, texts, graphs, lists, users, groups (W3.7, W3.8; D7). */
export const resourceRoutes = [
  route({
    id: 'readResource',
    method: 'GET',
    url: '/:context/resource/:entry',
    chapter,
    summary: 'Read the file, text, graph, list, user or group that an entry holds.',
    access: 'those who may read the resource',
    query: resourceQuery,
    answers: {
      200: content('The resource, in its own media type.', ['*/*'], anything),
      204: empty('No file has been uploaded.'),
      206: content('The part of the file that `Range` asks for.', ['*/*'], anything),
      303: redirect('Of a Link, LinkReference or Reference: to its resource. Of a thing: to its metadata.'),
      304: unchanged,
    },
    refusals: {
      401: [],
      403: [],
      404: ['not-found'],
      406: ['not-acceptable'],
      416: ['range-not-satisfiable'],
      501: ['not-available'],
    },
    conditional: 'read',
    compressible: true,
    visited: true,
    handle: async (deps: ReadServices, { request, reply, query }) => await getResource(deps, request, reply, query),
  }),
  route({
    id: 'writeResource',
    method: 'PUT',
    url: '/:context/resource/:entry',
    chapter,
    summary: 'Upload a file; or replace the text, the graph, the members of a list or group, or data of a user.',
    access: 'those who may write the resource',
    query: { mimeType: textParameter('Media type of the file, instead of `Content-Type`.') },
    body: resourceBody,
    answers: {
      200: json('Of a context: its name and quota, as for `PUT /{context}`.', ContextState),
      201: json('The file is stored.', StoredFile),
      204: done,
    },
    refusals: {
      ...uploadRefusals,
      400: [...(uploadRefusals[400] ?? []), 'invalid-member', 'invalid-name', 'password-rules', 'password-too-long'],
      403: ['not-allowed', 'current-password-required', 'current-password-wrong'],
      405: ['method-not-allowed'],
      409: ['conflict', 'name-taken'],
      429: ['locked-out'],
    },
    conditional: 'write',
    handle: async (deps: ResourceServices, { request, reply }) => await putResource(deps, request, reply),
  }),
  route({
    id: 'deleteResource',
    method: 'DELETE',
    url: '/:context/resource/:entry',
    chapter,
    summary: 'Delete the file, empty the text, or remove all members from the list. The entry stays.',
    access: 'those who may write the resource',
    query: { recursive: flag('On a list: deletes the list and all entries in it.') },
    answers: { 204: done },
    refusals: { 401: [], 403: [], 404: ['no-file'], 405: ['method-not-allowed'] },
    conditional: 'write',
    handle: async (deps: Uses<'entries' | 'lists' | 'resources' | 'uploads'>, { request, reply, query }) => {
      const placed = await loadEntry(deps, request)
      if (isList(placed.entry)) return await deleteList(deps, request, reply, placed, query.recursive)
      if (placed.entry.graphType === 'String') {
        const condition = preconditionOf(request)
        return sendChanged(reply, await deps.resources.putString(request.caller, placed, async () => '', condition))
      }
      if (placed.entry.graphType !== 'None') throw new WrongMethod('DELETE', ['GET', 'HEAD', 'PUT'])
      const condition = fileCondition(request)
      return sendChanged(reply, await deps.uploads.remove(request.caller, placed, condition))
    },
  }),
]

type ReadServices = Uses<'base' | 'contexts' | 'database' | 'entries' | 'files' | 'options' | 'userResource' | 'views'>
export type ResourceServices = Uses<
  | 'base'
  | 'bodies'
  | 'contexts'
  | 'database'
  | 'entries'
  | 'graphs'
  | 'lists'
  | 'resources'
  | 'uploads'
  | 'userResource'
>

async function getResource(
  deps: ReadServices,
  request: FastifyRequest,
  reply: FastifyReply,
  query: ValuesOf<typeof resourceQuery>,
): Promise<unknown> {
  const placed = await loadEntry(deps, request)
  const { entry } = placed
  requireRight(request.caller, 'readresource', placed, 'read the resource of this entry')
  if (entry.entryType !== 'Local') return redirectAbroad(reply, entry)
  if (entry.resourceType === 'NamedResource') return await reply.redirect(deps.base.toAbsolute(metadataUri(entry)), 303)
  if (entry.graphType === 'None') return await sendFile(deps, request, reply, entry)
  const isGraph = entry.graphType === 'Graph' || entry.graphType === 'Pipeline'
  const representation = isGraph || isList(entry) ? representationFor(request, reply) : undefined
  const order = isList(entry) ? orderOf(query) : listOrder
  if (isFresh(request, reply, entry, representation) && changesWithItsEntry(entry, order))
    return await reply.status(304).send()
  if (representation && isGraph) {
    return await sendGraph(reply, representation, deps.base.graphOutside(JSON.parse(entry.content ?? '{}') as Graph))
  }
  switch (entry.graphType) {
    case 'String':
      return await reply.type('text/plain; charset=utf-8').send(entry.content ?? '')
    case 'Graph':
    case 'Pipeline':
      return {}
    case 'PipelineResult':
      // Only an import brings files to these.
      return (await findFile(deps.database, entry)) ? await sendFile(deps, request, reply, entry) : {}
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
      refuseFeed(request)
      return await deps.contexts.list(request.caller, entry.id)
  }
}

/**
 * Whether the resource changes only together with its entry, so that the entry's ETag identifies its state. That is not so
 * for users (lockouts), groups (members), contexts (new entries), and lists in an order other than their own (changed
 * members).
 */
const changesWithItsEntry = ({ graphType }: Entry, { sort, first }: Order): boolean =>
  !['User', 'Group', 'Context', 'SystemContext'].includes(graphType) && sort === undefined && first === undefined

/** A list in RDF (W3.8.5). */
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

/** Prevents existing escapes from being escaped again. */
function decodeSafely(uri: string): string {
  try {
    return decodeURI(uri)
  } catch {
    return uri
  }
}

/** Also what browsers send as POST with `method=put` (W3.0.4). */
export async function putResource(
  deps: ResourceServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
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
      // Clients label the text as JSON; it is taken as it comes (W3.8.2).
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
      return await changeContext(deps, reply, caller, placed.entry.id, readJson)
    case 'PipelineResult':
      throw new WrongMethod('Writing this resource', ['GET', 'HEAD'])
  }
}

/** Removes the members of a list, or deletes it with all entries in it (W3.8.5). */
async function deleteList(
  deps: Uses<'entries' | 'lists'>,
  request: FastifyRequest,
  reply: FastifyReply,
  placed: EntryInContext,
  isRecursive: boolean,
): Promise<unknown> {
  const condition = preconditionOf(request)
  if (!isRecursive) {
    return sendChanged(reply, await deps.lists.clear(request.caller, placed, condition))
  }
  await deps.entries.delete(request.caller, placed, condition, true)
  return await reply.status(204).send()
}

const fileCondition = (request: FastifyRequest) => (entry: Entry, file: FileRecord | undefined) =>
  requirePreconditions(request.headers, fileValidators(entry, file))

async function receiveFile(
  deps: Uses<'bodies' | 'uploads'>,
  request: FastifyRequest,
  reply: FastifyReply,
  placed: EntryInContext,
): Promise<unknown> {
  const upload = readUpload(deps, request, reply)
  const { entry, file } = await deps.uploads.store(request.caller, placed, upload, fileCondition(request))
  reply.status(201).headers(validatorHeaders(fileValidators(entry, file)))
  return { success: 'The file has been stored.', format: storedMediaType(entry), size: file.size, sha256: file.sha256 }
}
