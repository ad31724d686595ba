import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, guest } from '../accounts/caller.ts'
import { groupsOf } from '../accounts/groups.ts'
import { findUser } from '../accounts/users.ts'
import { Unauthenticated } from '../base/errors.ts'
import type { Queries } from '../stores/database.ts'
import { authTokens, hasAuthCookie } from './cookies.ts'
import type { Services } from './services.ts'

/** No more tokens than this are tried: one request cannot cause many look-ups. */
const MOST_TOKENS = 5

/**
 * Who asks, from what the request carries. A token that is good for nothing makes a guest and is cleared in the answer
 * (D2.7); `ignoreAuth` lowers anybody with a cookie to a guest and touches nothing (interface 4).
 * @throws {Unauthenticated} `invalid-token` where the operator wants that
 */
export async function recogniseCaller(on: Services, request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
  const header = request.headers.cookie
  if (request.parameters.has('ignoreAuth') || !hasAuthCookie(header)) return guest
  const caller = await callerByCookie(on, request)
  if (caller) return caller
  setAuthCookie(reply, on.cookie.clear())
  if (on.options.invalidTokenIsError) {
    throw new Unauthenticated('invalid-token', 'The auth_token is unknown or expired. Sign in again.')
  }
  return guest
}

/** The first token of the request that stands for a live login. */
export async function callerByCookie(on: Services, { headers }: FastifyRequest): Promise<Caller | undefined> {
  for (const token of authTokens(headers.cookie).slice(0, MOST_TOKENS)) {
    const caller = await callerOf(on, token)
    if (caller) return caller
  }
  return undefined
}

async function callerOf({ sessions, database }: Services, token: string): Promise<Caller | undefined> {
  const session = await sessions.find(token)
  if (!session) return undefined
  const user = await findUser(database, session.userId)
  // The epoch is what revokes: whatever the session store still holds, the user's row decides (D3.5).
  if (!user || user.disabled || user.epoch !== session.epoch) {
    await sessions.end(token)
    return undefined
  }
  return { user, groups: await groupSet(database, user.id), session }
}

export const groupSet = async (queries: Queries, userId: string): Promise<ReadonlySet<string>> =>
  new Set(await groupsOf(queries, userId))

/** One `Set-Cookie` at most: the last word on the cookie wins. */
export function setAuthCookie(reply: FastifyReply, value: string): void {
  reply.removeHeader('set-cookie')
  reply.header('set-cookie', value)
}

/** After the answer is known: a successful request prolongs the session, and the cookie with it (D2.5, D2.6). */
export async function noteAccess(on: Services, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { session } = request.caller
  if (!session) return
  const renewed = await on.sessions.noteAccess(session, reply.statusCode < 400)
  if (renewed && !reply.hasHeader('set-cookie')) {
    setAuthCookie(reply, on.cookie.set(renewed.token, on.sessions.cookieLife(renewed)))
  }
}
