import { isAdmin, requireAdmin } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import { handleOf, userOfHandle } from '../../accounts/tokens.ts'
import { isCurrent, type Session, type Sessions } from '../../accounts/sessions.ts'
import type { User } from '../../accounts/users.ts'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import { eventOf } from '../../accounts/audit.ts'
import { setCookie } from '../../http/protocol/cookies.ts'
import { targetUser } from '../../http/caller.ts'
import { done, type Exchange, json, choice, paging, textParameter, route } from '../../http/interface/route.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { mapOf, named, object, oneOf, openObject, optional, text, type TypeOf } from '../../http/interface/schema.ts'
import type { Audit } from '../../accounts/audit.ts'
import type { StepUp } from '../../accounts/step-up.ts'
import type { UserCache } from '../../accounts/user-cache.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { Database } from '../../stores/database.ts'

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

interface Services extends HttpServices {
  readonly audit: Audit
  readonly database: Database
  readonly sessions: Sessions
  readonly stepUp: StepUp
  readonly users: UserCache
}

/** The active sessions of a user: list and end them (I2.3, I2.4; D3.2, D3.3). */
export const sessionRoutes = [
  route({
    id: 'listLogins',
    method: 'GET',
    url: '/auth/tokens',
    chapter: 'Sessions',
    summary: 'List the active sessions of the caller, by token.',
    details:
      'If a recent proof of identity is required (`service.auth.step-up`) and missing, the response has the token of the current session only, and a handle for each other session.',
    requires: { role: 'user', to: 'list sessions' },
    query: {
      user: textParameter(
        'For administrators: the name of another user, whose sessions are listed by handles. A handle ends a session, but cannot be used to sign in. ' +
          '`*` lists the sessions of all users, the latest first, with their number in `X-Total-Count`.',
      ),
      ...paging,
      query: textParameter('With `user=*`: part of a user name, an address or a user agent.'),
      scope: choice(
        '`current` lists the session of this request, `others` all other sessions.',
        ['current', 'others', 'all'],
        'all',
      ),
    },
    answers: { 200: json('The sessions by token.', Logins) },
    refusals: { 403: ['not-allowed'], 404: ['not-found'] },
    handle: async (deps: Services, { caller, query, reply }) => {
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
    summary: 'End one session, all other sessions of the caller, or all sessions of the caller.',
    requires: { role: 'user', to: 'end sessions' },
    details: 'Send `{"token": "…"}`, `{"scope": "others"}` or `{"scope": "all"}`.',
    body: jsonBody(Removal, { example: { scope: 'others' } }),
    answers: { 204: done },
    refusals: { 404: ['unknown-token'] },
    handle: async (deps: Services, { request, reply, body }) => {
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
 * Callers get handles instead of tokens: with the token of another user they could act as this user, and with another token of their own
 * they could use the recent proof of that session in an old one.
 */
const nameFor = (caller: Caller, session: Session, showsTokens: boolean): string => {
  const isOwn = session.token === caller.session?.token || (showsTokens && session.userId === caller.user.id)
  return isOwn ? session.token : handleOf(session)
}

async function listEverybody(
  { sessions, users }: Pick<Services, 'sessions' | 'users'>,
  caller: Caller,
  {
    limit,
    offset,
    query = '',
  }: { readonly limit: number; readonly offset: number; readonly query: string | undefined },
  reply: Exchange['reply'],
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
  // The sign-in counts as the first access; accesses are stored with milliseconds.
  lastAccess: zonelessTime(Math.max(lastAccess, loginTime)),
  userAgent: client.userAgent,
  userName: user.name,
})

/**
 * Ends one session and returns its user. A token or handle of another user gets the same refusal as an
 * unknown one (D3.3).
 */
async function endOne({ sessions }: Pick<Services, 'sessions'>, caller: Caller, token: string): Promise<string> {
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
