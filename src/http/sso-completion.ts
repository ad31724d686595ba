import type { FastifyReply, FastifyRequest } from 'fastify'
import { SsoRefused } from '../sso/refusal.ts'
import { needsFactor } from '../accounts/factors/sign-in.ts'
import type { CompletedSignOn } from '../sso/sign-on.ts'
import { withQuery } from '../sso/with-query.ts'
import { prefersHtml } from './protocol/negotiate.ts'
import { pageContext, sendPage } from './page.ts'
import { signedInPage } from './pages/login-page.ts'
import { onwardPage } from './pages/sso-pages.ts'
import {
  endSignIn,
  FACTOR_PATH,
  type CompletionServices as SignInServices,
  requireComplete,
  waitForFactor,
} from './sign-in-completion.ts'
import type { Uses } from './services.ts'

/** What completing a login takes. */
export type CompletionServices = SignInServices & Uses<'sso' | 'ui'>

/** Sets the cookie and leads on: to the success URL, to a page, or for programs to the user information. */
export async function completeLogin(
  deps: CompletionServices,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  result: CompletedSignOn,
): Promise<unknown> {
  if (needsFactor(result) && prefersHtml(request)) {
    waitForFactor(deps, reply, result)
    return await reply.redirect(deps.base.at(FACTOR_PATH), 303)
  }
  const signedIn = requireComplete(deps, reply, result)
  const { user, successUrl } = signedIn
  const described = await endSignIn(deps, { request, reply }, signedIn)
  if (successUrl !== undefined && deps.sso.landsOnPage) {
    const look = pageContext(deps, request)
    return sendPage(
      reply,
      onwardPage(look, { title: look.words.signedIn, notice: look.words.signedInShort, url: successUrl }),
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
