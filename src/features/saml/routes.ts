import { InvalidInput } from '../../base/errors.ts'
import type { DirectoryHit } from './provider.ts'
import { CHOICE, DISCOVERED } from './discovery.ts'
import type { LogoutMessage, SamlSignOn } from './sign-on.ts'
import { withQuery } from '../../base/with-query.ts'
import { ChoiceCookie } from './choice-cookie.ts'
import {
  content,
  json,
  page,
  redirect,
  flagParameter,
  textParameter,
  type Exchange,
  route,
} from '../../http/interface/route.ts'
import { formBody } from '../../http/interface/bodies.ts'
import { text } from '../../http/interface/schema.ts'
import { CurrentUser } from '../../http/interface/shared-schemas.ts'
import { pageContext, sendPage } from '../../http/page.ts'
import { setCookie } from '../../http/protocol/cookies.ts'
import { type Choice, discoveryPage } from './discovery-page.ts'
import { providerFormHeaders, providerFormPage } from '../../http/pages/sso-pages.ts'
import type { Client } from '../../accounts/sessions.ts'
import { languagesOf } from '../../http/protocol/negotiate.ts'
import { sendToProvider } from '../../http/send-to-provider.ts'
import { completeLogin, type CompletionServices, failLogin } from '../sso/completion.ts'

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

/** The size of the largest accepted message, in base64 and percent-encoded, with its RelayState. */
const MAX_LOGOUT_BYTES = 200_000

interface Services extends CompletionServices {
  readonly saml: SamlSignOn
}

const logoutUrl = `${url}/logout/:idp` as const

const logoutRoute = {
  chapter: 'Sessions',
  path: {
    idp: { description: 'The name of the provider in the settings.', schema: { type: 'string' }, example: 'campus' },
  },
  details:
    'A `LogoutRequest` of the provider ends its sessions here and gets a signed `LogoutResponse`. A `LogoutResponse` ends a ' +
    'sign-out that began here. This operation needs `single-logout` of this provider. [Single logout](how-to/sso-saml.md#single-logout)',
  answers: {
    200: content('A page whose form takes the response to the identity provider.', ['text/html'], text()),
    303: redirect('To the identity provider with the response, or to the sign-in page.'),
  },
  refusals: { 400: ['invalid-logout-message'], 404: ['not-found'], 503: ['overloaded'] },
  csrfExempt: true,
  skipAuth: true,
  htmlErrors: true,
} as const

