import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import { entryUri } from '../../model/addresses.ts'
import { hasName } from '../../content/entries.ts'
import type { Entry } from '../../model/entry.ts'
import { type EntryInContext, requireRight } from '../../model/rights.ts'
import { isObject } from '../../content/values.ts'
import {
  entryValidators,
  isUnchanged,
  requirePreconditions,
  validatorHeaders,
  withoutVariants,
} from '../conditional.ts'
import { describeEntry } from '../describe.ts'
import { readPaging } from '../list-paging.ts'
import { isFlagSet } from '../query.ts'
import { embeddedGraphs, graphReader, isPlainJson, type Representation, representationFor, sendGraph } from '../rdf.ts'
import { type Route, pathPart } from '../route.ts'
import type { Services } from '../services.ts'

/** Entries: the whole, info, name, deletion (wire facts 3.3, 3.4). */
export const entryRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/:context/entry/:entry', handle: getEntry(deps), compressible: true },
  { method: 'PUT', url: '/:context/entry/:entry', handle: putEntry(deps) },
  { method: 'DELETE', url: '/:context/entry/:entry', handle: deleteEntry(deps) },
  { method: 'GET', url: '/:context/entry/:entry/name', handle: getName(deps) },
  { method: 'PUT', url: '/:context/entry/:entry/name', handle: putName(deps) },
]

const getEntry = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const representation = representationFor(request, reply)
  const form = embeddedGraphs(request)
  const placed = await loadEntry(deps, request)
  if (!isPlainJson(representation)) return await sendInfo(deps, request, reply, placed, representation)
  const isDetailed = request.parameters.has('includeAll')
  const view = await deps.views.of(request.caller, placed, isDetailed, readPaging(request.parameters))
  const isFreshEntry = isFresh(request, reply, placed.entry)
  // What only some may see, and the fill level, change without the entry: a 304 would bring somebody else's view back.
  const isTheSameForAll = !isDetailed && view.quota === undefined
  if (isFreshEntry && isTheSameForAll) return await reply.status(304).send()
  return describeEntry(view, deps.base, form)
}

/** In a syntax of RDF an entry is its info (wire facts 3.3.1). */
async function sendInfo(
  deps: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  placed: EntryInContext,
  representation: Representation,
): Promise<unknown> {
  const { info } = await deps.views.of(request.caller, placed, false)
  if (isFresh(request, reply, placed.entry, representation)) return await reply.status(304).send()
  return await sendGraph(reply, representation, deps.base.graphOutside(info))
}

const putEntry = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const placed = await loadEntry(deps, request)
  const read = graphReader(deps, request, reply, entryUri(placed.entry))
  const toMembers = isFlagSet(request.parameters, 'applyACLtoChildren')
  return sendChanged(
    reply,
    await deps.entries.putInfo(request.caller, placed, read, preconditionOf(request), toMembers),
  )
}

const deleteEntry = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const recursive = isFlagSet(request.parameters, 'recursive')
  await deps.entries.delete(request.caller, await loadEntry(deps, request), preconditionOf(request), recursive)
  return await reply.status(204).send()
}

const getName = (deps: Services) => async (request: FastifyRequest) => {
  const placed = await loadEntry(deps, request)
  // Names of contexts are open to everybody, those of people and groups to who may read their metadata (wire facts 4.4).
  const isContext = placed.entry.graphType === 'Context' || placed.entry.graphType === 'SystemContext'
  if (hasName(placed.entry) && !isContext) requireRight(request.caller, 'readmetadata', placed, 'read this name')
  const name = await deps.entries.nameOf(placed.entry)
  if (name === undefined) throw new NotFound('not-found', 'This entry has no name.')
  return { name }
}

const putName = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const placed = await loadEntry(deps, request)
  const read = async (): Promise<string> => {
    const body = await deps.bodies.json(request.raw, reply.raw)
    if (isObject(body) && typeof body['name'] === 'string') return body['name']
    throw new InvalidInput('invalid-json', 'Send {"name": "…"}.')
  }
  return sendChanged(reply, await deps.entries.rename(request.caller, placed, read))
}

/** The entry that the path names. @throws {NotFound} */
export const loadEntry = async (deps: Services, request: FastifyRequest): Promise<EntryInContext> =>
  await deps.entries.get(pathPart(request, 'context'), pathPart(request, 'entry'))

/** The conditions of the request, judged against an entry inside the transaction that changes it. */
export const preconditionOf =
  (request: FastifyRequest) =>
  (entry: Entry): void =>
    requirePreconditions(withoutVariants(request.headers), entryValidators(entry))

/** Sets the validators of the entry; true when the client has this very state. */
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

export const sendCreated = (deps: Services, reply: FastifyReply, entry: Entry): FastifyReply =>
  reply
    .status(201)
    .headers({ ...validatorHeaders(entryValidators(entry)), location: deps.base.toAbsolute(entryUri(entry)) })
    .send({ entryId: entry.id })
