import type { FastifyReply, FastifyRequest } from 'fastify'
import { SsoRefused } from '../sso/refusal.ts'
import type { CompletedSignOn } from '../sso/sign-on.ts'
import { withQuery } from '../sso/with-query.ts'
import { setCookie } from './protocol/cookies.ts'
import { describeCaller } from './caller.ts'
import { prefersHtml } from './protocol/negotiate.ts'
import { pageContext, sendPage } from './page.ts'
import { signedInPage } from './pages/login-page.ts'
import { onwardPage } from './pages/sso-pages.ts'
import type { Uses } from './services.ts'

/** What completing a login takes. */
export type CompletionServices = Uses<'sso' | 'sessions' | 'cookie' | 'base' | 'ui'>

/** Sets the cookie and leads on: to the success URL, to a page, or for programs to the user information. */
export async function completeLogin(
  deps: CompletionServices,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { user, session, successUrl }: CompletedSignOn,
): Promise<unknown> {
  setCookie(reply, deps.cookie.set(session.token, deps.sessions.cookieLife(session)))
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
  return describeCaller({ user, expires: session.expires }, request.headers['accept-language'], deps.base)
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
