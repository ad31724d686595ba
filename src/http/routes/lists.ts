import { InvalidInput } from '../../base/errors.ts'
import { findAddress } from '../../content/contexts.ts'
import { RELATIVE } from '../../graph/graph.ts'
import { type EntryAddress, entryUri } from '../../model/addresses.ts'
import { entryValidators, validatorHeaders, answerFormat, representationFor, sendGraph } from '../representations.ts'
import { done, json, flagParameter, textParameter, route } from '../interface/route.ts'
import { object } from '../interface/schema.ts'
import { StoredFile, uri } from '../interface/schemas.ts'
import type { Uses } from '../services.ts'
import { graphAnswer } from './entries.ts'
import { putResource, resourceBody, type ResourceServices, uploadRefusals } from './resources.ts'

/** Moves between lists, writes that browsers send as POST, and references to an entry (W3.8.5, W3.6). */
export const listRoutes = [
  route({
    id: 'postToResource',
    method: 'POST',
    url: '/:context/resource/:entry',
    chapter: 'Resources',
    summary: 'Move an entry to this list; or with `method=put` write the resource, as browsers upload files.',
    access: 'callers who can write to both lists; from another context, users who administer everything that is moved',
    path: { entry: { example: 'album' } },
    query: {
      method: textParameter('`put`: as PUT.', { keywords: { enum: ['put'] } }),
      moveEntry: textParameter('URI of the entry, or what follows the base address in it.', {
        example: 'photos/entry/one',
      }),
      fromList: textParameter('URI of the list that the entry leaves.'),
      removeAll: flagParameter('The entry leaves any list that it is in.'),
      mimeType: textParameter('With `method=put`: media type of the file, instead of `Content-Type`.'),
      textarea: textParameter('Without meaning; browsers send it.'),
    },
    body: resourceBody,
    answers: {
      200: json('The address of the entry from now on.', object({ entryURI: uri })),
      201: json('The file is stored.', StoredFile),
      204: done,
    },
    refusals: {
      ...uploadRefusals,
      400: [...(uploadRefusals[400] ?? []), 'invalid-uri'],
      405: ['method-not-allowed'],
      409: ['conflict'],
      413: [...(uploadRefusals[413] ?? []), 'list-too-large'],
    },
    conditional: 'write',
    handle: async (
      deps: ResourceServices & Uses<'database' | 'listMoves'>,
      { request, reply, caller, params, query },
    ) => {
      if (query.method?.toLowerCase() === 'put') return await putResource(deps, request, reply, params)
      const moved = await deps.listMoves.move(caller, params, async () => {
        const entry = await readAddress(deps, 'moveEntry', query.moveEntry)
        if (!entry) throw new InvalidInput('invalid-query', 'The parameter moveEntry is missing.')
        return { entry, from: await readAddress(deps, 'fromList', query.fromList), fromAny: query.removeAll }
      })
      reply.headers(validatorHeaders(entryValidators(moved)))
      return { entryURI: deps.base.toAbsolute(entryUri(moved)) }
    },
  }),
  route({
    id: 'readRelations',
    method: 'GET',
    url: '/:context/relations/:entry',
    chapter: 'Entries',
    summary:
      'Read what the metadata and the info of other entries say about an entry, with its list, groups and home contexts.',
    access: 'callers with any right on the entry; with `service.repository.public-info=on` all callers',
    details:
      'Left out is what stands in metadata or info that the caller may not read, and memberships in groups whose members they may not read.',
    query: { format: answerFormat },
    answers: { 200: graphAnswer('The graph.') },
    refusals: { 401: [], 403: ['not-allowed'], 404: [], 406: ['not-acceptable'] },
    compressible: true,
    // Without validators, because those of the entry do not change when another entry begins to refer to it.
    handle: async (deps: Uses<'base' | 'views'>, { request, reply, caller, params }) => {
      const representation = representationFor(request, reply)
      const graph = await deps.views.relations(caller, params)
      return await sendGraph(reply, representation, deps.base.absoluteGraph(graph))
    },
  }),
]

/** A URI of the service, or the part of it that follows the base address. */
async function readAddress(
  { base, database }: Uses<'base' | 'database'>,
  name: string,
  text: string | undefined,
): Promise<EntryAddress | undefined> {
  if (text === undefined || text === '') return undefined
  const relative = base.toRelative(text)
  const address = await findAddress(database, relative === text ? RELATIVE + text.replace(/^\//, '') : relative)
  if (address) return address
  throw new InvalidInput('invalid-uri', `The parameter ${name} is not the URI of an entry here.`)
}
