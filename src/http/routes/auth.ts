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
export const authRoutes = (on: Services): Route[] => [
  { method: 'GET', url: '/auth/logout', handle: logout(on), ignoresCaller: true, visited: true },
  { method: 'POST', url: '/auth/logout', handle: logout(on), ignoresCaller: true, visited: true },
  { method: 'GET', url: '/auth/user', handle: getUser(on) },
  { method: 'GET', url: '/auth/user/contexts', handle: getContexts(on) },
  ...(on.basic ? [{ method: 'GET', url: '/auth/basic', handle: getBasic(on), visited: true } as const] : []),
]

const logout = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  for (const token of authTokens(request.headers.cookie)) await endSession(on, request, token)
  const credentials = basicCredentials(request.headers.authorization)
  if (credentials) on.basic?.forget(credentials)
  setAuthCookie(reply, on.cookie.clear())
  if (prefersHtml(request)) return await reply.redirect(on.base.at('auth/login'), 303)
  return await reply.status(204).send()
}

async function endSession({ sessions, audit }: Services, request: FastifyRequest, token: string): Promise<void> {
  const session = await sessions.find(token)
  if (!session || !(await sessions.end(token))) return
  const { userId } = session
  await audit.record({ event: 'logout', userId, actorId: userId, address: request.caller.client.address })
}

/** Who the credentials belong to, or the browser's own window to type them into (D4.1). */
const getBasic = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  if (request.headers.authorization === undefined) {
    challenge(request, reply)
    throw new Unauthenticated('not-signed-in', 'Send HTTP Basic credentials.')
  }
  return describeCaller({ ...request.caller, expires: undefined }, request.headers['accept-language'], on.base)
}

const getUser = (on: Services) => async (request: FastifyRequest) =>
  describeCaller(
    { ...request.caller, expires: expiryOf(request.caller, on.sessions) },
    request.headers['accept-language'],
    on.base,
  )

const DEFAULT_LIMIT = 50
const MOST_CONTEXTS = 100

/** Where the caller may put files: contexts with name, title, quota. */
const getContexts = (on: Services) => async (request: FastifyRequest) => {
  const { caller, parameters } = request
  requireSignedIn(caller, 'see which contexts you may write to')
  const limit = Math.min(MOST_CONTEXTS, readWholeNumber(parameters, 'limit') ?? DEFAULT_LIMIT)
  const offset = readWholeNumber(parameters, 'offset') ?? 0
  const { total, contexts } = await writableContexts(on.database, caller, { limit, offset })
  const described = []
  for (const placed of contexts) {
    const { name, quota, rights, metadata } = describeEntry(await on.views.of(caller, placed, true), on.base)
    described.push({ contextId: placed.entry.id, name, quota, rights, metadata })
  }
  return { contexts: described, results: total, limit, offset }
}
