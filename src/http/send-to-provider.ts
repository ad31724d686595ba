import type { HttpServices } from './http-services.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuthRedirect } from './identity-providers.ts'
import { pageContext, sendPage } from './page.ts'
import { onwardPage, providerFormHeaders, providerFormPage } from './pages/sso-pages.ts'

interface Pair {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Takes a browser that is signing out on to its provider. */
export async function sendToProvider(
  deps: Pick<HttpServices, 'base' | 'ui'>,
  { request, reply }: Pair,
  redirect: AuthRedirect,
): Promise<unknown> {
  if (redirect.kind === 'redirect') return await reply.redirect(redirect.url, 303)
  const { action, fields } = redirect
  const context = pageContext(deps, request)
  const words = { title: context.words.signOut, notice: context.words.leavingToSignOut }
  return sendPage(reply, providerFormPage(context, action, fields, words), providerFormHeaders(action))
}

/** The same after a form of a page here: browsers apply the policy of that page to redirects, so the way goes by a page. */
export async function sendToProviderByPage(
  deps: Pick<HttpServices, 'base' | 'ui'>,
  { request, reply }: Pair,
  redirect: AuthRedirect,
): Promise<unknown> {
  if (redirect.kind === 'form') return await sendToProvider(deps, { request, reply }, redirect)
  const context = pageContext(deps, request)
  const notice = context.words.leavingToSignOut
  return sendPage(reply, onwardPage(context, { title: context.words.signOut, notice, url: redirect.url }))
}
