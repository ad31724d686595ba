import type { FastifyReply } from 'fastify'
import { type Caller, isAdmin, requireAdmin, presentCaller } from '../../accounts/caller.ts'
import { handleOf, userOfHandle } from '../../accounts/tokens.ts'
import { isCurrent, type Session } from '../../accounts/sessions.ts'
import type { User } from '../../accounts/users.ts'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import { eventOf } from '../../accounts/audit.ts'
import { setCookie } from '../protocol/sender.ts'
import { targetUser } from '../caller.ts'
import { done, json, choice, paging, textParameter, route } from '../interface/route.ts'
import { jsonBody } from '../interface/bodies.ts'
import { mapOf, named, object, oneOf, openObject, optional, text, type TypeOf } from '../interface/schema.ts'
import type { Uses } from '../services.ts'

/** A time in UTC without a zone, with six fraction digits (I2.3). */
const zoneless = text({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}$' })

const Logins = named(
  'Logins',
  mapOf(
    object({
      loginTime: zoneless,
      loginExpiration: zoneless,
      inetAddress: text({ pattern: '^/' }),
      lastAccess: zoneless,
      userAgent: text(),
      userName: text(),
    }),
  ),
)

const Removal = openObject({ token: optional(text()), scope: optional(oneOf('others', 'all')) })

/** The active sessions of a user: list and end them (I2.3, I2.4; D3.2, D3.3). */
export const authTokenRoutes = [
  route({
    id: 'listLogins',
    method: 'GET',
    url: '/auth/tokens',
    chapter: 'Sessions',
    summary: 'List the active sessions of the caller, by token.',
    details:
      'If a recent proof of identity is required (`service.auth.step-up`) and missing, sessions other than that of the request are listed by handles, as those of other users.',
    requires: { role: 'user', to: 'list sessions' },
    query: {
      user: textParameter(
        'For administrators: the name of another user, whose sessions are listed by handles. A handle ends a session, but cannot be used to sign in. ' +
          '`*`: the sessions of all users, the latest first; `X-Total-Count` is their number.',
      ),
      ...paging,
      query: textParameter('With `user=*`: part of a user name, an address or a user agent.'),
      scope: choice(
        '`current` is the session of this request, `others` all but that.',
        ['current', 'others', 'all'],
        'all',
      ),
    },
    answers: { 200: json('The sessions by token.', Logins) },
    refusals: { 403: ['not-allowed'], 404: ['not-found'] },
    handle: async (deps: Uses<'sessions' | 'database' | 'users' | 'stepUp'>, { caller, query, reply }) => {
      if (query.user === EVERYBODY) return await listEverybody(deps, caller, query, reply)
      const user = await targetUser(deps, caller, query.user, "list another user's logins")
      const sessions = await deps.sessions.list(user)
      const isRequested = inScope(query.scope, caller.session)
      const showsTokens = deps.stepUp.hasRecentProof(caller)
      return Object.fromEntries(
        sessions
          .filter(isRequested)
          .map(session => [nameFor(caller, session, showsTokens), describeLogin(session, user)]),
      )
    },
  }),
  route({
    id: 'endLogins',
    method: 'DELETE',
    url: '/auth/tokens',
    chapter: 'Sessions',
    summary: 'End one session, all others of the caller, or all of the caller.',
    requires: { role: 'user', to: 'end sessions' },
    details: 'Send `{"token": "…"}`, `{"scope": "others"}` or `{"scope": "all"}`.',
    body: jsonBody(Removal, { example: { scope: 'others' } }),
    answers: { 204: done },
    refusals: { 404: ['unknown-token'] },
    handle: async (deps: Uses<'audit' | 'cookie' | 'database' | 'sessions'>, { request, reply, body }) => {
      const removal = requireOne(await body())
      // The account may have changed: the body may have taken hours to arrive.
      const caller = await presentCaller(deps.database, request.caller)
      const { user, session } = caller
      const userId = 'token' in removal ? await endOne(deps, caller, removal.token) : user.id
      if ('scope' in removal) await deps.sessions.endAll(user.id, removal.scope === 'others' ? session : undefined)
      const detail = { scope: 'token' in removal ? 'one' : removal.scope }
      await deps.audit.record(eventOf('token-removed', caller, { id: userId }, detail))
      const ownNames = session ? [session.token, handleOf(session)] : []
      const isSignedOut = 'token' in removal ? ownNames.includes(removal.token) : removal.scope === 'all'
      if (isSignedOut) setCookie(reply, deps.cookie.clear())
      return await reply.status(204).send()
    },
  }),
]

const EVERYBODY = '*'

/**
 * Callers could act as another user with that user's tokens, so they get handles. With a token of their own an old session could
 * use the recent proof of another one.
 */
const nameFor = (caller: Caller, session: Session, showsTokens: boolean): string => {
  const isOwn = session.token === caller.session?.token || (showsTokens && session.userId === caller.user.id)
  return isOwn ? session.token : handleOf(session)
}

async function listEverybody(
  { sessions, users }: Uses<'sessions' | 'users'>,
  caller: Caller,
  {
    limit,
    offset,
    query = '',
  }: { readonly limit: number; readonly offset: number; readonly query: string | undefined },
  reply: FastifyReply,
) {
  requireAdmin(caller, 'list the sessions of all users')
  const wanted = query.trim().toLowerCase()
  const live = []
  for (const session of await sessions.listAll()) {
    const user = (await users.find(session.userId))?.user
    if (!user || user.disabled || !isCurrent(session, user)) continue
    const { address, userAgent } = session.client
    if (![user.name ?? '', address, userAgent].some(text => text.toLowerCase().includes(wanted))) continue
    live.push([handleOf(session), describeLogin(session, user)] as const)
  }
  reply.header('x-total-count', live.length)
  return Object.fromEntries(live.slice(offset, offset + limit))
}

/** A page cannot recognise its own session, because scripts cannot read the cookie. */
function inScope(
  scope: 'current' | 'others' | 'all',
  current: Session | undefined,
): (session: Pick<Session, 'token'>) => boolean {
  if (scope === 'all') return () => true
  return ({ token }) => (token === current?.token) === (scope === 'current')
}

const describeLogin = ({ loginTime, expires, lastAccess, client }: Session, user: User) => ({
  loginTime: zonelessTime(loginTime),
  loginExpiration: zonelessTime(expires),
  inetAddress: `/${client.address}`,
  // Accesses are noted to the millisecond; the sign-in is the first one.
  lastAccess: zonelessTime(Math.max(lastAccess, loginTime)),
  userAgent: client.userAgent,
  userName: user.name,
})

/**
 * Ends one session and returns its user. A token or handle of another user gets the same refusal as an
 * unknown one (D3.3).
 */
async function endOne({ sessions }: Uses<'sessions'>, caller: Caller, token: string): Promise<string> {
  const owner = userOfHandle(token) ?? (await sessions.find(token))?.userId
  const isAllowed = owner !== undefined && (owner === caller.user.id || isAdmin(caller))
  const hasEnded = isAllowed && (token.includes('.') ? await sessions.endByHandle(token) : await sessions.end(token))
  if (hasEnded) return owner
  throw new NotFound('unknown-token', 'No session has this token. `GET /auth/tokens` lists your sessions.')
}

function requireOne({ token, scope }: TypeOf<typeof Removal>) {
  if (token !== undefined && scope === undefined) return { token }
  if (scope !== undefined && token === undefined) return { scope }
  throw new InvalidInput('invalid-json', 'Send {"token": "…"}, {"scope": "others"} or {"scope": "all"}.')
}

/** ISO 8601 without a zone, in UTC, six fraction digits (I2.3, D3.2). */
const zonelessTime = (time: Milliseconds): string => {
  const microseconds = Math.round((time % 1) * 1000)
  return new Date(time).toISOString().replace(/Z$/, String(microseconds).padStart(3, '0'))
}
