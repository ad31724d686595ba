import type { FastifyRequest } from 'fastify'
import { requireAdmin } from '../../accounts/caller.ts'
import { listGroups, listUsers, type Portion } from '../../accounts/directory.ts'
import { countedUser } from '../../accounts/lockout.ts'
import type { User } from '../../accounts/users.ts'
import { InvalidInput } from '../../base/errors.ts'
import { contextOrders, listContexts, type ContextOrder } from '../../content/context-list.ts'
import { describeEntry } from '../describe.ts'
import { type Parameters, readWholeNumber } from '../query.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

/** Who and what there is, in portions, for administrators. */
export const directoryRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/management/users', handle: getUsers(deps) },
  { method: 'GET', url: '/management/groups', handle: getGroups(deps) },
  { method: 'GET', url: '/management/contexts', handle: getContexts(deps) },
]

const getUsers = (deps: Services) => async (request: FastifyRequest) => {
  requireAdmin(request.caller, 'list the users')
  const portion = readPortion(request.parameters)
  const { total, items } = await listUsers(deps.database, portion)
  const users = []
  for (const user of items) users.push(await describeUser(deps, user))
  return { users, results: total, limit: portion.limit, offset: portion.offset }
}

async function describeUser({ lockout }: Services, user: User) {
  const lockedUntil = await lockout.lockedUntil(countedUser(user))
  return {
    id: user.id,
    name: user.name,
    disabled: user.disabled,
    hasPassword: user.password !== undefined,
    homecontext: user.homeContext,
    lockedUntil: lockedUntil === undefined ? undefined : new Date(lockedUntil).toISOString(),
  }
}

const getGroups = (deps: Services) => async (request: FastifyRequest) => {
  requireAdmin(request.caller, 'list the groups')
  const portion = readPortion(request.parameters)
  const { total, items } = await listGroups(deps.database, portion)
  return { groups: items, results: total, limit: portion.limit, offset: portion.offset }
}

const getContexts = (deps: Services) => async (request: FastifyRequest) => {
  const { caller, parameters } = request
  requireAdmin(caller, 'list the contexts')
  const portion = readPortion(parameters)
  const sort = readOrder(parameters.get('sort'))
  const { total, items } = await listContexts(deps.database, deps.ledger, { ...portion, sort })
  const contexts = []
  for (const placed of items) {
    const { name, quota, metadata } = describeEntry(await deps.views.of(caller, placed, true), deps.base)
    contexts.push({ contextId: placed.entry.id, name, quota, metadata })
  }
  return { contexts, results: total, limit: portion.limit, offset: portion.offset }
}

const DEFAULT_LIMIT = 50
const MOST = 100

const readPortion = (parameters: Parameters): Portion => ({
  query: parameters.get('query'),
  limit: Math.min(MOST, readWholeNumber(parameters, 'limit') ?? DEFAULT_LIMIT),
  offset: readWholeNumber(parameters, 'offset') ?? 0,
})

function readOrder(text: string | undefined): ContextOrder {
  const order = text === undefined ? 'name' : contextOrders.find(known => known === text)
  if (order) return order
  throw new InvalidInput('invalid-query', `\`sort\` is one of ${contextOrders.join(', ')}.`)
}
