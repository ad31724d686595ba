import type { HttpServices } from '../http-services.ts'
import type { Files } from '../../files/files.ts'
import type { GraphReader } from '../../graph/graph-reader.ts'
import type { Resources } from '../../content/resources.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotFound } from '../../base/errors.ts'
import { mediaTypeOf as storedMediaType } from '../../content/file-description.ts'
import { isOwnOrder, listOrder } from '../../model/list-order.ts'
import type { ResourceBody, ResourceConditions } from '../../content/resource-kind.ts'
import { type Graph, uri } from '../../graph/graph.ts'
import { rdf } from '../../graph/vocabulary.ts'
import { type EntryKey, entryUri, metadataUri, resourceUri } from '../../model/addresses.ts'
import type { Entry } from '../../model/entry.ts'
import {
  fileValidators,
  requirePreconditions,
  validatorHeaders,
  isFresh,
  preconditionOf,
  sendChanged,
  describeResource,
  answerFormat,
  embeddedFormat,
  embeddedGraphs,
  graphReader,
  isPlainJson,
  representationFor,
  sendGraph,
} from '../representations.ts'
import { contentAddress, sendFile } from '../download.ts'
import {
  content,
  done,
  empty,
  json,
  redirect,
  unchanged,
  flagParameter,
  textParameter,
  type ValuesOf,
  type Refusals,
  route,
} from '../interface/route.ts'
import { streamedBody } from '../interface/bodies.ts'
import { anything } from '../interface/schema.ts'
import { StoredFile } from '../interface/shared-schemas.ts'
import { orderOf, orderQuery } from '../list-paging.ts'
import { addVary, preferenceAmong } from '../protocol/negotiate.ts'
import { heavyResource } from '../heavy-by-entry.ts'
import type { Reads } from '../read-services.ts'
import type { RightCheck } from '../running-transfers.ts'
import { fileRefusals, readUpload } from '../upload-request.ts'
import { ContextState, describeContext } from './contexts.ts'

interface Services extends HttpServices {
  readonly files: Files
  readonly graphs: GraphReader
  readonly resources: Resources
}

/** Any bytes: a file, a text, a graph, a list of ids, the data of a user. */
const resourceBody = streamedBody(['*/*'])

const uploadRefusals: Refusals = {
  400: [
    'missing-body',
    'missing-file',
    'invalid-form',
    'invalid-json',
    'invalid-graph',
    'invalid-value',
    ...fileRefusals[400],
  ],
  401: [],
  403: [],
  404: [],
  408: ['request-timeout'],
  413: [...fileRefusals[413], 'graph-too-large'],
  503: fileRefusals[503],
}

const chapter = 'Resources'
const resourceQuery = {
  download: flagParameter('A file: as an attachment.'),
  format: answerFormat,
  rdfFormat: embeddedFormat,
  ...orderQuery,
}

/** The resources that entries hold, as they are read (W3.7, W3.8; D7). */
export const resourceReadRoutes = [
  route({
    id: 'readResource',
    method: 'GET',
    url: '/:context/resource/:entry',
    chapter,
    summary: 'Read the file, text, graph, list, user or group that an entry holds.',
    access: 'callers who can read the resource',
    query: resourceQuery,
    answers: {
      200: content('The resource, in its own media type.', ['*/*'], anything),
      204: empty('No file has been uploaded.'),
      206: content('The part of the file that `Range` asks for.', ['*/*'], anything),
      302: redirect('Of an active file opened in a browser: to the content origin (`service.content.base-url`).'),
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
    htmlErrors: true,
    heavy: heavyResource,
    handle: async (deps: ReadDependencies, { request, reply, params, query }) =>
      await getResource(deps, request, reply, { params, query }),
  }),
]

/** Changes of resources, by graph type: files, texts, graphs, lists, users, groups (W3.7, W3.8; D7). */
export const resourceRoutes = [
  route({
    id: 'writeResource',
    method: 'PUT',
    url: '/:context/resource/:entry',
    chapter,
    summary: 'Upload a file; or replace the text, the graph, the members of a list or group, or data of a user.',
    details:
      'For a user the body has one or more of `name`, `password`, `currentPassword`, `language`, `homecontext`, `disabled` and `customProperties`. With `temporaryPassword` ' +
      'the user must choose another password at the next sign-in.',
    access: 'callers who can write the resource',
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
      403: ['not-allowed', 'current-password-required', 'current-password-wrong', 'password-login-off'],
      405: ['method-not-allowed'],
      409: ['conflict', 'name-taken'],
      429: ['locked-out'],
    },
    conditional: 'write',
    handle: async (deps: Services, { request, reply, params }) => await putResource(deps, request, reply, params),
  }),
  route({
    id: 'deleteResource',
    method: 'DELETE',
    url: '/:context/resource/:entry',
    chapter,
    summary: 'Delete the file, empty the text, or remove all members from the list. The entry stays.',
    access: 'callers who can write the resource',
    query: { recursive: flagParameter('On a list: deletes the list and all entries in it, at most 10,000.') },
    answers: { 204: done },
    refusals: { 401: [], 403: [], 404: ['no-file'], 405: ['method-not-allowed'], 413: ['list-too-large'] },
    conditional: 'write',
    handle: async ({ resources }: Services, { request, reply, caller, params, query }) => {
      const entry = await resources.clear(caller, params, conditionsOf(request), query.recursive)
      return entry ? sendChanged(reply, entry) : await reply.status(204).send()
    },
  }),
]

