import type { HttpServices } from '../http-services.ts'
import type { Database } from '../../stores/database.ts'
import type { ListMoves } from '../../content/list-moves.ts'
import { InvalidInput } from '../../base/errors.ts'
import { findAddress } from '../../content/contexts.ts'
import { RELATIVE } from '../../graph/graph.ts'
import { type EntryAddress, entryUri, relationsUri } from '../../model/addresses.ts'
import { entryValidators, validatorHeaders, answerFormat, representationFor, sendGraph } from '../representations.ts'
import { json, flagParameter, textParameter, route } from '../interface/route.ts'
import { object } from '../interface/schema.ts'
import { uri } from '../interface/shared-schemas.ts'
import type { Reads } from '../read-services.ts'
import { graphAnswer } from './entries.ts'

interface Services extends HttpServices {
  readonly database: Database
  readonly listMoves: ListMoves
}

/** References to an entry (W3.6). */
export const relationRoutes = [
  route({
    id: 'readRelations',
    method: 'GET',
    url: '/:context/relations/:entry',
    chapter: 'Entries',
    summary:
      'Read what the metadata and the info of other entries say about an entry, with its list, groups and home contexts.',
    access: 'callers with any right on the entry; with `service.repository.public-info=on` all callers',
    details:
      'The response leaves out statements of metadata and info that the caller may not read, and memberships in groups whose members the caller may not read.',
    query: { format: answerFormat },
    answers: { 200: graphAnswer('The graph.') },
    refusals: { 401: [], 403: ['not-allowed'], 404: [], 406: ['not-acceptable'] },
    compressible: true,
    heavy: true,
    // Without validators, because those of the entry do not change when another entry begins to refer to it.
    handle: async (deps: Reads<'base' | 'views'>, { request, reply, caller, params }) => {
      const representation = representationFor(request, reply)
      const { entry, graph } = await deps.views.relations(caller, params)
      return await sendGraph(deps.base, reply, representation, { graph, name: relationsUri(entry) })
    },
  }),
]

/** Moves between lists (W3.8.5). */
export const listRoutes = [
  route({
    id: 'postToResource',
    method: 'POST',
    url: '/:context/resource/:entry',
    chapter: 'Resources',
    summary: 'Move an entry to this list.',
    access: 'callers who can write to both lists; from another context, users who administer everything that is moved',
    path: { entry: { example: 'album' } },
    query: {
      moveEntry: textParameter('URI of the entry, or the part of it after the base address.', {
        example: 'photos/entry/one',
      }),
      fromList: textParameter('URI of the list that the entry leaves.'),
      removeAll: flagParameter('The entry leaves any list that it is in.'),
    },
    answers: { 200: json('The new address of the entry.', object({ entryURI: uri })) },
    refusals: {
      400: ['invalid-query', 'invalid-uri'],
      401: [],
      403: [],
      404: [],
      405: ['method-not-allowed'],
      409: ['conflict'],
      413: ['quota-exceeded', 'list-too-large'],
    },
    conditional: 'write',
    handle: async (deps: Services, { reply, caller, params, query }) => {
      const moved = await deps.listMoves.move(caller, params, async () => {
        const entry = await readAddress(deps, 'moveEntry', query.moveEntry)
        if (!entry) throw new InvalidInput('invalid-query', 'The parameter `moveEntry` is missing.')
        return { entry, from: await readAddress(deps, 'fromList', query.fromList), fromAny: query.removeAll }
      })
      reply.headers(validatorHeaders(entryValidators(moved)))
      return { entryURI: deps.base.toAbsolute(entryUri(moved)) }
    },
  }),
]

/** A URI of the service, or the part of it that follows the base address. */
async function readAddress(
  { base, database }: Services,
  name: string,
  text: string | undefined,
): Promise<EntryAddress | undefined> {
  if (text === undefined || text === '') return undefined
  const relative = base.toRelative(text)
  const address = await findAddress(database, relative === text ? RELATIVE + text.replace(/^\//, '') : relative)
  if (address) return address
  throw new InvalidInput(
    'invalid-uri',
    `The parameter \`${name}\` must be the URI of an entry in this store, but is "${text.slice(0, 140)}".`,
  )
}
