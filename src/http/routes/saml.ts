import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput } from '../../base/errors.ts'
import type { SamlSignOn } from '../../sso/saml/sign-on.ts'
import { pageContext } from '../page-context.ts'
import { departureHeaders, departurePage } from '../pages/sso-pages.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'
import { sendPage } from '../send-page.ts'
import { completeLogin, failLogin } from '../sso-completion.ts'

const url = '/auth/saml'
/** A response of the largest size accepted, in base64 and percent-encoded, and its RelayState. */
const MAX_FORM_BYTES = 1_600_000

/** Signing in by SAML 2.0 (interface 4, 5.3; D8): away to the provider, back with its answer, our own metadata. */
export const samlRoutes = (deps: Services): Route[] => {
  const { saml } = deps.sso
  if (!saml) return []
  const marks = { ignoresCaller: true, visited: true } as const
  return [
    { method: 'GET', url, handle: begin(deps, saml), ...marks },
    { method: 'POST', url, handle: consume(deps, saml), fromElsewhere: true, ...marks },
    { method: 'GET', url: `${url}/metadata`, handle: describe(saml) },
  ]
}

/** Away to the provider: by redirect, or by a page with a form. */
const begin = (deps: Services, saml: SamlSignOn) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { parameters, caller } = request
  try {
    const redirect = await saml.begin(
      {
        idp: parameters.get('idp'),
        username: parameters.get('username'),
        successUrl: parameters.get('successurl'),
        failureUrl: parameters.get('failureurl'),
      },
      caller.client,
    )
    if (redirect.kind === 'redirect') return await reply.redirect(redirect.url, 303)
    const { action, fields } = redirect
    return await sendPage(reply, departurePage(pageContext(deps, request), action, fields), departureHeaders(action))
  } catch (error) {
    return await failLogin(reply, error)
  }
}

/** The assertion consumer service. */
const consume = (deps: Services, saml: SamlSignOn) => async (request: FastifyRequest, reply: FastifyReply) => {
  const form = await deps.bodies.form(request.raw, reply.raw, MAX_FORM_BYTES)
  const encoded = form.get('SAMLResponse')
  if (encoded === undefined) throw new InvalidInput('invalid-form', 'The field `SAMLResponse` is missing.')
  const received = { encoded, relayState: form.get('RelayState'), idp: request.parameters.get('idp') }
  try {
    return await completeLogin(deps, { request, reply }, await saml.complete(received, request.caller.client))
  } catch (error) {
    return await failLogin(reply, error)
  }
}

const describe = (saml: SamlSignOn) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { provider } = saml.choose(request.parameters.get('idp'), undefined)
  return await reply.type('application/samlmetadata+xml').send(provider.describeSelf())
}
