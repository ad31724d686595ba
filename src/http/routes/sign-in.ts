import type { FastifyReply, FastifyRequest } from 'fastify'
import { isWaiting, type SignedIn, type WaitingSignIn } from '../../accounts/factors/sign-in.ts'
import { MAX_PASSWORD_CHARACTERS } from '../../accounts/passwords.ts'
import { InvalidInput, ServiceError } from '../../base/errors.ts'
import type { Seconds } from '../../base/units.ts'
import type { ProviderDisplay } from '../../sso/identity-provider.ts'
import { type BaseAddress, readSuccessUrl } from '../base-address.ts'
import { callerByCookie } from '../caller.ts'
import { json, page, redirect, flagParameter, textParameter, type Exchange, route } from '../interface/route.ts'
import { formBody } from '../interface/bodies.ts'
import { anyOf, integer, list, named, object, optional, text } from '../interface/schema.ts'
import { count, CurrentUser } from '../interface/schemas.ts'
import { pageContext, sendPage } from '../page.ts'
import { prefersHtml } from '../protocol/negotiate.ts'
import {
  type LoginForm,
  loginPage,
  type OpenElsewhere,
  signedInPage,
  type SignInMethods,
} from '../pages/sign-in-pages.ts'
import { pageHeaders, scriptedPageHeaders } from '../pages/html.ts'
import { onwardPage } from '../pages/sso-pages.ts'
import { problemOf } from '../problem.ts'
import { type CompletionServices, endSignIn, redirectToNextStep, requireComplete } from '../sign-in-completion.ts'
import type { Uses } from '../services.ts'
import { CAS_PATH } from './cas.ts'
import Negotiator from 'negotiator'

const credentials = formBody(
  {
    auth_username: { description: 'User name.' },
    auth_password: { description: 'Password.' },
    auth_maxage: { description: 'How long the session lasts, in seconds; no longer than the settings allow.' },
    successurl: { description: 'For a browser: where to go afterwards, at this service.' },
  },
  { example: { auth_username: 'anna', auth_password: 'Summer-Rain-2026' } },
)

/** Sign-in with a cookie, and its page (I4, I5.1; D2). */
export const signInRoutes = [
  route({
    id: 'signIn',
    method: 'POST',
    url: '/auth/cookie',
    chapter: 'Sessions',
    summary: 'Sign in with name and password. The response sets the cookie `auth_token`.',
    body: credentials,
    answers: {
      200: json('The user information.', CurrentUser, { headers: { 'Set-Cookie': '`auth_token`' } }),
      303: redirect('For a browser: to `successurl`, or to the sign-in page.'),
    },
    refusals: {
      400: ['password-missing', 'password-too-long'],
      401: ['wrong-credentials', 'second-factor-required', 'password-change-required'],
      403: ['account-disabled', 'password-login-off', 'cross-site-request'],
      429: ['locked-out'],
      503: ['overloaded'],
    },
    skipAuth: true,
    htmlErrors: true,
    pageAt: 'auth/login',
    handle: async (deps: SignInServices & LoginPageServices, { request, reply, body }) => {
      const form = await body()
      const successUrl = readSuccessUrl(deps.base, form.successurl)
      const pair = { request, reply }
      if (!prefersHtml(request)) {
        const result = await signInByPassword(deps, request, form, successUrl)
        return await endSignIn(deps, pair, requireComplete(deps, reply, result))
      }
      try {
        const result = await signInByPassword(deps, request, form, successUrl)
        if (isWaiting(result)) return await redirectToNextStep(deps, reply, result)
        await endSignIn(deps, pair, result)
      } catch (error) {
        // A browser gets the form again, with the error.
        if (!(error instanceof ServiceError)) throw error
        const { status, headers, body } = problemOf(error, request.id)
        const retryAfter = headers['retry-after'] === undefined ? undefined : Number(headers['retry-after'])
        const refusal = { code: error.code, detail: String(body['detail']), retryAfter }
        reply.status(status).headers(headers)
        return sendLogin(deps, { request, reply }, { successUrl, refusal, userName: form.auth_username })
      }
      return await reply.redirect(successUrl ?? deps.base.at('auth/login'), 303)
    },
  }),
  route({
    id: 'showLoginPage',
    method: 'GET',
    url: '/auth/login',
    chapter: 'Sessions',
    summary: 'Show the page to sign in, with all configured methods, or to sign out.',
    query: {
      successurl: textParameter('Where to go afterwards, at this service.'),
      email: textParameter('An address whose organisation signs the user in: leads on to its identity provider.'),
      ended: flagParameter('Says on the page that a session has ended.'),
      left: textParameter(
        'Name of the identity provider where the session of a user who has signed out here may be open.',
      ),
      out: textParameter('Name of the identity provider where the session of the user has ended as well.'),
    },
    answers: { 200: page('The page.'), 303: redirect('To the same page under the base address.') },
    refusals: { 400: ['invalid-form', 'unknown-idp'] },
    refusedAs: 'text/html',
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: LoginPageServices & Uses<'sessions' | 'users'>, { request, reply, query }) => {
      const { base } = deps
      // Under another name of this machine, the browser would store a cookie that it does not send to the
      // pages that follow.
      if (base.isOtherNameOfLoopback(request.raw.headers.host)) return await reply.redirect(base.at('auth/login'), 303)
      const successUrl = readSuccessUrl(deps.base, query.successurl)
      if (query.email !== undefined) return toOrganisation(deps, { request, reply }, query.email, successUrl)
      const caller = await callerByCookie(deps, request)
      if (!caller) {
        const left = query.left === undefined ? undefined : await openElsewhere(deps, request, query.left)
        const out = query.out === undefined ? undefined : (await openElsewhere(deps, request, query.out))?.name
        return sendLogin(deps, { request, reply }, { successUrl, sessionHasEnded: query.ended, left, out })
      }
      const links = { account: successUrl ?? base.at('ui/'), logout: base.at('auth/logout') }
      return sendPage(reply, signedInPage(pageContext(deps, request), caller.user.name ?? caller.user.id, links))
    },
  }),
  route({
    id: 'readPasswordRules',
    method: 'GET',
    url: '/auth/password-rules',
    chapter: 'Sessions',
    summary: 'Read the rules for new passwords, so that a form can show them before a password is sent.',
    details:
      '`name` is the word that a refusal lists; `kind` is one of `min-length`, `lowercase`, `uppercase`, `number`, ' +
      '`symbol`, `custom` (`value` is a pattern in RE2), `common`, `context`, `breached`.',
    answers: {
      200: json(
        'The rules. A password must keep all of them.',
        named(
          'PasswordRules',
          object({
            maxLength: count,
            rules: list(object({ name: text(), kind: text(), value: optional(anyOf(integer(0), text())) })),
          }),
        ),
      ),
    },
    handle: async ({ passwordRules }: Uses<'passwordRules'>) => ({
      maxLength: MAX_PASSWORD_CHARACTERS,
      rules: passwordRules.all,
    }),
  }),
]

