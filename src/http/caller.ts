import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../accounts/caller.ts'
import type { Credentials } from '../accounts/basic-credentials.ts'
import { type Client, isCurrent } from '../accounts/sessions.ts'
import { Unauthenticated } from '../base/errors.ts'
import { authTokens, hasAuthCookie } from './cookies.ts'
import type { Services } from './services.ts'

/** No more tokens than this are tried: one request cannot cause many look-ups. */
const MAX_TOKENS = 5

/** How a browser is asked for a name and a password (D4.1). */
const CHALLENGE = 'Basic realm="Stowage", charset="UTF-8"'

/**
 * Who asks, from what the request carries. A token that is good for nothing makes a guest and is cleared in the answer
 * (D2.7); `ignoreAuth` lowers anybody with a cookie to a guest and touches nothing (interface 4).
 * @throws {Unauthenticated} `invalid-token` where the operator wants that
 */
export async function recogniseCaller(deps: Services, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  const header = request.headers.cookie
  // Until anybody is recognised, the request is a guest's.
  const guest = request.caller
  if (deps.basic && request.headers.authorization !== undefined) return await callerByBasic(deps, request, reply)
  if (request.parameters.has('ignoreAuth') || !hasAuthCookie(header)) return guest
  const caller = await callerByCookie(deps, request)
  if (caller) return caller
  setAuthCookie(reply, deps.cookie.clear())
  if (deps.options.invalidTokenIsError) {
    throw new Unauthenticated('invalid-token', 'The auth_token is unknown or expired. Sign in again.')
  }
  return guest
}

/** The first token of the request that stands for a live login. */
export async function callerByCookie(deps: Services, request: FastifyRequest): Promise<Caller | undefined> {
  for (const token of authTokens(request.headers.cookie).slice(0, MAX_TOKENS)) {
    const caller = await callerOf(deps, token, request.caller.client)
    if (caller) return caller
  }
  return undefined
}

async function callerOf({ sessions, users }: Services, token: string, client: Client): Promise<Caller | undefined> {
  const session = await sessions.find(token)
  if (!session) return undefined
  const known = await users.find(session.userId)
  // The epoch is what revokes: whatever the session store still holds, the user's row decides (D3.5).
  if (!known || known.user.disabled || !isCurrent(session, known.user)) {
    await sessions.end(token)
    return undefined
  }
  return { ...known, client, session }
}

/** @throws {Unauthenticated} for credentials that are wrong, malformed or of another scheme (D4.2) */
async function callerByBasic(deps: Services, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  const { client } = request.caller
  const credentials = basicCredentials(request.headers.authorization)
  try {
    if (!deps.basic || !credentials) throw new Unauthenticated('wrong-credentials', 'The credentials are malformed.')
    return { ...(await deps.basic.user(credentials, client)), client }
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

/** One `Set-Cookie` at most: the last word on the cookie wins. */
export function setAuthCookie(reply: FastifyReply, value: string): void {
  reply.removeHeader('set-cookie')
  reply.header('set-cookie', value)
}

/** After the answer is known: a successful request prolongs the session, and the cookie with it (D2.5, D2.6). */
export async function noteAccess(deps: Services, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { session } = request.caller
  if (!session) return
  const renewed = await deps.sessions.noteAccess(session, reply.statusCode < 400).catch((error: unknown) => {
    // What has been done stays done: the next request prolongs the session.
    deps.log.error({ err: error }, 'noting an access failed')
    return undefined
  })
  if (renewed && !reply.hasHeader('set-cookie')) {
    setAuthCookie(reply, deps.cookie.set(renewed.token, deps.sessions.cookieLife(renewed)))
  }
}
