import type { FastifyReply, FastifyRequest } from 'fastify'

import { requireSignedIn } from '../../accounts/caller.ts'
import { Unauthenticated } from '../../base/errors.ts'
import { writableContexts } from '../../content/writable-contexts.ts'
import { basicCredentials, challenge, setAuthCookie } from '../caller.ts'
import { authTokens } from '../cookies.ts'
import { describeCaller, describeEntry, expiryOf } from '../describe.ts'
import { prefersHtml } from '../negotiate.ts'
import { readWholeNumber } from '../query.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

/** Signing out, who am I (interface 4, 5.1; D2.4, D3). */
export const authRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/auth/logout', handle: logout(deps), ignoresCaller: true, visited: true },
  { method: 'POST', url: '/auth/logout', handle: logout(deps), ignoresCaller: true, visited: true },
  { method: 'GET', url: '/auth/user', handle: getUser(deps) },
  { method: 'GET', url: '/auth/user/contexts', handle: getContexts(deps) },
  ...(deps.basic ? [{ method: 'GET', url: '/auth/basic', handle: getBasic(deps), visited: true } as const] : []),
]

const logout = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  for (const token of authTokens(request.headers.cookie)) await endSession(deps, request, token)
  const credentials = basicCredentials(request.headers.authorization)
  if (credentials) deps.basic?.forget(credentials)
  setAuthCookie(reply, deps.cookie.clear())
  if (prefersHtml(request)) return await reply.redirect(deps.base.at('auth/login'), 303)
  return await reply.status(204).send()
}

async function endSession({ sessions, audit }: Services, request: FastifyRequest, token: string): Promise<void> {
  const session = await sessions.find(token)
  if (!session || !(await sessions.end(token))) return
  const { userId } = session
  await audit.record({ event: 'logout', userId, actorId: userId, address: request.caller.client.address })
}

/** Who the credentials belong to, or the browser's own window to type them into (D4.1). */
const getBasic = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  if (request.headers.authorization === undefined) {
    challenge(request, reply)
    throw new Unauthenticated('not-signed-in', 'Send HTTP Basic credentials.')
  }
  return describeCaller({ ...request.caller, expires: undefined }, request.headers['accept-language'], deps.base)
}

const getUser = (deps: Services) => async (request: FastifyRequest) =>
  describeCaller(
    { ...request.caller, expires: expiryOf(request.caller, deps.sessions) },
    request.headers['accept-language'],
    deps.base,
  )

const DEFAULT_LIMIT = 50
const MAX_CONTEXTS = 100

/** Where the caller may put files: contexts with name, title, quota. */
const getContexts = (deps: Services) => async (request: FastifyRequest) => {
  const { caller, parameters } = request
  requireSignedIn(caller, 'see which contexts you may write to')
  const limit = Math.min(MAX_CONTEXTS, readWholeNumber(parameters, 'limit') ?? DEFAULT_LIMIT)
  const offset = readWholeNumber(parameters, 'offset') ?? 0
  const { total, contexts } = await writableContexts(deps.database, caller, { limit, offset })
  const described = []
  for (const placed of contexts) {
    const { name, quota, rights, metadata } = describeEntry(await deps.views.of(caller, placed, true), deps.base)
    described.push({ contextId: placed.entry.id, name, quota, rights, metadata })
  }
  return { contexts: described, results: total, limit, offset }
}
