import type { HttpServices } from './http-services.ts'
import type { BasicCredentials } from '../accounts/basic-credentials.ts'
import type { Database } from '../stores/database.ts'
import type { UserCache } from '../accounts/user-cache.ts'
import { isUtf8 } from 'node:buffer'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { denied, isAdmin } from '../accounts/caller-guards.ts'
import { type Caller, isGuest } from '../accounts/caller.ts'
import { hasScope, type TokenScope } from '../accounts/token-scopes.ts'
import type { CredentialKind, PresentedCredentials } from '../accounts/credential-kinds.ts'
import type { Credentials } from '../accounts/basic-credentials.ts'
import { type Client, isCurrent, type Session, type Sessions } from '../accounts/sessions.ts'
import { normaliseName, type User, findUserByName } from '../accounts/users.ts'
import { Forbidden, Unauthenticated, NotFound } from '../base/errors.ts'
import type { Milliseconds } from '../base/units.ts'
import { entryUri, PRINCIPALS } from '../model/addresses.ts'
import type { BaseAddress } from './base-address.ts'
import { setCookie, setsAuthCookie } from './protocol/cookies.ts'
import { acceptLanguage } from './protocol/negotiate.ts'

/** Maximum number of tokens tried per request, so that one request cannot cause many look-ups. */
const MAX_TOKENS = 5

/** The challenge with which a browser asks for name and password (D4.1). */
const CHALLENGE = 'Basic realm="Stowage", charset="UTF-8"'

interface CallerServices {
  readonly basic: BasicCredentials | undefined
  readonly sessions: Sessions
  readonly users: UserCache
}

/**
 * Recognises the caller by what the request carries. A token that no live session has makes the caller the guest and is
 * cleared in the response (D2.7).
 * @throws {Unauthenticated} `invalid-token` where the settings ask for it
 */
export async function recogniseCaller(
  deps: CallerServices & Pick<HttpServices, 'cookie' | 'options'> & { readonly credentials: readonly CredentialKind[] },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  // Until it is recognised, a request is the guest's.
  const guest = request.caller
  const presented = presentedIn(request.headers.authorization)
  const kind = presented && deps.credentials.find(kind => kind.isOf(presented))
  if (kind) return await callerByKind(kind, presented, request, reply)
  const isForHandler = presented?.scheme === 'bearer' && request.route.readsBearerToken === true
  if (deps.basic && request.headers.authorization !== undefined && !isForHandler)
    return await callerByBasic(deps, request, reply)
  if (!request.cookies.hasAuthToken) return guest
  const caller = await callerByCookie(deps, request)
  if (caller) return caller
  setCookie(reply, deps.cookie.clear())
  if (deps.options.invalidTokenIsError) {
    throw new Unauthenticated('invalid-token', 'The auth_token is unknown or expired. Sign in again.')
  }
  return guest
}

/** The caller by the first token of the request that a live session has. */
export async function callerByCookie(
  deps: { readonly sessions: Sessions; readonly users: UserCache },
  { cookies, caller: { client } }: FastifyRequest,
): Promise<Caller | undefined> {
  for (const token of cookies.authTokens.slice(0, MAX_TOKENS)) {
    const caller = await callerOf(deps, token, client)
    if (caller) return caller
  }
  return undefined
}

async function callerOf(
  { sessions, users }: { readonly sessions: Sessions; readonly users: UserCache },
  token: string,
  client: Client,
): Promise<Caller | undefined> {
  const session = await sessions.find(token)
  if (!session) return undefined
  const known = await users.find(session.userId)
  // The epoch in the user's row decides about revocation, whatever the session store contains (D3.5).
  if (known && !known.user.disabled && isCurrent(session, known.user))
    return {
      user: known.user,
      groups: known.groups,
      client,
      session,
      isStillValid: queries => sessions.isLive(session, queries),
    }
  await sessions.end(token)
  return undefined
}

/**
 * The credentials of an `Authorization` header; `undefined` for other schemes. Credentials are never read from a query, because logs and
 * histories keep queries (D24.3).
 */
function presentedIn(header: string | undefined): PresentedCredentials | undefined {
  if (header === undefined) return undefined
  const bearer = /^Bearer +(\S+)$/i.exec(header)?.[1]
  if (bearer !== undefined) return { scheme: 'bearer', text: bearer, name: '' }
  const basic = basicCredentials(header)
  return basic && { scheme: 'basic', text: basic.password, name: normaliseName(basic.name) }
}

/** @throws {Unauthenticated} with the challenge for the scheme; the session cookie of the request, if any, does not count */
async function callerByKind(
  kind: CredentialKind,
  presented: PresentedCredentials,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  try {
    return await kind.caller(presented, request.caller.client)
  } catch (error) {
    if (!(error instanceof Unauthenticated)) throw error
    if (presented.scheme === 'basic') challenge(request, reply)
    else reply.header('www-authenticate', 'Bearer realm="Stowage", error="invalid_token"')
    throw error
  }
}

/** @throws {Unauthenticated} for credentials that are wrong, malformed or of another scheme (D4.2) */
async function callerByBasic(
  { basic }: { readonly basic: BasicCredentials | undefined },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  const { client } = request.caller
  const credentials = basicCredentials(request.headers.authorization)
  try {
    if (!basic || !credentials) throw new Unauthenticated('wrong-credentials', 'The credentials are malformed.')
    return { ...(await basic.user(credentials, client)), client }
  } catch (error) {
    if (error instanceof Unauthenticated) challenge(request, reply)
    throw error
  }
}

/** Name and password of an `Authorization` header; `undefined` unless it is well-formed Basic (RFC 7617). In UTF-8, or else in Latin-1. */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** `auth_challenge=false` keeps a browser from opening its own window (D4.1). */
export function challenge(request: FastifyRequest, reply: FastifyReply): void {
  if (!request.parameters.includes('auth_challenge', 'false')) reply.header('www-authenticate', CHALLENGE)
}

