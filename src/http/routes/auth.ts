import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAdmin } from '../../accounts/caller.ts'
import type { Client, Session } from '../../accounts/sessions.ts'
import { findPrincipalNamed, normaliseName } from '../../accounts/users.ts'
import { NotFound, Unauthenticated } from '../../base/errors.ts'
import { contextsOfCaller } from '../../content/context-list.ts'
import { contextAccesses } from '../../search/contexts-of-caller.ts'
import { basicCredentials, challenge, describeCaller, expiryOf } from '../caller.ts'
import { setCookie } from '../protocol/sender.ts'
import { describeEntry } from '../representations.ts'
import { FlowCookie } from '../browser-cookies.ts'
import { done, json, page, redirect, choice, paging, requiredText, type Exchange, route } from '../interface/route.ts'
import { named, object, optional, text } from '../interface/schema.ts'
import { CurrentUser, Graph, partOf, Quota, rights } from '../interface/schemas.ts'
import { prefersHtml } from '../protocol/negotiate.ts'
import type { AuthRedirect } from '../../sso/identity-provider.ts'
import { withQuery } from '../../sso/redirect-targets.ts'
import { sendToProviderByPage } from '../send-to-provider.ts'
import type { Uses } from '../services.ts'

const logoutAnswers = {
  200: page('For a browser that signs out at its identity provider as well: a page that leads on to it.'),
  204: done,
  303: redirect('For a browser: to the sign-in page.'),
} as const

