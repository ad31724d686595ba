import type { OidcSignOn } from './sign-on.ts'
import { FlowCookie } from '../../http/browser-cookies.ts'
import { done, json, redirect, textParameter, route } from '../../http/interface/route.ts'
import { formBody } from '../../http/interface/bodies.ts'
import { CurrentUser } from '../../http/interface/shared-schemas.ts'
import { setCookie } from '../../http/protocol/cookies.ts'
import { CALLBACK_PATH, SIGN_ON_PATH } from './addresses.ts'
import { completeLogin, type CompletionServices, failLogin } from '../sso/completion.ts'

const url = `/${SIGN_ON_PATH}` as const
const MAX_LOGOUT_BYTES = 65_536

interface Services extends CompletionServices {
  readonly oidc: OidcSignOn
}

/**
 * Signing in by OpenID Connect (D26): redirect to the provider, return with its code, and the provider's
 * requests to end sessions.
 */
export const oidcRoutes = [
  route({
    id: 'signInByOidc',
    method: 'GET',
    url,
    chapter: 'Sessions',
    summary: 'Sign in by OpenID Connect: go to the provider.',
    details: 'This operation needs `service.auth.oidc=on`. [Single sign-on by OpenID Connect](how-to/sso-oidc.md)',
    query: {
      idp: textParameter('Name of the provider.'),
      username: textParameter(
        'An e-mail address: its domain decides where no provider is named, and the provider gets it as `login_hint`.',
      ),
      successurl: textParameter('Where to go after the login.'),
      failureurl: textParameter('Where to go after a refusal.'),
    },
    answers: { 303: redirect('To the provider.') },
    refusals: { 400: ['unknown-idp', 'invalid-redirect'], 401: ['sso-refused'], 503: ['overloaded'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, caller, query }) => {
      const { oidc } = deps
      const cookie = new FlowCookie(deps.base, deps.options.cookie.secure, 'oidc')
      // One secret serves several sign-ons at the same time, in several tabs.
      const browser = cookie.read(request.cookies) ?? oidc.newBrowser()
      try {
        const { idp, username, successurl: successUrl, failureurl: failureUrl } = query
        const address = await oidc.begin({ idp, username, successUrl, failureUrl }, browser, caller.client)
        setCookie(reply, cookie.set(browser))
        return await reply.redirect(address, 303)
      } catch (error) {
        return await failLogin(reply, error)
      }
    },
  }),
  route({
    id: 'completeOidcLogin',
    method: 'GET',
    url: `/${CALLBACK_PATH}`,
    chapter: 'Sessions',
    summary: 'Complete a sign-on: the redirect URI, to which providers send users back.',
    query: {
      state: textParameter('As it was sent with the request.'),
      code: textParameter('The code that is exchanged for tokens.'),
      iss: textParameter('Issuer of the response (RFC 9207).'),
      error: textParameter('Why the provider refused.'),
    },
    answers: {
      200: json('The user information, where there is no success URL; for a browser a page.', CurrentUser),
      303: redirect('To the success URL, or to the failure URL with `error` and `correlation`.'),
    },
    refusals: { 401: ['sso-refused'], 503: ['overloaded'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, caller, query }) => {
      const cookie = new FlowCookie(deps.base, deps.options.cookie.secure, 'oidc')
      const received = {
        state: query.state,
        query: new URL(request.raw.url ?? '', deps.base.href).search,
        browser: cookie.read(request.cookies),
      }
      try {
        return await completeLogin(deps, { request, reply }, await deps.oidc.complete(received, caller.client))
      } catch (error) {
        return await failLogin(reply, error)
      }
    },
  }),
  route({
    id: 'endOidcLogins',
    method: 'POST',
    url: `${url}/backchannel-logout`,
    chapter: 'Sessions',
    summary: 'Back-channel logout: the address to which a provider reports that a user has signed out there.',
    details:
      'If the token names a session of the provider, the service ends the sessions here that belong to it; otherwise it ends all sessions of the user, on all nodes. Each token is accepted once.',
    body: formBody(
      { logout_token: { description: 'A logout token that the provider has signed.', isRequired: true } },
      { limit: MAX_LOGOUT_BYTES },
    ),
    answers: { 204: done },
    refusals: { 400: ['invalid-form', 'invalid-logout-token'] },
    skipAuth: true,
    handle: async (deps: Services, { reply, caller, body }) => {
      const { logout_token: token } = await body()
      await deps.oidc.endLogins(token, caller.client)
      return await reply.status(204).send()
    },
  }),
]
