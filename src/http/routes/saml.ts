import type { SamlSignOn } from '../../sso/saml/sign-on.ts'
import { content, json, redirect } from '../interface/answer.ts'
import { formBody } from '../interface/body.ts'
import { text as textParameter } from '../interface/parameters.ts'
import { route } from '../interface/route.ts'
import { text } from '../interface/schema.ts'
import { CurrentUser } from '../interface/schemas.ts'
import { pageContext, sendPage } from '../page.ts'
import { departureHeaders, departurePage } from '../pages/sso-pages.ts'
import type { Uses } from '../services.ts'
import { completeLogin, type CompletionServices, failLogin } from '../sso-completion.ts'

const url = '/auth/saml'
/** The size of the largest accepted response, in base64 and percent-encoded, with its RelayState. */
const MAX_FORM_BYTES = 1_600_000

const responseForm = formBody(
  {
    SAMLResponse: { description: 'The response of the identity provider, in base64.', isRequired: true },
    RelayState: { description: 'As it was sent with the request.' },
  },
  { limit: MAX_FORM_BYTES },
)

const isOn = ({ sso }: Uses<'sso'>): boolean => sso.saml !== undefined

/** Sign-in through SAML 2.0 (I4, I5.3; D8): the request to the provider, its response, our own metadata. */
export const samlRoutes = [
  route({
    id: 'signInBySaml',
    method: 'GET',
    url,
    chapter: 'Sessions',
    summary: 'Sign in by SAML 2.0: go to the identity provider.',
    details: 'Only with `service.auth.saml`. [Single sign-on](single-sign-on.md)',
    query: {
      idp: textParameter('Name of the identity provider.'),
      username: textParameter('An e-mail address whose domain decides, where no provider is named.'),
      successurl: textParameter('Where to go after the login.'),
      failureurl: textParameter('Where to go after a refusal.'),
    },
    answers: {
      200: content('A page whose form goes to the identity provider.', ['text/html'], text()),
      303: redirect('To the identity provider.'),
    },
    refusals: { 400: ['unknown-idp', 'invalid-redirect'], 401: ['sso-refused'], 503: ['overloaded'] },
    isOffered: isOn,
    ignoresCaller: true,
    visited: true,
    handle: async (deps: Uses<'base' | 'sso' | 'ui'>, { request, reply, caller, query }) => {
      try {
        const { idp, username, successurl: successUrl, failureurl: failureUrl } = query
        const redirect = await requireSaml(deps).begin({ idp, username, successUrl, failureUrl }, caller.client)
        if (redirect.kind === 'redirect') return await reply.redirect(redirect.url, 303)
        const { action, fields } = redirect
        return sendPage(reply, departurePage(pageContext(deps, request), action, fields), departureHeaders(action))
      } catch (error) {
        return await failLogin(reply, error)
      }
    },
  }),
  route({
    id: 'consumeSamlResponse',
    method: 'POST',
    url,
    chapter: 'Sessions',
    summary: 'Complete a login: the address to which identity providers send their responses.',
    query: { idp: textParameter('Name of the identity provider.') },
    body: responseForm,
    answers: {
      200: json('The user information, where there is no success URL; for a browser a page.', CurrentUser),
      303: redirect('To the success URL, or to the failure URL with `error` and `correlation`.'),
    },
    refusals: { 400: ['unknown-idp'], 401: ['sso-refused'], 503: ['overloaded'] },
    isOffered: isOn,
    fromElsewhere: true,
    ignoresCaller: true,
    visited: true,
    handle: async (deps: CompletionServices, { request, reply, caller, query, body }) => {
      const { SAMLResponse: encoded, RelayState: relayState } = await body()
      try {
        const received = { encoded, relayState, idp: query.idp }
        return await completeLogin(deps, { request, reply }, await requireSaml(deps).complete(received, caller.client))
      } catch (error) {
        return await failLogin(reply, error)
      }
    },
  }),
  route({
    id: 'readSamlMetadata',
    method: 'GET',
    url: `${url}/metadata`,
    chapter: 'Sessions',
    summary: 'Read the metadata of this service provider, for the configuration of an identity provider.',
    query: { idp: textParameter('Name of the identity provider.') },
    answers: { 200: content('The metadata.', ['application/samlmetadata+xml'], text()) },
    refusals: { 400: ['unknown-idp'] },
    isOffered: isOn,
    handle: async (deps: Uses<'sso'>, { reply, query }) => {
      const { provider } = requireSaml(deps).choose(query.idp, undefined)
      return await reply.type('application/samlmetadata+xml').send(provider.describeSelf())
    },
  }),
]

function requireSaml({ sso }: Uses<'sso'>): SamlSignOn {
  if (sso.saml) return sso.saml
  throw new TypeError('SAML is off')
}
