import type { HttpServices } from '../http-services.ts'
import type { ContextKind } from '../../content/kinds/context.ts'
import type { Creation } from '../../content/creation.ts'
import type { GraphReader } from '../../graph/graph-reader.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { quotaObject } from '../../files/quota-ledger.ts'
import type { ContextDescription, CreationRequest } from '../../content/resource-kind.ts'
import { entryValidators, fileValidators, sendCreated, validatorHeaders, withLocation } from '../representations.ts'
import { anyOf, anything, integer, named, object, openObject, optional, text } from '../interface/schema.ts'
import { count, Graph, Ids, Quota, SentQuota } from '../interface/shared-schemas.ts'
import { mediaTypeOf as storedMediaType } from '../../content/file-description.ts'
import { entryUri, PRINCIPALS } from '../../model/addresses.ts'
import { creationQuery, readCreation } from '../creation-request.ts'
import { empty, json, type Links, type Refusals, route, textParameter } from '../interface/route.ts'
import { checkedBelow, streamedBody } from '../interface/bodies.ts'
import type { Reads } from '../read-services.ts'
import { callerOnly } from '../running-transfers.ts'
import { fileRefusals, readUpload } from '../upload-request.ts'

interface Services extends HttpServices {
  readonly contexts: ContextKind
  readonly creation: Creation
  readonly graphs: GraphReader
}

export const ContextState = named(
  'Context',
  object({ contextId: text(), name: optional(text()), alias: optional(text()), quota: optional(Quota) }),
)

/** Name and quota of a context, which has two addresses: `/{c}` and `/_contexts/resource/{c}` (D7.2). */
export function describeContext(reply: FastifyReply, { entry, name, quota }: ContextDescription): unknown {
  reply.headers(validatorHeaders(entryValidators(entry)))
  return { contextId: entry.id, name, alias: name, quota: quota && quotaObject(quota) }
}

const Created = named(
  'Created',
  object({ entryId: text(), format: optional(text()), size: optional(count), sha256: optional(text()) }),
)

const NewEntry = named(
  'NewEntry',
  openObject({
    metadata: optional(Graph),
    info: optional(Graph),
    resource: optional(anything),
    'cached-external-metadata': optional(Graph),
  }),
)

const creationRefusals: Refusals = {
  400: [
    'invalid-id',
    'invalid-type',
    'invalid-uri',
    'invalid-name',
    'invalid-quota',
    'invalid-member',
    'unknown-list',
    'invalid-graph',
  ],
  401: [],
  403: [],
  404: ['not-found'],
  409: ['id-taken', 'name-taken', 'conflict'],
  501: ['quota-not-supported'],
}

/** Useful requests for a newly created entry. */
const newEntry = { context: '$request.path.context', entry: '$response.body#/entryId' }
const entryLinks: Links = {
  readEntry: newEntry,
  writeInfo: newEntry,
  readName: newEntry,
  rename: newEntry,
  readMetadata: newEntry,
  writeMetadata: newEntry,
  emptyMetadata: newEntry,
  readCachedMetadata: newEntry,
  writeCachedMetadata: newEntry,
  readMergedMetadata: newEntry,
  readRelations: newEntry,
  readResource: newEntry,
  writeResource: newEntry,
  postToResource: newEntry,
  deleteResource: newEntry,
  readIndex: newEntry,
  deleteEntry: newEntry,
}

/** What a context contains (W3.9). */
export const contextReadRoutes = [
  route({
    id: 'readContext',
    method: 'GET',
    url: '/:context',
    chapter: 'Contexts and quota',
    summary: 'List the ids of all entries of a context.',
    access: 'administrators',
    query: {
      entryname: textParameter('In `_contexts` and `_principals`: only the id of the entry with this name.'),
    },
    answers: { 200: json('The ids.', Ids) },
    refusals: { 401: [], 403: [], 404: [], 501: ['not-available'] },
    compressible: true,
    heavy: request => !request.parameters.has('entryname'),
    handle: async ({ contexts }: Reads<'contexts'>, { caller, params, query }) => {
      if (query.entryname !== undefined) return await contexts.named(caller, params.context, query.entryname)
      return await contexts.list(caller, params.context)
    },
  }),
]

