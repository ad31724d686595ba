import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, SsoRefused } from '../../base/errors.ts'
import type { LoginFlow } from '../../sso/identity-provider.ts'
import { pageContext } from '../page-context.ts'
import { departureHeaders, departurePage } from '../pages/sso-pages.ts'
import type { Route } from '../route.ts'
import type { SamlLogin, SamlLogins, Services } from '../services.ts'
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

/** Everything is judged before anybody is sent away: provider and redirect targets (D8.1, D8.7). */
const begin = (deps: Services, saml: SamlLogins) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { parameters } = request
  const { provider } = saml.choose(parameters.get('idp'), parameters.get('username'))
  const target = (name: 'successurl' | 'failureurl'): string | undefined => {
    const wanted = parameters.get(name)
    return wanted === undefined ? undefined : saml.targets.require(wanted, name)
  }
  const urls = { successUrl: target('successurl'), failureUrl: target('failureurl') }
  const flow = await deps.sso.flows.create({ provider: provider.name, ...urls })
  try {
    const departure = await provider.begin(flow)
    if (departure.kind === 'redirect') return await reply.redirect(departure.url, 303)
    const { action, fields } = departure
    return await sendPage(reply, departurePage(pageContext(deps, request), action, fields), departureHeaders(action))
  } catch (error) {
    const failureUrl = urls.failureUrl ?? saml.failureUrl
    return await failLogin(deps, reply, error, { provider: provider.name, failureUrl })
  }
}

/** The assertion consumer service. No cookie is read: the flow is found by RelayState, and used up (D8.2). */
const consume = (deps: Services, saml: SamlLogins) => async (request: FastifyRequest, reply: FastifyReply) => {
  const form = await deps.bodies.form(request.raw, reply.raw, MAX_FORM_BYTES)
  const encoded = form.get('SAMLResponse')
  if (encoded === undefined) throw new InvalidInput('invalid-form', 'The field `SAMLResponse` is missing.')
  const relayState = form.get('RelayState')
  const flow = relayState === undefined ? undefined : await deps.sso.flows.consume(relayState)
  const login = saml.choose(flow?.provider ?? request.parameters.get('idp'), undefined)
  const successUrl = flow?.successUrl ?? saml.successUrl
  const failureUrl = flow?.failureUrl ?? saml.failureUrl
  try {
    requireSameProvider(login, flow, request.parameters.get('idp'))
    const claim = await login.provider.finish(encoded, flow)
    const { name } = login.provider
    if (claim.once) await deps.sso.flows.consumeAssertionId(name, claim.once.id, claim.once.until)
    return await completeLogin(deps, { request, reply }, claim, { policy: login.policy, successUrl })
  } catch (error) {
    return await failLogin(deps, reply, error, { provider: login.provider.name, failureUrl })
  }
}

/** A login begun with one provider is not finished at the address of another. */
function requireSameProvider({ provider }: SamlLogin, flow: LoginFlow | undefined, idp: string | undefined): void {
  if (flow === undefined || idp === undefined || idp === provider.name) return
  throw new SsoRefused({ check: 'idp', expected: provider.name, received: idp })
}

const describe = (saml: SamlLogins) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { provider } = saml.choose(request.parameters.get('idp'), undefined)
  return await reply.type('application/samlmetadata+xml').send(provider.describeSelf())
}
