import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CasSignOn } from '../../sso/cas/sign-on.ts'
import { SsoRefused } from '../../sso/refusal.ts'
import { FlowCookie } from '../flow-cookie.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'
import { readSuccessUrl } from '../success-url.ts'
import { completeLogin, failLogin } from '../sso-completion.ts'

export const CAS_PATH = 'auth/cas'
/** Marks the second beginning of a login that came back without its flow. */
const AGAIN = 'again'

/** Signing in by CAS and SAML 1.1 (interface 4, 5.4; D9). */
export const casRoutes = (deps: Services): Route[] => {
  const { cas } = deps.sso
  if (!cas) return []
  return [{ method: 'GET', url: `/${CAS_PATH}`, handle: getCas(deps, cas), ignoresCaller: true, visited: true }]
}

/**
 * Without a ticket: away to the CAS server. With one: the login, if this browser has begun it. A ticket without its flow is
 * dropped, not validated (it may be a stranger's), and the login begins again; `?again` tells whether the browser has kept
 * the cookie, so that one that keeps none does not go round for ever (D9.1, D9.5). `?successurl`: where to go afterwards.
 */
const getCas = (deps: Services, cas: CasSignOn) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { parameters, caller } = request
  const ticket = parameters.get('ticket')
  const cookie = new FlowCookie(deps.base, deps.options.cookie.secure)
  const flow = await cas.consumeFlow(cookie.read(request.headers.cookie))
  try {
    if (ticket === undefined && parameters.has(AGAIN) && !flow) throw await cas.withoutFlow(caller.client)
    if (ticket !== undefined && flow) {
      const completed = await cas.complete({ flow, ticket }, caller.client)
      reply.header('set-cookie', cookie.clear())
      return await completeLogin(deps, { request, reply }, completed)
    }
    const successUrl = readSuccessUrl(deps.base, parameters.get('successurl')) ?? flow?.successUrl
    const begun = await cas.begin(successUrl, caller.client)
    reply.header('set-cookie', cookie.set(begun.flow.id))
    return await reply.redirect(ticket === undefined ? begun.url : `${deps.base.at(CAS_PATH)}?${AGAIN}`, 303)
  } catch (error) {
    if (error instanceof SsoRefused) reply.header('set-cookie', cookie.clear())
    return await failLogin(reply, error)
  }
}
