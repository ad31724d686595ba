import { isAdmin } from '../../accounts/caller-guards.ts'
import type { Audit } from '../../accounts/audit.ts'
import type { BasicCredentials } from '../../accounts/basic-credentials.ts'
import type { SecondFactor } from '../../accounts/second-factor.ts'
import type { Session } from '../../accounts/sessions.ts'
import type { ProviderSlot } from '../../http/identity-providers.ts'
import { Unauthenticated } from '../../base/errors.ts'
import { basicCredentials, challenge, describeCaller, expiryOf } from '../../http/caller.ts'
import { setCookie } from '../../http/protocol/cookies.ts'
import { pageContext, sendPage } from '../../http/page.ts'
import { noticePage } from '../../http/pages/password-pages.ts'
import { choice, done, type Exchange, json, page, redirect, route } from '../../http/interface/route.ts'
import { CurrentUser } from '../../http/interface/shared-schemas.ts'
import { isNavigation, prefersHtml } from '../../http/protocol/negotiate.ts'
import { withQuery } from '../../base/with-query.ts'
import { sendToProviderByPage } from '../../http/send-to-provider.ts'
import { type CompletionServices, pendingCookie } from '../../http/sign-in-completion.ts'

const logoutAnswers = {
  200: page(
    'For a browser that signs out at its identity provider as well: a page that leads on to it. For a program that prefers HTML: a short page.',
  ),
  204: done,
  303: redirect('For a browser: to the sign-in page.'),
} as const

interface Services extends CompletionServices {
  readonly audit: Audit
  /** Absent when HTTP Basic is off. */
  readonly basic: BasicCredentials | undefined
  readonly identityProviders: ProviderSlot
  readonly secondFactor: SecondFactor
}

/** Routes for sign-out and for the current user (I4, I5.1; D2.4, D3). */
export const sessionRoutes = [
  route({
    id: 'logout',
    method: 'GET',
    url: '/auth/logout',
    chapter: 'Sessions',
    summary: 'Sign out: end every session whose `auth_token` the request carries, and clear the cookie.',
    details:
      'A sign-in that waits for a second factor or a new password ends as well. With HTTP Basic, the service checks the credentials of the next request again.',
    answers: logoutAnswers,
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, exchange) => await logout(deps, exchange),
  }),
  route({
    id: 'logoutByForm',
    method: 'POST',
    url: '/auth/logout',
    chapter: 'Sessions',
    summary: 'Sign out, like GET.',
    answers: logoutAnswers,
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, exchange) => await logout(deps, exchange),
  }),
  route({
    id: 'readCurrentUser',
    method: 'GET',
    url: '/auth/user',
    tokenScopes: ['read', 'quota'],
    chapter: 'Sessions',
    summary: 'Read who the caller is.',
    details:
      'Without a session the caller is the guest, with the `id` `_guest`. `isAdmin` is present for administrators only, `secondFactor` for users who must add a second factor first.',
    allowWithoutMfa: true,
    answers: { 200: json('The user information.', CurrentUser) },
    handle: async ({ sessions, base, secondFactor }: Services, { request, caller }) => {
      const known = { user: caller.user, expires: expiryOf(caller, sessions) }
      const described = describeCaller(known, request.headers['accept-language'], base)
      if (await secondFactor.isMissing(caller)) described['secondFactor'] = 'missing'
      if (isAdmin(caller)) described['isAdmin'] = true
      return described
    },
  }),
  route({
    id: 'signInByBasic',
    method: 'GET',
    url: '/auth/basic',
    tokenScopes: ['read', 'quota'],
    chapter: 'Sessions',
    summary: 'Read which user the HTTP Basic credentials belong to. Without credentials, the browser asks for them.',
    details: 'This operation needs `service.auth.http-basic=on`. The response sets no cookie.',
    query: {
      auth_challenge: choice('`false` leaves the `WWW-Authenticate` header out.', ['true', 'false'], undefined),
    },
    answers: { 200: json('The user information.', CurrentUser) },
    refusals: { 401: ['not-signed-in', 'wrong-credentials'], 403: ['account-disabled'], 429: ['locked-out'], 503: [] },
    isOffered: ({ basic }: Pick<Services, 'base' | 'basic'>) => basic !== undefined,
    htmlErrors: true,
    handle: async ({ base }, { request, reply, caller }) => {
      if (request.headers.authorization === undefined) {
        challenge(request, reply)
        throw new Unauthenticated('not-signed-in', 'Send HTTP Basic credentials.')
      }
      return describeCaller({ ...caller, expires: undefined }, request.headers['accept-language'], base)
    },
  }),
]

async function logout(deps: Services, { request, reply }: Pick<Exchange, 'request' | 'reply'>): Promise<unknown> {
  const { base, basic, cookie, identityProviders } = deps
  // With `ignoreAuth` the request counts as one without a cookie, so no session is ended and no cookie removed.
  const isIgnored = request.parameters.has('ignoreAuth')
  const { client } = request.caller
  let ended: Session | undefined
  for (const token of request.cookies.authTokens) {
    const session = await endSession(deps, client.address, token)
    if (session?.provider !== undefined) ended = session
  }
  const credentials = basicCredentials(request.headers.authorization)
  if (credentials) await basic?.forget(credentials)
  if (!isIgnored) {
    setCookie(reply, cookie.clear())
    clearSiteData(deps, reply)
    await endSignInsInProgress(deps, request, reply)
  }
  if (!prefersHtml(request)) return await reply.status(204).send()
  if (!isNavigation(request)) {
    const context = pageContext(deps, request)
    const { signOut: title, signedOut: notice } = context.words
    return sendPage(reply, noticePage(context, { title, notice, onward: context.home }))
  }
  const onward = ended && (await identityProviders.current?.beginLogout(ended, client))
  if (onward) return await sendToProviderByPage(deps, { request, reply }, onward)
  const login = base.at('auth/login')
  const provider = ended?.provider
  return await reply.redirect(provider === undefined ? login : withQuery(login, { left: provider }), 303)
}

/**
 * Makes the browser delete data that pages of the origin have stored (D32.4), unless another application may share the origin. It never
 * deletes cookies: this would include cookies of other hosts of the domain, and the cookie of a trusted device must stay. It never deletes
 * the cache, which can take seconds.
 */
function clearSiteData({ base }: Services, reply: Exchange['reply']): void {
  if (base.isHttps && base.path === '/') reply.header('clear-site-data', '"storage"')
}

/**
 * Ends sign-ins that this browser has begun and not completed: a sign-in that waits for its second factor or a new password, and a sign-on
 * by an identity provider. The cookie of a trusted device stays, because it signs no user in (D3.4).
 */
async function endSignInsInProgress(
  deps: Services,
  request: Exchange['request'],
  reply: Exchange['reply'],
): Promise<void> {
  const cookie = pendingCookie(deps)
  if (cookie.isIn(request.cookies)) {
    setCookie(reply, cookie.clear())
    const pending = cookie.read(request.cookies)
    if (pending !== undefined) await deps.signIn.abandon(pending)
  }
  for (const value of (await deps.identityProviders.current?.abandon(request.cookies)) ?? []) setCookie(reply, value)
}

async function endSession({ sessions, audit }: Services, address: string, token: string): Promise<Session | undefined> {
  const session = await sessions.find(token)
  if (!session || !(await sessions.end(token))) return undefined
  const { userId } = session
  await audit.record({ event: 'logout', userId, actorId: userId, address })
  return session
}
