import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, WrongMethod } from '../../base/errors.ts'
import { type EntryAddress, entryUri } from '../../model/addresses.ts'
import { findAddress } from '../../content/contexts.ts'
import { isList } from '../../content/list-records.ts'
import { relationsOf } from '../../content/relations.ts'
import { RELATIVE } from '../../graph/iri.ts'
import { entryValidators, validatorHeaders } from '../conditional.ts'
import { isFlagSet } from '../query.ts'
import { representationFor, sendGraph } from '../rdf.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'
import { putResource } from './resources.ts'
import { placedOf } from './entries.ts'

/** What lists do beyond other resources, what browsers write by POST, and what points at an entry (wire facts 3.8.5, 3.6). */
export const listRoutes = (on: Services): Route[] => [
  { method: 'POST', url: '/:context/resource/:entry', handle: postResource(on) },
  { method: 'GET', url: '/:context/relations/:entry', handle: getRelations(on), compressible: true },
]

const postResource = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { parameters, caller } = request
  if (parameters.get('method')?.toLowerCase() === 'put') return await putResource(on)(request, reply)
  const placed = await placedOf(on, request)
  if (!isList(placed.entry)) throw new WrongMethod('POST', ['GET', 'PUT', 'DELETE', 'HEAD'])
  const entry = await readAddress(on, 'moveEntry', parameters.get('moveEntry'))
  if (!entry) throw new InvalidInput('invalid-query', 'The parameter moveEntry is missing.')
  const from = await readAddress(on, 'fromList', parameters.get('fromList'))
  const moved = await on.listMoves.move(caller, placed, { entry, from, fromAny: isFlagSet(parameters, 'removeAll') })
  reply.headers(validatorHeaders(entryValidators(moved)))
  return { entryURI: on.base.outside(entryUri(moved)) }
}

/** No validators: they would be those of the entry, which does not change when another begins to point at it. */
const getRelations = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { entry } = await placedOf(on, request)
  const representation = representationFor(request, reply)
  const graph = await relationsOf(on.database, request.caller, entry)
  return await sendGraph(reply, representation, on.base.graphOutside(graph))
}

/** A URI of the service, or the part of it that follows the base address. */
async function readAddress(on: Services, name: string, text: string | undefined): Promise<EntryAddress | undefined> {
  if (text === undefined || text === '') return undefined
  const inside = on.base.inside(text)
  const address = await findAddress(on.database, inside === text ? RELATIVE + text.replace(/^\//, '') : inside)
  if (address) return address
  throw new InvalidInput('invalid-uri', `The parameter ${name} is not the URI of an entry here.`)
}