/** Files are streams: no reader thread sends them. */
type ReadDependencies = Reads<'base' | 'resources'> &
  Partial<Pick<Services, 'contentOrigin' | 'files' | 'options' | 'transfers'>>

async function getResource(
  deps: ReadDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { params, query }: { readonly params: EntryKey; readonly query: ValuesOf<typeof resourceQuery> },
): Promise<unknown> {
  const { entry, content } = await deps.resources.read(request.caller, params)
  if (entry.entryType !== 'Local') return redirectAbroad(reply, entry)
  if (!content) return await reply.redirect(deps.base.toAbsolute(metadataUri(entry)), 303)
  const { form } = content
  if (form === 'file') {
    const { contentOrigin, files, options, transfers } = deps
    if (!files || !options || !transfers) throw new TypeError('a reader thread was asked for a file')
    const address = await contentAddress({ contentOrigin, files }, request, reply, entry)
    if (address === undefined) {
      const check: RightCheck = caller =>
        deps.resources.recheck(caller, 'readresource', { context: entry.context, entry: entry.id })
      return await sendFile({ files, options, transfers }, request, reply, entry, { check })
    }
    // A stored redirect would lead to an expired ticket.
    return await reply.header('cache-control', 'no-store').redirect(address, 302)
  }
  const representation =
    form === 'graph' || form === 'members'
      ? representationFor(request, reply, form === 'graph' ? 'xml' : 'json')
      : undefined
  const order = form === 'members' ? orderOf(query) : listOrder
  // In an order other than its own, a list also changes with its members.
  const isCurrent = isFresh(request, reply, entry, representation) && content.isVersioned && isOwnOrder(order)
  if (isCurrent) return await reply.status(304).send()
  switch (content.form) {
    case 'text':
      return await sendText(request, reply, content.read())
    case 'graph':
      return (
        representation &&
        (await sendGraph(deps.base, reply, representation, { graph: content.read(), name: resourceUri(entry) }))
      )
    case 'members': {
      const members = await content.read(order)
      if (!representation || isPlainJson(representation)) return members
      return await sendGraph(deps.base, reply, representation, {
        graph: sequenceOf(entry, members),
        name: resourceUri(entry),
      })
    }
    case 'view':
      return describeResource(await content.read(), entry, deps.base, embeddedGraphs(request))
    case 'ids':
      return await content.read()
    case 'json':
      return await content.read()
  }
}

const preferredTextType = preferenceAmong(['text/plain', 'application/json'])

/** The text itself, also for clients that accept only JSON, because that is how they send it (W3.8.2). */
async function sendText(request: FastifyRequest, reply: FastifyReply, text: string): Promise<unknown> {
  addVary(reply, 'Accept')
  const type = preferredTextType(request) ?? 'text/plain'
  // As a script it would be code that the author of the text chose.
  return await reply.type(`${request.callback === undefined ? type : 'text/plain'}; charset=utf-8`).send(text)
}

/** A list in RDF (W3.8.5). */
const sequenceOf = (list: Entry, members: readonly string[]): Graph => ({
  [resourceUri(list)]: Object.fromEntries([
    [rdf.type, [uri(rdf.Seq)]],
    ...members.map((id, index) => [rdf.member(index + 1), [uri(entryUri({ context: list.context, id }))]] as const),
  ]),
})

/** Only to addresses that are safe in a browser: a stored `javascript:` must not come back as a redirect. */
function redirectAbroad(reply: FastifyReply, { externalResource = '' }: Entry): FastifyReply {
  if (/^https?:\/\//i.test(externalResource)) return reply.redirect(encodeURI(decodeSafely(externalResource)), 303)
  throw new NotFound(
    'not-found',
    'The resource of this entry has no http or https address, so there is nothing to redirect to.',
  )
}

/** Prevents existing escapes from being escaped again. */
function decodeSafely(uri: string): string {
  try {
    return decodeURI(uri)
  } catch {
    return uri
  }
}

async function putResource(
  deps: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  key: EntryKey,
): Promise<unknown> {
  const body: ResourceBody = {
    // Clients label the text as JSON; it is stored unchanged (W3.8.2).
    text: () => deps.bodies.text(request.raw, reply.raw),
    json: () => deps.bodies.json(request.raw, reply.raw),
    graph: graphReader(deps, request, reply, resourceUri),
    upload: () => readUpload(deps, request, reply, caller => deps.resources.recheck(caller, 'writeresource', key)),
  }
  const { entry, file, context } = await deps.resources.write(request.caller, key, body, conditionsOf(request))
  if (context) return describeContext(reply, context)
  if (!file) return sendChanged(reply, entry)
  reply.status(201).headers(validatorHeaders(fileValidators(entry, file)))
  return { success: 'The file has been stored.', format: storedMediaType(entry), size: file.size, sha256: file.sha256 }
}

const conditionsOf = (request: FastifyRequest): ResourceConditions => ({
  entry: preconditionOf(request),
  file: (entry, file) => requirePreconditions(request.headers, fileValidators(entry, file)),
})