/**
 * Asks a program that is not signed in for HTTP Basic: most send credentials only when asked (RFC 9110 11.6.1). Scripts of pages are not
 * asked, because the browser would open a window, and nobody is where no credentials are read.
 */
export function challengeProgram(
  { basic }: { readonly basic: BasicCredentials | undefined },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { 'sec-fetch-mode': mode = 'navigate', 'x-requested-with': script } = request.headers
  const isOfPage = mode !== 'navigate' || script !== undefined || request.callback !== undefined
  const readsCredentials = request.route.skipAuth !== true && !request.cookies.hasAuthToken
  if (basic && readsCredentials && !isOfPage && !reply.hasHeader('www-authenticate')) challenge(request, reply)
}

/** Once the response is known: a successful request prolongs the session, and the cookie with it (D2.5, D2.6). */
export async function noteAccess(
  deps: Pick<HttpServices, 'cookie' | 'log'> & { readonly sessions: Sessions; readonly users: UserCache },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { sessions, cookie, log } = deps
  try {
    const session = request.caller.session ?? (await unrecognisedSession(deps, request, reply))
    const renewed = session && (await sessions.noteAccess(session, reply.statusCode < 400))
    if (!renewed || setsAuthCookie(reply)) return
    setCookie(reply, cookie.set(renewed.token, sessions.cookieMaxAge(renewed)))
    // No cache may give this cookie to somebody else.
    if (!request.caller.session && reply.getHeader('cache-control') !== 'no-store')
      reply.header('cache-control', 'private, no-cache')
  } catch (error) {
    // The request itself has succeeded. Its session is prolonged by the next request.
    log.error({ err: error }, 'recording an access failed')
  }
}

/**
 * The session of a successful request for a resource that is the same for everybody, so that its route identifies no caller. Not used for
 * files that any cache may store, because their responses must not contain a cookie.
 */
async function unrecognisedSession(
  deps: { readonly sessions: Sessions; readonly users: UserCache },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Session | undefined> {
  const isForAll = request.route.skipAuth === true && request.callback === undefined && !setsAuthCookie(reply)
  const isPublic = /\bpublic\b/.test(String(reply.getHeader('cache-control')))
  if (!isForAll || isPublic || reply.statusCode >= 400) return undefined
  return (await callerByCookie(deps, request))?.session
}

const READ: readonly TokenScope[] = ['read']
const WRITE: readonly TokenScope[] = ['write']
const NONE: readonly TokenScope[] = []

/**
 * Checks once, for every route, that the access token of a request has a scope for it (D24.4). A route without a declaration of
 * its own is read with `read` and changed with `write`; below `/auth/` tokens are refused: they do not manage sessions, passwords
 * and tokens (D24.5).
 * @throws {Forbidden} `access-token-scope`
 */
export function requireTokenScope({ caller, method, route: { url, tokenScopes } }: FastifyRequest): void {
  const { grant } = caller
  // An unknown address is answered with 404.
  if (!grant || url === undefined) return
  const scopes = tokenScopes ?? scopesOf(method, url)
  if (scopes.some(scope => hasScope(caller, scope))) return
  const needed = scopes.length === 0 ? 'Sign in instead' : `It needs the scope ${scopes.join(' or ')}`
  throw new Forbidden('access-token-scope', `This access token does not permit this request. ${needed}.`)
}

function scopesOf(method: string, url: string): readonly TokenScope[] {
  if (url.startsWith('/auth/')) return NONE
  return method === 'GET' || method === 'HEAD' ? READ : WRITE
}

/** The current-user information of I2.2 and D3.1. */
export function describeCaller(
  { user, expires }: { readonly user: User; readonly expires: Milliseconds | undefined },
  language: string | undefined,
  base: BaseAddress,
): Record<string, unknown> {
  const clientAcceptLanguage = acceptLanguage(language)
  const uri = base.toAbsolute(entryUri({ context: PRINCIPALS, id: user.id }))
  const known = { id: user.id, user: user.name, clientAcceptLanguage, uri }
  if (isGuest({ user })) return known
  return {
    ...known,
    language: user.language,
    homecontext: user.homeContext,
    authTokenExpires: expires === undefined ? undefined : localeTime(expires),
  }
}

/** When the caller's session will end, after this request. */
export const expiryOf = ({ session }: Caller, sessions: Sessions): Milliseconds | undefined =>
  session && sessions.expiryAfterAccess(session)

/** `Sun Nov 22 10:00:00 UTC 2026` (D3.1). */
function localeTime(time: Milliseconds): string {
  // From `Sun, 22 Nov 2026 10:00:00 GMT`.
  const text = new Date(time).toUTCString()
  return `${text.slice(0, 3)} ${text.slice(8, 11)} ${text.slice(5, 7)} ${text.slice(17, 25)} UTC ${text.slice(12, 16)}`
}

/** The user with this name. @throws {NotFound} */
export async function userNamed({ database }: { readonly database: Database }, name: string): Promise<User> {
  const user = await findUserByName(database, normaliseName(name))
  if (!user) throw new NotFound('not-found', `There is no user "${name}".`)
  return user
}

/**
 * The user whom a request is about: the caller, or another user that the request names, which only admins may do.
 * @param action completes the refusal for others @throws {Forbidden} @throws {NotFound}
 */
export async function targetUser(
  deps: { readonly database: Database },
  caller: Caller,
  name: string | undefined,
  action: string,
): Promise<User> {
  if (name === undefined || normaliseName(name) === caller.user.name) return caller.user
  if (!isAdmin(caller)) throw denied(caller, action)
  return await userNamed(deps, name)
}
