import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sessions } from '../accounts/sessions.ts'
import type { HttpServices } from './http-services.ts'
import { isWaiting, type SignedIn, type SignIn, type WaitingSignIn } from '../accounts/sign-in.ts'
import type { User } from '../accounts/users.ts'
import { DEVICE_TTL, type TrustedDevices } from '../accounts/trusted-devices.ts'
import { Unauthenticated } from '../base/errors.ts'
import { describeCaller } from './caller.ts'
import { FlowCookie } from './browser-cookies.ts'
import { pageContext, sendPage } from './page.ts'
import { signedInPage } from './pages/sign-in-pages.ts'
import { setCookie } from './protocol/cookies.ts'

/** Where a sign-in asks for the second factor. */
export const FACTOR_PATH = 'auth/factor'
/** Where a sign-in asks for a new password in place of a temporary one. */
export const NEW_PASSWORD_PATH = 'auth/new-password'

/** The services that the end of a sign-in needs. */
export interface CompletionServices extends HttpServices {
  /** Absent when trusted devices are disabled. */
  readonly devices: TrustedDevices | undefined
  readonly sessions: Sessions
  readonly signIn: SignIn
}

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
  setCookie(reply, cookie.set(session.token, sessions.cookieMaxAge(session)))
  if (devices && mechanism === 'form') {
    const device = await devices.trust(user, request.caller.client.device)
    setCookie(reply, cookie.setDevice(device, DEVICE_TTL / 1000))
  }
  return describeCaller({ user, expires: session.expires }, request.headers['accept-language'], base)
}

/** Gives the browser the token of the sign-in that waits, and leads it on to the page of the next step. */
export async function redirectToNextStep(
  deps: Pick<HttpServices, 'base' | 'options'>,
  reply: FastifyReply,
  { pendingToken, needs }: WaitingSignIn,
): Promise<FastifyReply> {
  setCookie(reply, pendingCookie(deps).set(pendingToken))
  return await reply.redirect(deps.base.at(needs === 'factor' ? FACTOR_PATH : NEW_PASSWORD_PATH), 303)
}

/**
 * @throws {Unauthenticated} `second-factor-required`, with the kinds that the user has, or `password-change-required`; the cookie
 * is set
 */
export function requireComplete(
  deps: Pick<HttpServices, 'base' | 'options'>,
  reply: FastifyReply,
  result: SignedIn | WaitingSignIn,
): SignedIn {
  if (!isWaiting(result)) return result
  setCookie(reply, pendingCookie(deps).set(result.pendingToken))
  if (result.needs === 'password') {
    const detail = 'This password is temporary. Send a new one to complete the sign-in.'
    throw new Unauthenticated('password-change-required', detail)
  }
  const detail = 'The password is right. Send the second factor to complete the sign-in.'
  throw new Unauthenticated('second-factor-required', detail, { extra: { factors: result.factors } })
}

/** The cookie that ties an incomplete sign-in to the browser that began it. */
export const pendingCookie = ({ base, options }: Pick<HttpServices, 'base' | 'options'>): FlowCookie =>
  new FlowCookie(base, options.cookie.secure, '2fa')

/** The page that says who is signed in. @param account where its button leads */
export function sendSignedIn(
  deps: Pick<HttpServices, 'base' | 'ui'>,
  { request, reply }: Pair,
  { name, id }: User,
  account = deps.base.at('ui/'),
): FastifyReply {
  const links = { account, logout: deps.base.at('auth/logout') }
  return sendPage(reply, signedInPage(pageContext(deps, request), name ?? id, links))
}
