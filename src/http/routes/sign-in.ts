import type { FastifyReply, FastifyRequest } from 'fastify'
import { MAX_PASSWORD_CHARACTERS } from '../../accounts/passwords.ts'
import { DEVICE_TTL } from '../../accounts/trusted-devices.ts'
import { InvalidInput, ServiceError } from '../../base/errors.ts'
import type { Seconds } from '../../base/units.ts'
import type { BaseAddress } from '../base-address.ts'
import type { SamlLogin, SamlSignOn } from '../../sso/saml/sign-on.ts'
import { callerByCookie, setAuthCookie } from '../caller.ts'
import { describeCaller } from '../describe.ts'
import { pageContext } from '../page-context.ts'
import { prefersHtml } from '../negotiate.ts'
import { type LoginForm, loginPage, signedInPage, type WaysIn } from '../pages/login-page.ts'
import { onwardPage } from '../pages/sso-pages.ts'
import { problemOf } from '../problem.ts'
import type { Parameters } from '../query.ts'
import type { Route } from '../route.ts'
import { sendPage } from '../send-page.ts'
import { readSuccessUrl } from '../success-url.ts'
import type { Services } from '../services.ts'
import { assetPath } from '../ui-assets.ts'
import { CAS_PATH } from './cas.ts'

/** Signing in by cookie, and the page for it (interface 4, 5.1; D2). */
export const signInRoutes = (deps: Services): Route[] => [
  {
    method: 'POST',
    url: '/auth/cookie',
    handle: postCookie(deps),
    ignoresCaller: true,
    visited: true,
    pageAt: 'auth/login',
  },
  { method: 'GET', url: '/auth/login', handle: getLogin(deps), ignoresCaller: true, visited: true },
  { method: 'GET', url: '/auth/password-rules', handle: getPasswordRules(deps) },
]

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

const postCookie = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const form = await deps.bodies.form(request.raw, reply.raw)
  const successUrl = readSuccessUrl(deps.base, form.get('successurl'))
  if (!prefersHtml(request)) return await signIn(deps, { request, reply }, form)
  try {
    await signIn(deps, { request, reply }, form)
  } catch (error) {
    // A person gets the form back, with what went wrong.
    if (!(error instanceof ServiceError)) throw error
    const { status, headers, body } = problemOf(error, request.id)
    const retryAfter = headers['retry-after'] === undefined ? undefined : Number(headers['retry-after'])
    const refusal = { code: error.code, detail: String(body['detail']), retryAfter }
    const userName = form.get('auth_username')
    reply.status(status).headers(headers)
    return sendLogin(deps, { request, reply }, { successUrl, refusal, userName })
  }
  return await reply.redirect(successUrl ?? deps.base.at('auth/login'), 303)
}

/** Opens the session and sets the cookie. */
async function signIn(
  deps: Services,
  { request, reply }: Exchange,
  form: Parameters,
): Promise<Record<string, unknown>> {
  const name = requireField(form, 'auth_username')
  const password = requireField(form, 'auth_password')
  const maxAge = readMaxAge(form.get('auth_maxage'))
  const { client } = request.caller
  const user = await deps.login.withPassword({ name, password, mechanism: 'form', client })
  const session = await deps.sessions.open(user, client, { requested: maxAge })
  setAuthCookie(reply, deps.cookie.set(session.token, deps.sessions.cookieLife(session)))
  if (deps.devices)
    reply.header('set-cookie', deps.cookie.setDevice(await deps.devices.trust(user, client.device), DEVICE_TTL / 1000))
  return describeCaller({ user, expires: session.expires }, request.headers['accept-language'], deps.base)
}

/** `?successurl`: where to go afterwards; `?ended`: a session has; `?email`: to the organisation of that address. */
const getLogin = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  // Under another of its names this machine would get a cookie that the pages it leads to never see.
  if (deps.base.isOtherNameOfLoopback(request.raw.headers.host))
    return await reply.redirect(deps.base.at('auth/login'), 303)
  const { parameters } = request
  const successUrl = readSuccessUrl(deps.base, parameters.get('successurl'))
  const email = parameters.get('email')
  if (email !== undefined) return toOrganisation(deps, { request, reply }, email, successUrl)
  const caller = await callerByCookie(deps, request)
  if (!caller) return sendLogin(deps, { request, reply }, { successUrl, sessionHasEnded: parameters.has('ended') })
  const ways = { account: successUrl ?? deps.base.at('ui/'), logout: deps.base.at('auth/logout') }
  return sendPage(reply, signedInPage(pageContext(deps, request), caller.user.name ?? caller.user.id, ways))
}

