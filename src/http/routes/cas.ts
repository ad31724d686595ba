import type { FastifyReply, FastifyRequest } from 'fastify'
import { SsoRefused } from '../../base/errors.ts'
import type { LoginFlow } from '../../sso/identity-provider.ts'
import { FlowCookie } from '../flow-cookie.ts'
import type { Route } from '../route.ts'
import type { CasLogin, Services } from '../services.ts'
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
const getCas = (deps: Services, cas: CasLogin) => async (request: FastifyRequest, reply: FastifyReply) => {
  const ticket = request.parameters.get('ticket')
  const cookie = flowCookie(deps)
  const flow = await takeFlow(deps, cas, cookie.read(request.headers.cookie))
  if (ticket === undefined && request.parameters.has(AGAIN) && !flow)
    return await failLogin(deps, reply, noCookie(), ends(cas))
  if (ticket !== undefined && flow) return await finish(deps, cas, { request, reply, flow, ticket })
  const successUrl = readSuccessUrl(deps.base, request.parameters.get('successurl')) ?? flow?.successUrl
  const begun = await deps.sso.flows.create({ provider: cas.provider.name, successUrl, failureUrl: undefined })
  reply.header('set-cookie', cookie.set(begun.id))
  if (ticket !== undefined) return await reply.redirect(`${deps.base.at(CAS_PATH)}?${AGAIN}`, 303)
  return await reply.redirect(cas.provider.begin().url, 303)
}

interface Return {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly flow: LoginFlow
  readonly ticket: string
}

async function finish(deps: Services, cas: CasLogin, { request, reply, flow, ticket }: Return): Promise<unknown> {
  reply.header('set-cookie', flowCookie(deps).clear())
  try {
    const claim = await cas.provider.finish(flow, ticket)
    return await completeLogin(deps, { request, reply }, claim, {
      ...cas,
      successUrl: flow.successUrl ?? cas.successUrl,
    })
  } catch (error) {
    return await failLogin(deps, reply, error, ends(cas))
  }
}

/** The flow that this browser began, which is over with this: of many requests with one cookie one gets it. */
async function takeFlow(
  deps: Services,
  { provider }: CasLogin,
  id: string | undefined,
): Promise<LoginFlow | undefined> {
  const flow = id === undefined ? undefined : await deps.sso.flows.consume(id)
  return flow?.provider === provider.name ? flow : undefined
}

const flowCookie = ({ base, options }: Services): FlowCookie => new FlowCookie(base, options.cookie.secure)

const ends = ({ provider, failureUrl }: CasLogin) => ({ provider: provider.name, failureUrl })

const noCookie = (): SsoRefused =>
  new SsoRefused({ check: 'login-flow', expected: 'the cookie set a moment ago', received: 'none that is good' })
