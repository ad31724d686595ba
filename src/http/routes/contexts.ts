import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotSupported } from '../../base/errors.ts'
import type { ContextDescription } from '../../content/context-resource.ts'
import { entryUri, PRINCIPALS } from '../../model/addresses.ts'
import type { CreationRequest } from '../../content/creation.ts'
import { mediaTypeOf as storedMediaType } from '../../content/uploads.ts'
import { entryValidators, fileValidators, validatorHeaders } from '../conditional.ts'
import { readCreation } from '../creation-request.ts'
import { type Route, pathPart } from '../route.ts'
import type { Services } from '../services.ts'
import { isFlagSet, refuseFeed } from '../query.ts'
import { readUpload } from '../upload-request.ts'
import { sendCreated } from './entries.ts'

/** Contexts as resources: what is in them, making entries, name and quota (wire facts 3.2, 3.9; D7.1, D7.2). */
export const contextRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/:context', handle: getContext(deps), compressible: true },
  { method: 'POST', url: '/:context', handle: postContext(deps) },
  { method: 'PUT', url: '/:context', handle: putContext(deps) },
  ...quotaRoutes(deps),
  { method: 'POST', url: `/${PRINCIPALS}/groups`, handle: postGroups(deps) },
]

/** With quota off there is no such resource, by whatever method (D7.1). */
function quotaRoutes(deps: Services): Route[] {
  const url = '/:context/quota'
  if (!deps.ledger.enforced) {
    const handle = (): Promise<never> =>
      Promise.reject(new NotSupported('quota-not-supported', 'Quota is switched off on this service.'))
    return (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map(method => ({
      method,
      url,
      handle,
      onlyRefuses: true,
    }))
  }
  return [
    { method: 'GET', url, handle: getQuota(deps) },
    { method: 'PUT', url, handle: putQuota(deps) },
    { method: 'DELETE', url, handle: deleteQuota(deps) },
  ]
}

const getContext = (deps: Services) => async (request: FastifyRequest) => {
  refuseFeed(request)
  const name = request.parameters.get('entryname')
  const context = pathPart(request, 'context')
  if (name !== undefined) return await deps.contexts.named(request.caller, context, name)
  return await deps.contexts.list(request.caller, context)
}

const postContext = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const wanted = readCreation(deps, request, reply)
  if (isFlagSet(request.parameters, 'file')) return await createWithFile(deps, request, reply, wanted)
  return sendCreated(deps, reply, await deps.creation.create(request.caller, pathPart(request, 'context'), wanted))
}

/** The body is the file, described by the same headers and parameters as in `PUT` of a file; there is no other body. */
async function createWithFile(deps: Services, request: FastifyRequest, reply: FastifyReply, wanted: CreationRequest) {
  const { caller } = request
  const withoutBody = { ...wanted, body: async () => () => ({}) }
  const upload = readUpload(deps, request, reply)
  const { entry, file } = await deps.uploads.create(caller, pathPart(request, 'context'), withoutBody, upload)
  reply
    .status(201)
    .headers({ ...validatorHeaders(fileValidators(entry, file)), location: deps.base.toAbsolute(entryUri(entry)) })
  return { entryId: entry.id, format: storedMediaType(entry), size: file.size, sha256: file.sha256 }
}

const postGroups = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { parameters, caller } = request
  const group = await deps.creation.createGroupWithContext(caller, parameters.get('name'), parameters.get('contextId'))
  return sendCreated(deps, reply, group)
}

const putContext = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const read = (): Promise<unknown> => deps.bodies.json(request.raw, reply.raw)
  const context = await deps.contexts.put(request.caller, pathPart(request, 'context'), read)
  reply.headers(validatorHeaders(entryValidators(context.entry)))
  return { contextId: context.entry.id, name: context.name, alias: context.name, quota: context.quota }
}

const getQuota = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) =>
  describeQuota(reply, await deps.contexts.quota(request.caller, pathPart(request, 'context')))

const putQuota = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const read = (): Promise<unknown> => deps.bodies.json(request.raw, reply.raw)
  return describeQuota(reply, await deps.contexts.setQuota(request.caller, pathPart(request, 'context'), read))
}

const deleteQuota = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) =>
  describeQuota(reply, await deps.contexts.setQuota(request.caller, pathPart(request, 'context'), undefined))

/** Quota and fill level change without the entry, so they carry no validators of it but the date clients rely on. */
function describeQuota(reply: FastifyReply, { entry, quota }: ContextDescription): unknown {
  reply.header('last-modified', new Date(entry.modified).toUTCString())
  return quota
}
