import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, denied, isAdmin, requireSignedIn } from '../../accounts/caller.ts'
import { normaliseName } from '../../accounts/names.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import type { Session } from '../../accounts/sessions.ts'
import { findUserByName, type User } from '../../accounts/users.ts'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import { isObject } from '../../content/values.ts'
import { setAuthCookie } from '../caller.ts'
import { zonelessTime } from '../describe.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

/** The active logins of a user, and ending them (interface 2.3, 2.4; D3.2, D3.3). */
export const authTokenRoutes = (deps: Services): Route[] => [
  { method: 'GET', url: '/auth/tokens', handle: getTokens(deps) },
  { method: 'DELETE', url: '/auth/tokens', handle: deleteTokens(deps) },
]

const getTokens = (deps: Services) => async (request: FastifyRequest) => {
  requireSignedIn(request.caller, 'list logins')
  const user = await userAskedFor(deps, request.caller, request.parameters.get('user'))
  const isAskedFor = readScope(request.parameters.get('scope'), request.caller.session)
  const sessions = (await deps.sessions.list(user)).filter(isAskedFor)
  return Object.fromEntries(sessions.map(session => [session.token, describeLogin(session, user)]))
}

/** `current` is the login that the request itself comes by, which a page cannot tell: the cookie is not for scripts. */
function readScope(scope: string | undefined, current: Session | undefined): (session: Session) => boolean {
  if (scope === undefined || scope === 'all') return () => true
  if (scope === 'current') return ({ token }) => token === current?.token
  if (scope === 'others') return ({ token }) => token !== current?.token
  throw new InvalidInput('invalid-query', '`scope` is `current`, `others` or `all`.')
}

async function userAskedFor(deps: Services, caller: Caller, name: string | undefined): Promise<User> {
  if (name === undefined || normaliseName(name) === caller.user.name) return caller.user
  if (!isAdmin(caller)) throw denied(caller, "list another user's logins")
  const user = await findUserByName(deps.database, normaliseName(name))
  if (!user) throw new NotFound('not-found', `There is no user "${name}".`)
  return user
}

const describeLogin = ({ loginTime, expires, lastAccess, client }: Session, user: User) => ({
  loginTime: zonelessTime(loginTime),
  loginExpiration: zonelessTime(expires),
  inetAddress: `/${client.address}`,
  lastAccess: zonelessTime(lastAccess),
  userAgent: client.userAgent,
  userName: user.name,
})

const deleteTokens = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  requireSignedIn(request.caller, 'end logins')
  const wish = readWish(await deps.bodies.json(request.raw, reply.raw))
  // The body may have come for hours.
  const caller = await presentCaller(deps.database, request.caller)
  const { user, session, client } = caller
  const removed = 'token' in wish ? await endOne(deps, caller, wish.token) : user.id
  if ('scope' in wish) await deps.sessions.endAll(user.id, wish.scope === 'others' ? session : undefined)
  await deps.audit.record({
    event: 'token-removed',
    userId: removed,
    actorId: user.id,
    address: client.address,
    detail: { scope: 'token' in wish ? 'one' : wish.scope },
  })
  const isSignedOut = 'token' in wish ? wish.token === session?.token : wish.scope === 'all'
  if (isSignedOut) setAuthCookie(reply, deps.cookie.clear())
  return await reply.status(204).send()
}

/** Ends one login and tells whose it was. Somebody else's token and one that never was are answered alike, so that this tells nobody anything (D3.3). */
async function endOne(deps: Services, caller: Caller, token: string): Promise<string> {
  const session = await deps.sessions.find(token)
  const isMine = session?.userId === caller.user.id
  if (session && (isMine || isAdmin(caller)) && (await deps.sessions.end(token))) return session.userId
  throw new NotFound('unknown-token', 'No login has this token.')
}

function readWish(body: unknown): { readonly token: string } | { readonly scope: 'others' | 'all' } {
  const { token, scope } = isObject(body) ? body : {}
  if (typeof token === 'string' && scope === undefined) return { token }
  if ((scope === 'others' || scope === 'all') && token === undefined) return { scope }
  throw new InvalidInput('invalid-json', 'Send {"token": "…"}, {"scope": "others"} or {"scope": "all"}.')
}
