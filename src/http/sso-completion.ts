import type { FastifyReply, FastifyRequest } from 'fastify'
import { SsoRefused } from '../base/errors.ts'
import type { VerifiedIdentity } from '../sso/identity-provider.ts'
import { withQuery } from '../sso/with-query.ts'
import { describeCaller } from './describe.ts'
import { prefersHtml } from './negotiate.ts'
import { sendPage } from './send-page.ts'
import { pageContext } from './page-context.ts'
import { onwardPage } from './pages/sso-pages.ts'
import { signedInPage } from './pages/login-page.ts'
import type { LoginTarget, Services } from './services.ts'

/** Opens the session and leads on: to the success URL, or a page, or for programs the user information. @throws {SsoRefused} */
export async function completeLogin(
  deps: Services,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  claim: VerifiedIdentity,
  { policy, successUrl }: LoginTarget,
): Promise<unknown> {
  const { request, reply } = exchange
  const { client } = request.caller
  const user = await deps.sso.signOn.accept(claim, policy, client)
  const session = await deps.sessions.open(user, client, { maximum: policy.maxAge })
  // Beside the cookie of the flow, which is cleared in the same answer.
  reply.header('set-cookie', deps.cookie.set(session.token, deps.sessions.cookieLife(session)))
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
 * Notes a refusal and leads on to the failure URL, with `error` (the check) and `correlation`; without one the refusal goes
 * on as it is, to be answered with 401. What is no refusal goes on untouched.
 */
export async function failLogin(
  deps: Services,
  reply: FastifyReply,
  error: unknown,
  { provider, failureUrl }: { readonly provider: string; readonly failureUrl: string | undefined },
): Promise<unknown> {
  if (!(error instanceof SsoRefused)) throw error
  const correlation = deps.sso.failures.report(error, provider)
  if (failureUrl === undefined) throw error.recordedAs(correlation)
  return await reply.redirect(withQuery(failureUrl, { error: error.failed.check, correlation }), 303)
}
