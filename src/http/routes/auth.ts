import type { FastifyReply, FastifyRequest } from 'fastify'
import { DEVICE_LIFE } from '../../accounts/trusted-devices.ts'
import { InvalidInput, Unauthenticated } from '../../base/errors.ts'
import type { Seconds } from '../../base/units.ts'
import { basicCredentials, callerByCookie, challenge, groupSet, setAuthCookie } from '../caller.ts'
import { authTokens } from '../cookies.ts'
import { describeCaller, expiryOf } from '../describe.ts'
import { prefersHtml } from '../negotiate.ts'
import { sendPage } from '../send-page.ts'
import { type LoginLink, loginPage, signedInPage } from '../pages/login-page.ts'
import type { Parameters } from '../query.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'

/** Signing in by cookie, signing out, who am I (interface 4, 5.1; D2, D3). */
export const authRoutes = (on: Services): Route[] => [
  { method: 'POST', url: '/auth/cookie', handle: postCookie(on), ignoresCaller: true, visited: true },
  { method: 'GET', url: '/auth/logout', handle: logout(on), ignoresCaller: true, visited: true },
  { method: 'POST', url: '/auth/logout', handle: logout(on), ignoresCaller: true, visited: true },
  { method: 'GET', url: '/auth/user', handle: getUser(on) },
  ...(on.basic ? [{ method: 'GET', url: '/auth/basic', handle: getBasic(on), visited: true } as const] : []),
  { method: 'GET', url: '/auth/login', handle: getLogin(on), ignoresCaller: true, visited: true },
]

const postCookie = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const form = await on.bodies.form(request.raw, reply.raw)
  const name = requireField(form, 'auth_username')
  const password = requireField(form, 'auth_password')
  const maxAge = readMaxAge(form.get('auth_maxage'))
  const landing = readLanding(on, form.get('successurl'))

  const { client } = request.caller
  const user = await on.login.withPassword({ name, password, mechanism: 'form', client })
  const session = await on.sessions.open(user, client, { requested: maxAge })
  setAuthCookie(reply, on.cookie.set(session.token, on.sessions.cookieLife(session)))
  if (on.devices)
    reply.header('set-cookie', on.cookie.setDevice(await on.devices.trust(user, client.device), DEVICE_LIFE / 1000))
  if (prefersHtml(request)) return await reply.redirect(landing, 303)
  const caller = { user, groups: await groupSet(on.database, user.id), client, session }
  return describeCaller({ caller, expires: session.expires }, request.headers['accept-language'], on.base)
}

const logout = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  for (const token of authTokens(request.headers.cookie)) await endSession(on, request, token)
  const credentials = basicCredentials(request.headers.authorization)
  if (credentials) on.basic?.forget(credentials)
  setAuthCookie(reply, on.cookie.clear())
  if (prefersHtml(request)) return await reply.redirect(on.base.at('auth/login'), 303)
  return await reply.status(204).send()
}

async function endSession({ sessions, audit }: Services, request: FastifyRequest, token: string): Promise<void> {
  const session = await sessions.find(token)
  if (!session || !(await sessions.end(token))) return
  const { userId } = session
  await audit.record({ event: 'logout', userId, actorId: userId, address: request.caller.client.address })
}

/** Who the credentials belong to, or the browser's own window to type them into (D4.1). */
const getBasic = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  if (request.headers.authorization === undefined) {
    challenge(request, reply)
    throw new Unauthenticated('not-signed-in', 'Send HTTP Basic credentials.')
  }
  return describeCaller({ caller: request.caller, expires: undefined }, request.headers['accept-language'], on.base)
}

const getUser = (on: Services) => async (request: FastifyRequest) =>
  describeCaller(
    { caller: request.caller, expires: expiryOf(request.caller, on.sessions) },
    request.headers['accept-language'],
    on.base,
  )

const getLogin = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  // Under another of its names this machine would get a cookie that the pages it leads to never see.
  if (on.base.isOtherNameOfLoopback(request.raw.headers.host))
    return await reply.redirect(on.base.at('auth/login'), 303)
  const caller = await callerByCookie(on, request)
  const page = !caller
    ? loginPage(on.login.takesPasswords ? on.base.at('auth/cookie') : undefined, otherWays(on))
    : signedInPage(caller.user.name ?? caller.user.id, on.base.at('auth/logout'))
  return await sendPage(reply, page)
}

/** What is configured beside passwords. */
function otherWays({ base, sso, login, passwordReset }: Services): LoginLink[] {
  const saml = sso.saml?.providers ?? []
  return [
    ...saml.map(({ policy }) => ({
      text: `Sign in with ${policy.name}`,
      url: `${base.at('auth/saml')}?idp=${encodeURIComponent(policy.name)}`,
    })),
    ...(sso.cas ? [{ text: 'Sign in with CAS', url: base.at('auth/cas') }] : []),
    ...(passwordReset && login.takesPasswords ? [{ text: 'Forgot your password?', url: base.at('auth/pwreset') }] : []),
  ]
}

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

/** Where a browser goes after signing in: an address of this very origin, or the login page (D2.1). */
function readLanding({ base }: Services, successUrl: string | undefined): string {
  if (successUrl === undefined) return base.at('auth/login')
  const isOwn = !/[\\\p{C}]/u.test(successUrl) && URL.canParse(successUrl, base.href)
  const url = isOwn ? new URL(successUrl, base.href) : undefined
  // A `blob:` URL has the origin of the page that made it.
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (isWeb && url.origin === base.origin && url.username === '' && url.password === '') return url.href
  throw new InvalidInput('invalid-form', '`successurl` is not an address of this service.')
}