/** Routes for sign-out and for the current user (I4, I5.1; D2.4, D3). */
export const authRoutes = [
  route({
    id: 'logout',
    method: 'GET',
    url: '/auth/logout',
    chapter: 'Sessions',
    summary: 'Sign out: end every session whose `auth_token` the request carries, and clear the cookie.',
    details:
      'A sign-in that waits for a second factor or a new password ends as well. With HTTP Basic, the remembered check of the credentials is dropped.',
    answers: logoutAnswers,
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: LogoutServices, exchange) => await logout(deps, exchange),
  }),
  route({
    id: 'logoutByForm',
    method: 'POST',
    url: '/auth/logout',
    chapter: 'Sessions',
    summary: 'Sign out, as GET does.',
    answers: logoutAnswers,
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: LogoutServices, exchange) => await logout(deps, exchange),
  }),
  route({
    id: 'readCurrentUser',
    method: 'GET',
    url: '/auth/user',
    tokenScopes: ['read', 'quota'],
    chapter: 'Sessions',
    summary: 'Read who the caller is.',
    details:
      'Without a session that is the guest, with `id` `_guest`. `isAdmin` is present for administrators only, `secondFactor` for users who must add one first.',
    allowWithoutMfa: true,
    answers: { 200: json('The user information.', CurrentUser) },
    handle: async (
      { sessions, base, factorPolicy }: Uses<'sessions' | 'base' | 'factorPolicy'>,
      { request, caller },
    ) => {
      const known = { user: caller.user, expires: expiryOf(caller, sessions) }
      const described = describeCaller(known, request.headers['accept-language'], base)
      if (await factorPolicy.isMissing(caller)) described['secondFactor'] = 'missing'
      if (isAdmin(caller)) described['isAdmin'] = true
      return described
    },
  }),
  route({
    id: 'listContextsOfCaller',
    method: 'GET',
    url: '/auth/user/contexts',
    tokenScopes: ['read'],
    chapter: 'Sessions',
    summary:
      'List the contexts that the caller can write to (for administrators all but `_contexts` and `_principals`), or with `access=shared` those of others that the caller can read or write to; by name.',
    requires: { role: 'user', to: 'see which contexts you have access to' },
    query: {
      access: choice('Which contexts.', contextAccesses, 'write'),
      ...paging,
    },
    answers: {
      200: json(
        'A part of the list.',
        named(
          'ContextsOfCaller',
          partOf(
            'contexts',
            object({
              contextId: text(),
              rights,
              name: optional(text()),
              quota: optional(Quota),
              metadata: optional(Graph),
            }),
          ),
        ),
      ),
    },
    handle: async ({ database, views, base }: Uses<'database' | 'views' | 'base'>, { caller, query }) => {
      const { total, contexts } = await contextsOfCaller(database, caller, query)
      const described = []
      for (const context of contexts) {
        const { name, quota, rights, metadata } = describeEntry(await views.of(caller, context, true), base)
        described.push({ contextId: context.entry.id, name, quota, rights, metadata })
      }
      const { limit, offset } = query
      return { contexts: described, results: total, limit, offset }
    },
  }),
  route({
    id: 'findPrincipal',
    method: 'GET',
    url: '/auth/principals',
    tokenScopes: ['read'],
    chapter: 'Sessions',
    summary: 'Find the user or group with exactly this name, to give it access.',
    details:
      'Names are compared as at sign-in. There is no search for parts of a name: only administrators can list users.',
    requires: { role: 'user', to: 'find users and groups by name' },
    query: { name: requiredText('The whole name.', { keywords: { maxLength: 256 } }) },
    answers: { 200: json('Its id.', named('FoundPrincipal', object({ id: text() }))) },
    refusals: { 404: ['not-found'] },
    handle: async ({ database }: Uses<'database'>, { query }) => {
      const id = await findPrincipalNamed(database, normaliseName(query.name))
      if (id === undefined) throw new NotFound('not-found', 'There is no user or group with this name.')
      return { id }
    },
  }),
  route({
    id: 'signInByBasic',
    method: 'GET',
    url: '/auth/basic',
    tokenScopes: ['read', 'quota'],
    chapter: 'Sessions',
    summary: 'Read who the HTTP Basic credentials belong to, or be asked for them by the browser.',
    details: 'Only with `service.auth.http-basic=on`. Sets no cookie.',
    query: {
      auth_challenge: choice('`false` leaves the `WWW-Authenticate` header out.', ['true', 'false'], undefined),
    },
    answers: { 200: json('The user information.', CurrentUser) },
    refusals: { 401: ['not-signed-in', 'wrong-credentials'], 403: ['account-disabled'], 429: ['locked-out'], 503: [] },
    isOffered: ({ basic }: Uses<'basic' | 'base'>) => basic !== undefined,
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

type LogoutServices = Uses<'audit' | 'base' | 'basic' | 'cookie' | 'options' | 'sessions' | 'signIn' | 'sso' | 'ui'>

async function logout(deps: LogoutServices, { request, reply }: Pick<Exchange, 'request' | 'reply'>): Promise<unknown> {
  const { base, basic, cookie } = deps
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
  const onward = ended && (await logoutAtProvider(deps, ended, client))
  if (onward) return await sendToProviderByPage(deps, { request, reply }, onward)
  const login = base.at('auth/login')
  const provider = ended?.provider
  return await reply.redirect(provider === undefined ? login : withQuery(login, { left: provider }), 303)
}

/** How a browser goes to end its session at the provider, where a setting says so (D30). The session here has ended. */
async function logoutAtProvider(
  { sso, base }: LogoutServices,
  session: Session,
  client: Client,
): Promise<AuthRedirect | undefined> {
  const returnTo = base.at('auth/login')
  const url = sso.cas?.logoutUrl(session, returnTo) ?? (await sso.oidc?.logoutUrl(session, returnTo))
  if (url !== undefined) return { kind: 'redirect', url }
  return await sso.saml?.beginLogout(session, client)
}

/**
 * Has the browser delete what pages of the origin have stored (D32.4). Never its cookies: they go by domain, so those of other hosts
 * would go too, and the cookie of a trusted device is to stay.
 */
function clearSiteData({ base, options: { clearSiteData } }: LogoutServices, reply: FastifyReply): void {
  if (!base.isHttps || clearSiteData === 'off' || (clearSiteData === 'auto' && base.path !== '/')) return
  reply.header('clear-site-data', clearSiteData === 'cache' ? '"cache", "storage"' : '"storage"')
}

/**
 * Ends what this browser has begun and not completed: a sign-in that waits for its second factor or a new password, a sign-on by CAS or
 * OpenID Connect. The cookie of a trusted device stays, because it signs no user in (D3.4).
 */
async function endSignInsInProgress(
  { sso, signIn, base, options }: LogoutServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  for (const kind of ['2fa', 'cas', 'oidc'] as const) {
    const cookie = new FlowCookie(base, options.cookie.secure, kind)
    if (!cookie.isIn(request.cookies)) continue
    setCookie(reply, cookie.clear())
    const value = cookie.read(request.cookies)
    if (kind === '2fa' && value !== undefined) await signIn.abandon(value)
    // Without its cookie a sign-on by OpenID Connect cannot be completed.
    else if (kind === 'cas') await sso.cas?.consumeFlow(value)
  }
}

async function endSession(
  { sessions, audit }: Uses<'sessions' | 'audit'>,
  address: string,
  token: string,
): Promise<Session | undefined> {
  const session = await sessions.find(token)
  if (!session || !(await sessions.end(token))) return undefined
  const { userId } = session
  await audit.record({ event: 'logout', userId, actorId: userId, address })
  return session
}