type Pair = Pick<Exchange, 'request' | 'reply'>
type SignInServices = CompletionServices & Uses<'login'>
type LoginPageServices = Uses<'base' | 'login' | 'passkeySignIn' | 'passwordReset' | 'sso' | 'ui'>

/** Opens the session, or begins a sign-in that waits for its next step. */
async function signInByPassword(
  deps: SignInServices,
  request: FastifyRequest,
  form: Readonly<Record<'auth_username' | 'auth_password' | 'auth_maxage', string | undefined>>,
  successUrl: string | undefined,
): Promise<SignedIn | WaitingSignIn> {
  const name = requireField(form, 'auth_username')
  const password = requireField(form, 'auth_password')
  const maxAge = readMaxAge(form.auth_maxage)
  const { client } = request.caller
  const user = await deps.login.withPassword({ name, password, mechanism: 'form', client })
  const lifetime = { requested: maxAge }
  return await deps.signIn.begin({ user, mechanism: 'form', lifetime, client, successUrl })
}

/** With a page instead of a redirect, because the policy of the login form allows it to lead to this service only. */
function toOrganisation(
  deps: LoginPageServices,
  { request, reply }: Pair,
  email: string,
  successUrl: string | undefined,
): FastifyReply {
  const context = pageContext(deps, request)
  const { saml, oidc } = deps.sso
  try {
    const url =
      oidc && (!saml || oidc.ownerOf(email))
        ? providerUrl(deps, 'auth/oidc', oidc, oidc.choose(undefined, email), { requested: successUrl, email })
        : providerUrl(deps, 'auth/saml', saml, saml?.choose(undefined, email), { requested: successUrl })
    return sendPage(reply, onwardPage(context, { title: context.words.signIn, notice: context.words.leaving, url }))
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    const refusal = { code: error.code, detail: error.message, retryAfter: undefined }
    reply.status(400)
    return sendLogin(deps, { request, reply }, { successUrl, refusal })
  }
}

interface LoginState extends Omit<LoginForm, 'methods' | 'successUrl'> {
  readonly successUrl: string | undefined
}

function sendLogin(
  deps: LoginPageServices,
  { request, reply }: Pair,
  { successUrl, ...state }: LoginState,
): FastifyReply {
  const form: LoginForm = {
    ...state,
    successUrl: successUrl ?? deps.base.at('ui/'),
    methods: signInMethods(deps, request, successUrl),
  }
  const headers = form.methods.passkey ? scriptedPageHeaders : pageHeaders
  return sendPage(reply, loginPage(pageContext(deps, request), form), headers)
}

