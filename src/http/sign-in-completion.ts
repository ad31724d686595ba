import type { FastifyReply, FastifyRequest } from 'fastify'
import { isWaiting, type SignedIn, type WaitingSignIn } from '../accounts/factors/sign-in.ts'
import { DEVICE_TTL } from '../accounts/trusted-devices.ts'
import { Unauthenticated } from '../base/errors.ts'
import { SsoRefused } from '../sso/refusal.ts'
import type { CompletedSignOn } from '../sso/sign-on.ts'
import { withQuery } from '../sso/redirect-targets.ts'
import { describeCaller } from './caller.ts'
import { FlowCookie } from './browser-cookies.ts'
import { pageContext, sendPage } from './page.ts'
import { signedInPage } from './pages/sign-in-pages.ts'
import { onwardPage } from './pages/sso-pages.ts'
import { setCookie } from './protocol/sender.ts'
import { prefersHtml } from './protocol/negotiate.ts'
import type { Uses } from './services.ts'

/** Where a sign-in asks for the second factor. */
export const FACTOR_PATH = 'auth/factor'
/** Where a sign-in asks for a new password in place of a temporary one. */
export const NEW_PASSWORD_PATH = 'auth/new-password'

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
  setCookie(reply, cookie.set(session.token, sessions.cookieMaxAge(session)))
  if (devices && mechanism === 'form') {
    const device = await devices.trust(user, request.caller.client.device)
    setCookie(reply, cookie.setDevice(device, DEVICE_TTL / 1000))
  }
  return describeCaller({ user, expires: session.expires }, request.headers['accept-language'], base)
}

/** Gives the browser the token of the sign-in that waits, and leads it on to the page of the next step. */
export async function redirectToNextStep(
  deps: Uses<'base' | 'options'>,
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
  deps: Uses<'base' | 'options'>,
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
export const pendingCookie = ({ base, options }: Uses<'base' | 'options'>): FlowCookie =>
  new FlowCookie(base, options.cookie.secure, '2fa')

/** What the end of a sign-on through an identity provider takes. */
export type SsoCompletionServices = CompletionServices & Uses<'sso' | 'ui'>

/** Sets the cookie and leads on: to the success URL, to a page, or for programs to the user information. */
export async function completeLogin(
  deps: SsoCompletionServices,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  result: CompletedSignOn,
): Promise<unknown> {
  if (isWaiting(result) && prefersHtml(request)) return await redirectToNextStep(deps, reply, result)
  const signedIn = requireComplete(deps, reply, result)
  const { user, successUrl } = signedIn
  const described = await endSignIn(deps, { request, reply }, signedIn)
  if (successUrl !== undefined && deps.sso.landsOnPage) {
    const context = pageContext(deps, request)
    return sendPage(
      reply,
      onwardPage(context, { title: context.words.signedIn, notice: context.words.signedInShort, url: successUrl }),
    )
  }
  if (successUrl !== undefined) return await reply.redirect(successUrl, 303)
  if (prefersHtml(request)) {
    const ways = { account: deps.base.at('ui/'), logout: deps.base.at('auth/logout') }
    return sendPage(reply, signedInPage(pageContext(deps, request), user.name ?? user.id, ways))
  }
  return described
}

/**
 * Leads a refused browser on to the failure URL, with `error` (the check), `correlation` and, for a lacking value, `missing` (the
 * attribute). @throws any other error
 */
export async function failLogin(reply: FastifyReply, error: unknown): Promise<unknown> {
  if (!(error instanceof SsoRefused) || error.failureUrl === undefined) throw error
  const { check, correlation, missing } = error.extra
  const query = { error: String(check), correlation: String(correlation) }
  const lacking: Record<string, string> = missing === undefined ? {} : { missing: String(missing) }
  return await reply.redirect(withQuery(error.failureUrl, { ...query, ...lacking }), 303)
}