/** Single logout by SAML 2.0 (D30): the address to which identity providers send requests and responses, by both bindings. */
const samlLogoutRoutes = [
  route({
    id: 'receiveSamlLogoutByRedirect',
    method: 'GET',
    url: logoutUrl,
    summary: 'Single logout: take a message of the identity provider by redirect.',
    query: {
      SAMLRequest: textParameter('A `LogoutRequest`, compressed and in base64.'),
      SAMLResponse: textParameter('A `LogoutResponse`, compressed and in base64.'),
      RelayState: textParameter('Goes back with the response.'),
      SigAlg: textParameter('Algorithm of the signature.'),
      Signature: textParameter('Signature of the other parameters, in base64.'),
    },
    ...logoutRoute,
    handle: async (deps: Services, { request, reply, params, query, caller }) => {
      const raw = /\?([^#]*)/.exec(request.raw.url ?? '')?.[1] ?? ''
      const message: LogoutMessage = { received: { binding: 'redirect', query: raw }, relayState: query.RelayState }
      return await receive(deps, { request, reply }, params.idp, message, caller.client)
    },
  }),
  route({
    id: 'receiveSamlLogoutByPost',
    method: 'POST',
    url: logoutUrl,
    summary: 'Single logout: take a message of the identity provider from a form.',
    body: formBody(
      {
        SAMLRequest: { description: 'A `LogoutRequest`, in base64.' },
        SAMLResponse: { description: 'A `LogoutResponse`, in base64.' },
        RelayState: { description: 'Goes back with the response.' },
      },
      { limit: MAX_LOGOUT_BYTES },
    ),
    ...logoutRoute,
    handle: async (deps: Services, { request, reply, params, body, caller }) => {
      const form = await body()
      const kinds = (['SAMLRequest', 'SAMLResponse'] as const).filter(name => form[name] !== undefined)
      const [kind] = kinds
      if (!kind || kinds.length > 1) {
        throw new InvalidInput('invalid-logout-message', 'The form needs either `SAMLRequest` or `SAMLResponse`.')
      }
      const received = { binding: 'post', kind, encoded: form[kind] ?? '' } as const
      return await receive(
        deps,
        { request, reply },
        params.idp,
        { received, relayState: form.RelayState },
        caller.client,
      )
    },
  }),
]

/** Sign-in through SAML 2.0 (I4, I5.3; D8): the request to the provider, its response, our own metadata. */
export const samlRoutes = [
  ...samlLogoutRoutes,
  route({
    id: 'signInBySaml',
    method: 'GET',
    url,
    chapter: 'Sessions',
    summary: 'Sign in by SAML 2.0: go to the identity provider.',
    details: 'This operation needs `service.auth.saml`. [Single sign-on by SAML](how-to/sso-saml.md)',
    query: {
      idp: textParameter('Name of the identity provider.'),
      username: textParameter('An e-mail address whose domain decides, where no provider is named.'),
      successurl: textParameter('Where to go after the login.'),
      failureurl: textParameter('Where to go after a refusal.'),
      [CHOICE]: textParameter('In a federation, the identity provider that the user has chosen.'),
      [DISCOVERED]: flagParameter('Set when the browser comes back from a discovery service.'),
    },
    answers: {
      200: content('A page whose form goes to the identity provider.', ['text/html'], text()),
      303: redirect('To the identity provider.'),
    },
    refusals: { 400: ['unknown-idp', 'invalid-redirect'], 401: ['sso-refused'], 503: ['overloaded'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, caller, query }) => {
      try {
        const { idp, username, successurl: successUrl, failureurl: failureUrl, entityID: entityId } = query
        const asked = { idp, username, successUrl, failureUrl, entityId, isDiscovered: query.discovered }
        const redirect = await deps.saml.begin(asked, caller.client)
        if (entityId !== undefined) {
          setCookie(reply, new ChoiceCookie(deps.base, deps.options.cookie.secure).set(entityId))
        }
        if (redirect.kind === 'redirect') return await reply.redirect(redirect.url, 303)
        const { action, fields } = redirect
        return sendPage(
          reply,
          providerFormPage(pageContext(deps, request), action, fields),
          providerFormHeaders(action),
        )
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
    summary: 'Complete a sign-on: the address to which identity providers send their responses.',
    query: { idp: textParameter('Name of the identity provider.') },
    body: responseForm,
    answers: {
      200: json('The user information, where there is no success URL; for a browser a page.', CurrentUser),
      303: redirect('To the success URL, or to the failure URL with `error` and `correlation`.'),
    },
    refusals: { 400: ['unknown-idp'], 401: ['sso-refused'], 503: ['overloaded'] },
    csrfExempt: true,
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, caller, query, body }) => {
      const { SAMLResponse: encoded, RelayState: relayState } = await body()
      try {
        const received = { encoded, relayState, idp: query.idp }
        return await completeLogin(deps, { request, reply }, await deps.saml.complete(received, caller.client))
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
    handle: async (deps: Services, { reply, query }) => {
      const { provider } = deps.saml.choose(query.idp, undefined)
      return await reply.type('application/samlmetadata+xml').send(provider.describeSelf())
    },
  }),
  route({
    id: 'chooseIdentityProvider',
    method: 'GET',
    url: `${url}/discovery`,
    chapter: 'Sessions',
    summary: 'Search for the identity provider of the user in a federation.',
    details:
      'The page follows the Identity Provider Discovery Service Protocol. This operation needs ' +
      '`service.auth.saml.idp.<idp>.federation`. [Federations](how-to/sso-saml.md#federations)',
    query: {
      idp: textParameter('Name of the federation in the settings.'),
      entityID: textParameter('The relying-party id of this service.'),
      return: textParameter('Where the browser goes with its choice: at `auth/saml` of this service.'),
      returnIDParam: textParameter('Name of the parameter with the choice; `entityID` by default.'),
      isPassive: flagParameter('Returns at once with the last choice of this browser, if it has one.'),
      q: textParameter('Words of a name, a keyword or a domain.'),
    },
    answers: { 200: page('The page.'), 303: redirect('Back with the choice, for `isPassive`.') },
    refusals: { 400: ['unknown-idp', 'invalid-redirect'] },
    refusedAs: 'text/html',
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, query }) => {
      const { base, saml, options } = deps
      const { provider } = saml.chooseFederation(query.idp)
      const back = requireReturn(base.at('auth/saml'), query.return, provider.name)
      const parameter = query.returnIDParam ?? CHOICE
      const languages = languagesOf(request)
      const last = new ChoiceCookie(base, options.cookie.secure).read(request.cookies)
      const choice = ({ entityId, ...shown }: DirectoryHit): Choice => ({
        ...shown,
        url: chosen(back, parameter, entityId),
      })
      const remembered = last === undefined ? undefined : await findLast(saml, provider.name, last, languages)
      if (query.isPassive) {
        return await reply.redirect(remembered ? chosen(back, parameter, remembered.entityId) : back.href, 303)
      }
      const text = query.q?.trim() === '' ? undefined : query.q
      const { hits, hasMore } = await saml.search(provider.name, { text, languages })
      return sendPage(
        reply,
        discoveryPage(pageContext(deps, request), {
          action: base.at('auth/saml/discovery'),
          fields: { idp: provider.name, return: back.href, returnIDParam: parameter },
          text,
          found: hits.map(choice),
          hasMore,
          last: remembered && choice(remembered),
        }),
      )
    },
  }),
]

/** The last choice, if users can still choose it. */
async function findLast(
  saml: SamlSignOn,
  federation: string,
  entityId: string,
  languages: readonly string[],
): Promise<DirectoryHit | undefined> {
  return (await saml.search(federation, { entityIds: [entityId], languages })).hits[0]
}

/** This page leads to the sign-on of this service, and nowhere else. @throws {InvalidInput} `invalid-redirect` */
function requireReturn(signOn: string, text: string | undefined, idp: string): URL {
  if (text === undefined) return new URL(`${signOn}?${new URLSearchParams({ idp }).toString()}`)
  const back = URL.canParse(text) ? new URL(text) : undefined
  if (back && back.hash === '' && back.href.split('?')[0] === new URL(signOn).href) return back
  throw new InvalidInput('invalid-redirect', `\`return\` must be an address at ${signOn}.`)
}

function chosen(back: URL, parameter: string, entityId: string): string {
  const address = new URL(back)
  address.searchParams.set(parameter, entityId)
  return address.href
}

async function receive(
  deps: Services,
  pair: Pick<Exchange, 'request' | 'reply'>,
  idp: string,
  message: LogoutMessage,
  client: Client,
): Promise<unknown> {
  const step = await deps.saml.receiveLogout(idp, message, client)
  if (step.kind === 'answer') return await sendToProvider(deps, pair, step.redirect)
  const notice = step.isComplete ? { out: idp } : { left: idp }
  return await pair.reply.redirect(withQuery(deps.base.at('auth/login'), notice), 303)
}
