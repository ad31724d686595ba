import { SsoRefused } from '../sso/refusal.ts'
import { setCookie } from '../../http/protocol/cookies.ts'
import { FlowCookie } from '../../http/browser-cookies.ts'
import { done, json, redirect, flagParameter, textParameter, route } from '../../http/interface/route.ts'
import { formBody } from '../../http/interface/bodies.ts'
import { CurrentUser } from '../../http/interface/shared-schemas.ts'
import { readSuccessUrl } from '../../http/base-address.ts'
import { CAS_PATH } from './addresses.ts'
import type { CasSignOn } from './sign-on.ts'
import { completeLogin, type CompletionServices, failLogin } from '../sso/completion.ts'

/** Marks the second start of a sign-on that returned without its flow. */
const AGAIN = 'again'
/** The size of the largest accepted logout message, percent-encoded. */
const MAX_LOGOUT_BYTES = 49_152

const exampleLogoutRequest =
  '<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="LR-1" Version="2.0" ' +
  'IssueInstant="2026-11-22T10:00:00Z"><samlp:SessionIndex>ST-1-example</samlp:SessionIndex></samlp:LogoutRequest>'

interface Services extends CompletionServices {
  readonly cas: CasSignOn
}

/** Sign-in through CAS and SAML 1.1 (I4, I5.4; D9). */
export const casRoutes = [
  route({
    id: 'signInByCas',
    method: 'GET',
    url: `/${CAS_PATH}`,
    chapter: 'Sessions',
    summary: 'Begin a sign-on by CAS, or complete it with the ticket of the CAS server.',
    details: 'This operation needs `service.auth.cas=on`. [Single sign-on by CAS](how-to/sso-cas.md)',
    query: {
      ticket: textParameter('Given by the CAS server.'),
      successurl: textParameter('Where to go afterwards, at this service.'),
      [AGAIN]: flagParameter('Set by the service when a sign-on begins for the second time.'),
    },
    answers: {
      200: json('The user information, where no success URL is configured; for a browser a page.', CurrentUser),
      303: redirect('To the CAS server, to the success URL, or to the failure URL.'),
    },
    refusals: { 401: ['sso-refused'], 503: ['overloaded'] },
    skipAuth: true,
    htmlErrors: true,
    /**
     * A ticket without its flow may belong to another browser, so it is dropped without validation, and the
     * sign-on starts again. `?again` shows that this is the second start, so that a browser without cookies is
     * not redirected for ever.
     */
    handle: async (deps: Services, { request, reply, caller: { client }, query: { ticket, again, successurl } }) => {
      const { cas } = deps
      const cookie = new FlowCookie(deps.base, deps.options.cookie.secure, 'cas')
      const flow = await cas.consumeFlow(cookie.read(request.cookies))
      try {
        if (ticket === undefined && again && !flow) throw await cas.withoutFlow(client)
        // Otherwise the browser would be redirected for ever.
        if (ticket === undefined && flow && cas.isGateway) throw await cas.withoutSession(client)
        if (ticket !== undefined && flow) {
          const completed = await cas.complete({ flow, ticket }, client)
          setCookie(reply, cookie.clear())
          return await completeLogin(deps, { request, reply }, completed)
        }
        const begun = await cas.begin(readSuccessUrl(deps.base, successurl) ?? flow?.successUrl, client)
        setCookie(reply, cookie.set(begun.flow.id))
        return await reply.redirect(ticket === undefined ? begun.url : `${deps.base.at(CAS_PATH)}?${AGAIN}`, 303)
      } catch (error) {
        if (error instanceof SsoRefused) setCookie(reply, cookie.clear())
        return await failLogin(reply, error)
      }
    },
  }),
  route({
    id: 'endCasLogin',
    method: 'POST',
    url: `/${CAS_PATH}`,
    chapter: 'Sessions',
    summary: 'Single logout: the address to which a CAS server reports that a user has signed out there.',
    details:
      'The service ends the session that began with the service ticket in `SessionIndex`, on all nodes. The response is the same ' +
      'whether there was such a session or not. This operation needs `service.auth.cas=on`.',
    body: formBody(
      { logoutRequest: { description: 'A SAML 2.0 `LogoutRequest`, as XML.', isRequired: true } },
      { limit: MAX_LOGOUT_BYTES, example: { logoutRequest: exampleLogoutRequest } },
    ),
    answers: { 204: done },
    refusals: { 400: ['invalid-form', 'invalid-logout-request'] },
    skipAuth: true,
    handle: async ({ cas }: Services, { reply, caller: { client }, body }) => {
      const { logoutRequest } = await body()
      await cas.endLogin(logoutRequest, client)
      return await reply.status(204).send()
    },
  }),
]