/** The provider with this name, for the note after a sign-out; the name comes from the address, so it may be any text. */
async function openElsewhere(
  { sso, base }: Uses<'sso' | 'base'>,
  request: FastifyRequest,
  provider: string,
): Promise<OpenElsewhere | undefined> {
  const oidc = sso.oidc?.find(provider)
  if (oidc) {
    const logoutUrl = await oidc.provider.endSessionUrl(base.at('auth/login'))
    return { name: labelOf(oidc.face, request.headers['accept-language']), logoutUrl }
  }
  const face = provider === sso.cas?.name ? sso.cas.face : sso.saml?.find(provider)?.face
  return face && { name: labelOf(face, request.headers['accept-language']), logoutUrl: face.logoutUrl }
}

/** The configured methods to sign in. */
function signInMethods(
  deps: LoginPageServices,
  request: FastifyRequest,
  successUrl: string | undefined,
): SignInMethods {
  const { base, sso, login, passkeySignIn, passwordReset } = deps
  const { saml, oidc } = sso
  const name = (face: ProviderDisplay): string => labelOf(face, request.headers['accept-language'])
  const knowsDomains = [...(saml?.providers ?? []), ...(oidc?.providers ?? [])].some(
    ({ policy }) => (policy.domains ?? []).length > 0,
  )
  return {
    cookie: login.takesPasswords ? base.at('auth/cookie') : undefined,
    discovery: knowsDomains ? base.at('auth/login') : undefined,
    providers: [
      ...(saml?.providers ?? []).map(one => ({
        name: name(one.face),
        url: providerUrl(deps, 'auth/saml', saml, one, { requested: successUrl }),
      })),
      ...(oidc?.providers ?? []).map(one => ({
        name: name(one.face),
        url: providerUrl(deps, 'auth/oidc', oidc, one, { requested: successUrl }),
      })),
      ...(sso.cas ? [{ name: name(sso.cas.face), url: casUrl(base, successUrl) }] : []),
    ],
    reset: passwordReset && login.takesPasswords ? base.at('auth/pwreset') : undefined,
    passkey:
      passkeySignIn && login.takesPasswords
        ? {
            options: base.at('auth/passkey/options'),
            signIn: { target: base.at('auth/passkey'), successUrl: successUrl ?? base.at('ui/') },
          }
        : undefined,
  }
}

/**
 * Where a sign-on by this provider begins. Without a request for another address, the settings decide where it ends.
 * @throws {InvalidInput} `unknown-idp` without a provider
 */
function providerUrl(
  { base }: Uses<'base'>,
  path: string,
  protocol: { readonly successUrl: string | undefined } | undefined,
  login: { readonly policy: { readonly name: string } } | undefined,
  { requested, email }: { readonly requested: string | undefined; readonly email?: string },
): string {
  if (!protocol || !login) throw new InvalidInput('unknown-idp', 'This service has no identity providers.')
  const target = requested ?? (protocol.successUrl === undefined ? base.at('ui/') : undefined)
  const query = new URLSearchParams({
    idp: login.policy.name,
    ...(target === undefined ? {} : { successurl: target }),
    ...(email === undefined ? {} : { username: email }),
  })
  return `${base.at(path)}?${query.toString()}`
}

const casUrl = (base: BaseAddress, successUrl: string | undefined): string =>
  base.at(CAS_PATH) + (successUrl === undefined ? '' : `?${new URLSearchParams({ successurl: successUrl }).toString()}`)

function requireField<N extends string>(form: Readonly<Record<N, string | undefined>>, name: N): string {
  const value = form[name]
  if (value === undefined) throw new InvalidInput('invalid-form', `The field \`${name}\` is missing.`)
  return value
}

/** More than the configured maximum is accepted, because `Sessions` limits it (D2.3). */
function readMaxAge(text: string | undefined): Seconds | undefined {
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text) && Number(text) >= 1) return Number(text)
  throw new InvalidInput('invalid-form', '`auth_maxage` must be a whole number of seconds, at least 1.')
}

/**
 * The name of a provider in the language that the browser prefers among the configured ones, otherwise its
 * general name.
 * @param acceptLanguage `*` in it expresses no preference
 */
export function labelOf({ label, labels }: ProviderDisplay, acceptLanguage: string | undefined): string {
  const ranges = (acceptLanguage ?? '').split(',').filter(range => !range.trim().startsWith('*'))
  const headers = { 'accept-language': ranges.join(',') }
  // Without a range the negotiator would take all languages for welcome.
  const [language] = ranges.join('') === '' ? [] : new Negotiator({ headers }).languages([...labels.keys()])
  return (language === undefined ? undefined : labels.get(language)) ?? label
}
