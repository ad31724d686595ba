import type { FastifyReply, FastifyRequest } from 'fastify'
import { type FactorNeeded, needsFactor, type SignedIn } from '../accounts/factors/sign-in.ts'
import { DEVICE_TTL } from '../accounts/trusted-devices.ts'
import { Unauthenticated } from '../base/errors.ts'
import { describeCaller } from './caller.ts'
import { FlowCookie } from './flow-cookie.ts'
import { setCookie } from './protocol/cookies.ts'
import type { Uses } from './services.ts'

/** Where a sign-in asks for the second factor. */
export const FACTOR_PATH = 'auth/factor'

/** What the end of a sign-in takes. */
export type CompletionServices = Uses<'base' | 'cookie' | 'devices' | 'options' | 'sessions' | 'signIn'>

interface Pair {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Sets the cookies of a sign-in that is complete, and returns the user information. */
export async function endSignIn(
  deps: CompletionServices,
  { request, reply }: Pair,
  { user, session, mechanism }: SignedIn,
): Promise<Record<string, unknown>> {
  const { base, cookie, devices, sessions } = deps
  setCookie(reply, cookie.set(session.token, sessions.cookieLife(session)))
  if (devices && mechanism === 'form') {
    const device = await devices.trust(user, request.caller.client.device)
    setCookie(reply, cookie.setDevice(device, DEVICE_TTL / 1000))
  }
  return describeCaller({ user, expires: session.expires }, request.headers['accept-language'], base)
}

/** Gives the browser the token of the sign-in that waits for its second factor. */
export const waitForFactor = (
  deps: Uses<'base' | 'options'>,
  reply: FastifyReply,
  { pendingToken }: FactorNeeded,
): void => setCookie(reply, pendingCookie(deps).set(pendingToken))

/** @throws {Unauthenticated} `second-factor-required`, with the kinds that the user has, and the cookie set */
export function requireComplete(
  deps: Uses<'base' | 'options'>,
  reply: FastifyReply,
  result: SignedIn | FactorNeeded,
): SignedIn {
  if (!needsFactor(result)) return result
  waitForFactor(deps, reply, result)
  const detail = 'The password is right. Send the second factor to complete the sign-in.'
  throw new Unauthenticated('second-factor-required', detail, { extra: { factors: result.factors } })
}

/** The cookie that ties a sign-in without its second factor to the browser that began it. */
export const pendingCookie = ({ base, options }: Uses<'base' | 'options'>): FlowCookie =>
  new FlowCookie(base, options.cookie.secure, '2fa')