/** By a page, not a redirect: how far a form may lead is limited to this service, for the sake of the password in it. */
function toOrganisation(
  deps: Services,
  { request, reply }: Exchange,
  email: string,
  successUrl: string | undefined,
): FastifyReply {
  const look = pageContext(deps, request)
  const { saml } = deps.sso
  try {
    if (!saml) throw new InvalidInput('unknown-idp', 'Nobody signs in by SAML here.')
    const url = samlUrl(deps, saml, saml.choose(undefined, email), successUrl)
    return sendPage(reply, onwardPage(look, { title: look.words.signIn, notice: look.words.leaving, url }))
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    const refusal = { code: error.code, detail: error.message, retryAfter: undefined }
    reply.status(400)
    return sendLogin(deps, { request, reply }, { successUrl, refusal })
  }
}

interface LoginState extends Omit<LoginForm, 'ways' | 'script' | 'successUrl'> {
  readonly successUrl: string | undefined
}

function sendLogin(deps: Services, { request, reply }: Exchange, { successUrl, ...state }: LoginState): FastifyReply {
  const form: LoginForm = {
    ...state,
    script: deps.base.at(assetPath(deps.ui.names.login)),
    successUrl: successUrl ?? deps.base.at('ui/'),
    ways: waysIn(deps, successUrl),
  }
  return sendPage(reply, loginPage(pageContext(deps, request), form))
}

/** What is configured. */
function waysIn(deps: Services, successUrl: string | undefined): WaysIn {
  const { base, sso, login, passwordReset } = deps
  const { saml } = sso
  const knowsDomains = saml?.providers.some(({ policy }) => (policy.domains ?? []).length > 0) ?? false
  return {
    cookie: login.takesPasswords ? base.at('auth/cookie') : undefined,
    discovery: knowsDomains ? base.at('auth/login') : undefined,
    providers: [
      ...(saml?.providers.map(one => ({ name: one.policy.name, url: samlUrl(deps, saml, one, successUrl) })) ?? []),
      ...(sso.cas ? [{ name: 'CAS', url: casUrl(base, successUrl) }] : []),
    ],
    reset: passwordReset && login.takesPasswords ? base.at('auth/pwreset') : undefined,
  }
}

/** Without a wish of the person's, what the operator has configured decides where it ends. */
function samlUrl(
  { base }: Services,
  { successUrl: configured }: SamlSignOn,
  { policy }: SamlLogin,
  wanted: string | undefined,
): string {
  const idp = `${base.at('auth/saml')}?idp=${encodeURIComponent(policy.name)}`
  const target = wanted ?? (configured === undefined ? base.at('ui/') : undefined)
  return target === undefined ? idp : `${idp}&successurl=${encodeURIComponent(target)}`
}

const casUrl = (base: BaseAddress, successUrl: string | undefined): string =>
  base.at(CAS_PATH) + (successUrl === undefined ? '' : `?${new URLSearchParams({ successurl: successUrl }).toString()}`)

/** What a new password must be like, so that forms can say so before it is sent (interface 5.6). */
const getPasswordRules = (deps: Services) => async () => ({
  maxLength: MAX_PASSWORD_CHARACTERS,
  rules: deps.passwordRules.all,
})

function requireField(form: Parameters, name: string): string {
  const value = form.get(name)
  if (value === undefined) throw new InvalidInput('invalid-form', `The field \`${name}\` is missing.`)
  return value
}

/** Above the configured maximum is no error: `Sessions` caps it (D2.3). */
function readMaxAge(text: string | undefined): Seconds | undefined {
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text) && Number(text) >= 1) return Number(text)
  throw new InvalidInput('invalid-form', '`auth_maxage` must be a whole number of seconds, at least 1.')
}
