import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, hasScope, isGuest, type TokenScope, denied, isAdmin } from '../accounts/caller.ts'
import { type AccessTokens, looksLikeToken, TOKEN_PREFIX } from '../accounts/access-tokens.ts'
import type { Credentials } from '../accounts/basic-credentials.ts'
import { type Client, isCurrent, type Session, type Sessions } from '../accounts/sessions.ts'
import { normaliseName, type User, findUserByName } from '../accounts/users.ts'
import { Forbidden, Unauthenticated, NotFound } from '../base/errors.ts'
import type { Milliseconds } from '../base/units.ts'
import { entryUri, PRINCIPALS } from '../model/addresses.ts'
import type { BaseAddress } from './base-address.ts'
import { setCookie, setsAuthCookie } from './protocol/sender.ts'
import { acceptLanguage } from './protocol/negotiate.ts'
import type { Uses } from './services.ts'

/** Maximum number of tokens tried per request, so that one request cannot cause many look-ups. */
const MAX_TOKENS = 5

/** The challenge with which a browser asks for name and password (D4.1). */
const CHALLENGE = 'Basic realm="Stowage", charset="UTF-8"'

type CallerServices = Uses<'basic' | 'sessions' | 'users'>

/**
 * Recognises the caller by what the request carries. A token that no live session has makes the caller the guest and is
 * cleared in the response (D2.7).
 * @throws {Unauthenticated} `invalid-token` where the settings ask for it
 */
export async function recogniseCaller(
  deps: CallerServices & Uses<'accessTokens' | 'cookie' | 'options'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  // Until it is recognised, a request is the guest's.
  const guest = request.caller
  const { accessTokens } = deps
  const token = accessTokens && accessTokenIn(request.headers.authorization)
  if (token) return await callerByAccessToken(accessTokens, token, request, reply)
  if (deps.basic && request.headers.authorization !== undefined) return await callerByBasic(deps, request, reply)
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
  deps: Uses<'sessions' | 'users'>,
  { cookies, caller: { client } }: FastifyRequest,
): Promise<Caller | undefined> {
  for (const token of cookies.authTokens.slice(0, MAX_TOKENS)) {
    const caller = await callerOf(deps, token, client)
    if (caller) return caller
  }
  return undefined
}

async function callerOf(
  { sessions, users }: Uses<'sessions' | 'users'>,
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

interface PresentedToken {
  readonly scheme: 'bearer' | 'basic'
  readonly text: string
  /** The user name of HTTP Basic. */
  readonly name: string
}

/**
 * The access token of an `Authorization` header, as a bearer token (RFC 6750) or as the password of HTTP Basic; `undefined` for
 * credentials of another kind. Never read from a query, which logs and histories keep (D24.3).
 */
function accessTokenIn(header: string | undefined): PresentedToken | undefined {
  if (header === undefined) return undefined
  const bearer = /^Bearer +(\S+)$/i.exec(header)?.[1]
  if (bearer?.startsWith(TOKEN_PREFIX)) return { scheme: 'bearer', text: bearer, name: '' }
  const basic = basicCredentials(header)
  if (!basic || !looksLikeToken(basic.password)) return undefined
  return { scheme: 'basic', text: basic.password, name: normaliseName(basic.name) }
}

/** @throws {Unauthenticated} `invalid-access-token`; the session cookie of the request, if any, does not count */
async function callerByAccessToken(
  accessTokens: AccessTokens,
  { scheme, text, name }: PresentedToken,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  try {
    return await accessTokens.caller(text, request.caller.client, name)
  } catch (error) {
    if (!(error instanceof Unauthenticated)) throw error
    if (scheme === 'basic') challenge(request, reply)
    else reply.header('www-authenticate', 'Bearer realm="Stowage", error="invalid_token"')
    throw error
  }
}

/** @throws {Unauthenticated} for credentials that are wrong, malformed or of another scheme (D4.2) */
async function callerByBasic({ basic }: Uses<'basic'>, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
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

/** Name and password of an `Authorization` header; `undefined` unless it is well-formed Basic in UTF-8 (RFC 7617). */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString('utf8')
  const colon = text.indexOf(':')
  const isUtf8 = Buffer.from(text, 'utf8').equals(bytes)
  return colon < 0 || !isUtf8 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** `auth_challenge=false` keeps a browser from opening its own window (D4.1). */
export function challenge(request: FastifyRequest, reply: FastifyReply): void {
  const isWanted = !(request.parameters.has('auth_challenge') && request.parameters.get('auth_challenge') === 'false')
  if (isWanted) reply.header('www-authenticate', CHALLENGE)
}

/** Once the response is known: a successful request prolongs the session, and the cookie with it (D2.5, D2.6). */
export async function noteAccess(
  deps: Uses<'sessions' | 'users' | 'cookie' | 'log'>,
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
    // The request has succeeded; the next one prolongs the session.
    log.error({ err: error }, 'recording an access failed')
  }
}

/**
 * The session of a successful request for what is the same for everybody, so that its route recognises no caller. Not for files that any
 * cache may answer, because a cookie does not belong there.
 */
async function unrecognisedSession(
  deps: Uses<'sessions' | 'users'>,
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
  if (isGuest({ user })) return { id: user.id, user: user.name, clientAcceptLanguage }
  return {
    id: user.id,
    user: user.name,
    clientAcceptLanguage,
    uri: base.toAbsolute(entryUri({ context: PRINCIPALS, id: user.id })),
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
export async function userNamed({ database }: Uses<'database'>, name: string): Promise<User> {
  const user = await findUserByName(database, normaliseName(name))
  if (!user) throw new NotFound('not-found', `There is no user "${name}".`)
  return user
}

/**
 * The user whom a request is about: the caller, unless it names someone else, which only admins may.
 * @param action what others may not do, for the refusal @throws {Forbidden} @throws {NotFound}
 */
export async function targetUser(
  deps: Uses<'database'>,
  caller: Caller,
  name: string | undefined,
  action: string,
): Promise<User> {
  if (name === undefined || normaliseName(name) === caller.user.name) return caller.user
  if (!isAdmin(caller)) throw denied(caller, action)
  return await userNamed(deps, name)
}
