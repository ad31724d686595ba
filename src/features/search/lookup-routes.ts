import { NotFound } from '../../base/errors.ts'
import { lookupScopes } from '../../content/lookup.ts'
import { RELATIVE } from '../../graph/graph.ts'
import {
  isUnchanged,
  validatorHeaders,
  answerFormat,
  representationFor,
  sendGraph,
} from '../../http/representations.ts'
import {
  unchanged,
  choice,
  type Exchange,
  invalid,
  requiredText,
  type ValuesOf,
  route,
} from '../../http/interface/route.ts'
import type { Reads } from '../../http/read-services.ts'
import { graphAnswer } from '../../http/routes/entries.ts'

const lookupQuery = {
  uri: requiredText('URI of the resource that the metadata are about.', {
    example: 'https://example.org/a',
    keywords: { format: 'uri' },
  }),
  scope: choice('`local`: metadata kept here; `external`: the copy of those elsewhere.', lookupScopes, 'all'),
  format: answerFormat,
}

/** The common parts of both routes. */
const lookup = {
  method: 'GET',
  chapter: 'Lookup',
  query: lookupQuery,
  answers: { 200: graphAnswer('Metadata of the first entry about the resource.'), 304: unchanged },
  compressible: true,
  heavy: true,
} as const

/** Metadata by the URI of their subject (W3.12). */
export const lookupRoutes = [
  route({
    ...lookup,
    id: 'lookUp',
    url: '/lookup',
    summary: 'Find metadata by the URI of the resource, as far as the caller may read them.',
    refusals: { 404: ['not-found'], 406: ['not-acceptable'] },
    handle: async (deps: LookupServices, { request, reply, query }) => await answer(deps, request, reply, query),
  }),
  route({
    ...lookup,
    id: 'lookUpInContext',
    url: '/:context/lookup',
    summary: 'Find metadata by the URI of the resource among the entries of a context.',
    refusals: { 404: ['not-found'], 406: ['not-acceptable'] },
    handle: async (deps: LookupServices & Reads<'entries'>, { request, reply, params, query }) => {
      const context = await deps.entries.contextId(params.context)
      return await answer(deps, request, reply, query, context)
    },
  }),
]

type LookupServices = Reads<'base' | 'metadata'>

async function answer(
  { base, metadata }: LookupServices,
  request: Exchange['request'],
  reply: Exchange['reply'],
  { uri, scope }: ValuesOf<typeof lookupQuery>,
  context?: string,
): Promise<unknown> {
  // The relative form of an address of this service is not a URI for clients.
  if (uri.startsWith(RELATIVE)) throw invalid('`uri` must be an absolute URI.')
  const representation = representationFor(request, reply)
  const { caller } = request
  const requested = { uri: base.toRelative(uri), scope, ...(context === undefined ? {} : { context }) }
  const found = await metadata.lookUp(caller, requested)
  // The response is the same for a missing entry and for one that the caller may not read.
  if (!found) throw new NotFound('not-found', `There is no metadata of ${uri.slice(0, 200)} that you may read.`)
  const { entry, graph, modified } = found
  if (modified !== undefined) {
    // Another entry may match first later, with an earlier date, so only an ETag identifies the response.
    const etag = `"${modified}-${entry.context}-${entry.id}-${representation.syntax.name}"`
    const state = { etag, modified }
    reply.headers(validatorHeaders(state))
    if (request.headers['if-none-match'] !== undefined && isUnchanged(request.headers, state)) {
      return await reply.status(304).send()
    }
  }
  return await sendGraph(base, reply, representation, { graph })
}
