import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import { liveSourceOf } from '../../content/cached-metadata.ts'
import { findEntry } from '../../content/entry-records.ts'
import { type LookupScope, lookUp, lookupScopes, metadataIn } from '../../content/lookup.ts'
import { RELATIVE } from '../../graph/iri.ts'
import { isUnchanged, validatorHeaders } from '../conditional.ts'
import { representationFor, sendGraph } from '../rdf.ts'
import { pathPart, type Route } from '../route.ts'
import type { Services } from '../services.ts'

/** Metadata by the URI of what they are about (wire facts 3.12). */
export const lookupRoutes = (deps: Services): Route[] => [
  {
    method: 'GET',
    url: '/lookup',
    compressible: true,
    handle: async (request, reply) => await answer(deps, request, reply),
  },
  {
    method: 'GET',
    url: '/:context/lookup',
    compressible: true,
    handle: async (request, reply) => {
      const { entry } = await deps.entries.getContextEntry(pathPart(request, 'context'))
      return await answer(deps, request, reply, entry.id)
    },
  },
]

async function answer(
  deps: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  context?: string,
): Promise<unknown> {
  const representation = representationFor(request, reply)
  const { caller } = request
  const scope = readScope(request)
  const wanted = { uri: readUri(deps, request), scope, ...(context === undefined ? {} : { context }) }
  const found = await lookUp(deps.database, caller, wanted)
  const entry = found && (await findEntry(deps.database, found))
  const metadata = entry && (await metadataIn(deps.database, caller, entry, scope))
  // Whether there is an entry that the caller may not read is not told.
  if (!entry || !metadata) throw new NotFound('not-found', 'There are no such metadata of this resource.')
  if (!liveSourceOf(entry)) {
    // Another entry may be the first tomorrow, and may have been changed earlier: only a tag can tell.
    const etag = `"${entry.modified}-${entry.context}-${entry.id}-${representation.syntax.name}"`
    const state = { etag, modified: entry.modified }
    reply.headers(validatorHeaders(state))
    if (request.headers['if-none-match'] !== undefined && isUnchanged(request.headers, state)) {
      return await reply.status(304).send()
    }
  }
  return await sendGraph(reply, representation, deps.base.graphOutside(metadata))
}

function readScope({ parameters }: FastifyRequest): LookupScope {
  const given = parameters.get('scope') ?? 'all'
  const scope = lookupScopes.find(scope => scope === given)
  if (scope) return scope
  throw new InvalidInput('invalid-query', `\`scope\` is one of ${lookupScopes.join(', ')}.`)
}

function readUri({ base }: Services, { parameters }: FastifyRequest): string {
  const uri = parameters.get('uri') ?? ''
  // The inside form of an address of this service is no URI that anybody outside may use.
  if (uri !== '' && !uri.startsWith(RELATIVE)) return base.toRelative(uri)
  throw new InvalidInput('invalid-query', '`uri` is missing: the URI of the resource that the metadata are about.')
}
