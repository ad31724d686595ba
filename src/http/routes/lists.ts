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
import { loadEntry } from './entries.ts'

/** What lists do beyond other resources, what browsers write by POST, and what points at an entry (wire facts 3.8.5, 3.6). */
export const listRoutes = (deps: Services): Route[] => [
  { method: 'POST', url: '/:context/resource/:entry', handle: postResource(deps) },
  { method: 'GET', url: '/:context/relations/:entry', handle: getRelations(deps), compressible: true },
]

const postResource = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { parameters, caller } = request
  if (parameters.get('method')?.toLowerCase() === 'put') return await putResource(deps)(request, reply)
  const placed = await loadEntry(deps, request)
  if (!isList(placed.entry)) throw new WrongMethod('POST', ['GET', 'PUT', 'DELETE', 'HEAD'])
  const entry = await readAddress(deps, 'moveEntry', parameters.get('moveEntry'))
  if (!entry) throw new InvalidInput('invalid-query', 'The parameter moveEntry is missing.')
  const from = await readAddress(deps, 'fromList', parameters.get('fromList'))
  const moved = await deps.listMoves.move(caller, placed, { entry, from, fromAny: isFlagSet(parameters, 'removeAll') })
  reply.headers(validatorHeaders(entryValidators(moved)))
  return { entryURI: deps.base.toAbsolute(entryUri(moved)) }
}

/** No validators: they would be those of the entry, which does not change when another begins to point at it. */
const getRelations = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { entry } = await loadEntry(deps, request)
  const representation = representationFor(request, reply)
  const graph = await relationsOf(deps.database, request.caller, entry)
  return await sendGraph(reply, representation, deps.base.graphOutside(graph))
}

/** A URI of the service, or the part of it that follows the base address. */
async function readAddress(deps: Services, name: string, text: string | undefined): Promise<EntryAddress | undefined> {
  if (text === undefined || text === '') return undefined
  const toRelative = deps.base.toRelative(text)
  const address = await findAddress(
    deps.database,
    toRelative === text ? RELATIVE + text.replace(/^\//, '') : toRelative,
  )
  if (address) return address
  throw new InvalidInput('invalid-uri', `The parameter ${name} is not the URI of an entry here.`)
}