/** Contexts as resources: their entries, creation of entries, name and quota (W3.2, W3.9; D7.1, D7.2). */
export const contextRoutes = [
  route({
    id: 'createEntry',
    method: 'POST',
    url: '/:context',
    chapter: 'Creating',
    summary: 'Create an entry.',
    access:
      'callers who can write to the resource of the context, or to the list; in `_contexts` and `_principals` administrators',
    details: '`_newId` in the body stands for the id of the new entry.',
    query: creationQuery,
    body: {
      ...streamedBody(['application/json'], { schema: NewEntry }),
      example: {
        metadata: { 'http://example.org/a': { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'A' }] } },
      },
    },
    answers: {
      201: json('Created. `Location` is the URI of the entry.', Created, {
        headers: { Location: 'URI of the new entry.' },
        links: entryLinks,
      }),
    },
    refusals: {
      ...creationRefusals,
      400: [...(creationRefusals[400] ?? []), 'password-rules', ...fileRefusals[400]],
      408: ['request-timeout'],
      413: [...fileRefusals[413], 'graph-too-large'],
      503: fileRefusals[503],
    },
    handle: async (deps: Services, { request, reply, caller, params, query }) => {
      const requested = readCreation(deps, request, reply, query)
      if (query.file) return await createWithFile(deps, request, reply, requested)
      return sendCreated(deps, reply, await deps.creation.create(caller, params.context, requested))
    },
  }),
  route({
    id: 'createGroupWithContext',
    method: 'POST',
    url: `/${PRINCIPALS}/groups`,
    chapter: 'Creating',
    summary: 'Create a group with the caller as its member, and a context that the group may write to.',
    access: 'administrators; with `service.nonadmin.group-context-creation=on` signed-in users',
    query: {
      name: textParameter('Name of the group and of the context.'),
      contextId: textParameter('The requested id of the context.', {
        example: 'survey',
        keywords: { pattern: '^[A-Za-z0-9_-]+$', maxLength: 256 },
      }),
    },
    answers: {
      201: empty('Created. `Location` is the URI of the group.', {
        headers: { Location: 'URI of the group.' },
        links: {
          readContext: { context: '$request.query.contextId' },
          createEntry: { context: '$request.query.contextId' },
          changeContext: { context: '$request.query.contextId' },
          readQuota: { context: '$request.query.contextId' },
          setQuota: { context: '$request.query.contextId' },
          exportContext: { context: '$request.query.contextId' },
          readStatistics: { context: '$request.query.contextId' },
        },
      }),
    },
    refusals: { 400: ['invalid-name', 'invalid-id'], 401: [], 403: [], 409: ['id-taken', 'name-taken'] },
    handle: async (deps: Services, { reply, caller, query }) =>
      withLocation(deps, reply, await deps.creation.createGroupWithContext(caller, query.name, query.contextId)).send(),
  }),
  route({
    id: 'changeContext',
    method: 'PUT',
    url: '/:context',
    chapter: 'Contexts and quota',
    summary: 'Change the name and the quota of a context, one or both.',
    access: 'users who administer the context; the quota: administrators',
    body: checkedBelow(openObject({ alias: optional(text()), quota: optional(anyOf(integer(-1), SentQuota)) }), {
      example: { quota: 150_000_000 },
    }),
    answers: { 200: json('The context.', ContextState) },
    refusals: {
      400: ['invalid-name', 'invalid-quota'],
      401: [],
      403: [],
      404: [],
      409: ['name-taken'],
      501: ['quota-not-supported'],
    },
    handle: async (deps: Services, { reply, caller, params, body }) =>
      describeContext(reply, await deps.contexts.put(caller, params.context, body)),
  }),
]

/** The body is the file, described by the same headers and parameters as in PUT of a file; there is no other body. */
async function createWithFile(
  deps: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  requested: CreationRequest,
) {
  const { context } = request.params as { readonly context: string }
  const withoutBody = { ...requested, body: async () => () => ({}) }
  const upload = readUpload(deps, request, reply, callerOnly)
  const { entry, file } = await deps.creation.createWithFile(request.caller, context, withoutBody, upload)
  reply
    .status(201)
    .headers({ ...validatorHeaders(fileValidators(entry, file)), location: deps.base.toAbsolute(entryUri(entry)) })
  return { entryId: entry.id, format: storedMediaType(entry), size: file.size, sha256: file.sha256 }
}
