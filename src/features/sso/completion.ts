import { isWaiting } from '../../accounts/sign-in.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { Exchange } from '../../http/interface/route.ts'
import { pageContext, sendPage } from '../../http/page.ts'
import { onwardPage } from '../../http/pages/sso-pages.ts'
import { isNavigation, prefersHtml } from '../../http/protocol/negotiate.ts'
import {
  endSignIn,
  redirectToNextStep,
  requireComplete,
  sendSignedIn,
  type CompletionServices as SignInServices,
} from '../../http/sign-in-completion.ts'
import { withQuery } from '../../base/with-query.ts'
import { SsoRefused } from './refusal.ts'
import type { CompletedSignOn } from './sign-on.ts'

/** The services that the end of a sign-on needs. */
export interface CompletionServices extends HttpServices, SignInServices {
  /** A page of this service leads on, instead of a redirect (D8.5). */
  readonly landsOnPage: () => boolean
}

/** Sets the cookie and leads on: to the success URL, to a page, or for programs to the user information. */
export async function completeLogin(
  deps: CompletionServices,
  { request, reply }: Pick<Exchange, 'request' | 'reply'>,
  result: CompletedSignOn,
): Promise<unknown> {
  if (isWaiting(result) && isNavigation(request)) return await redirectToNextStep(deps, reply, result)
  const signedIn = requireComplete(deps, reply, result)
  const { user, successUrl } = signedIn
  const described = await endSignIn(deps, { request, reply }, signedIn)
  if (successUrl !== undefined && deps.landsOnPage()) {
    const context = pageContext(deps, request)
    return sendPage(
      reply,
      onwardPage(context, { title: context.words.signedIn, notice: context.words.signedInShort, url: successUrl }),
    )
  }
  if (successUrl !== undefined) return await reply.redirect(successUrl, 303)
  return prefersHtml(request) ? sendSignedIn(deps, { request, reply }, user) : described
}

/**
 * Leads a refused browser on to the failure URL, with `error` (the check), `correlation` and, for a lacking value, `missing` (the
 * attribute). @throws any other error
 */
export async function failLogin(reply: Exchange['reply'], error: unknown): Promise<unknown> {
  if (!(error instanceof SsoRefused) || error.failureUrl === undefined) throw error
  const { check, correlation, missing } = error.extra
  const query = { error: String(check), correlation: String(correlation) }
  const lacking: Record<string, string> = missing === undefined ? {} : { missing: String(missing) }
  return await reply.redirect(withQuery(error.failureUrl, { ...query, ...lacking }), 303)
}
