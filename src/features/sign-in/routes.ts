import { isWaiting, type SignedIn, type WaitingSignIn } from '../../accounts/sign-in.ts'
import { MAX_PASSWORD_CHARACTERS } from '../../accounts/passwords.ts'
import { InvalidInput, ServiceError } from '../../base/errors.ts'
import type { Seconds } from '../../base/units.ts'
import { readSuccessUrl } from '../../http/base-address.ts'
import { callerByCookie } from '../../http/caller.ts'
import {
  json,
  page,
  redirect,
  flagParameter,
  textParameter,
  type Exchange,
  route,
  shown,
} from '../../http/interface/route.ts'
import { formBody } from '../../http/interface/bodies.ts'
import { anyOf, integer, list, named, object, optional, text } from '../../http/interface/schema.ts'
import { count, CurrentUser } from '../../http/interface/shared-schemas.ts'
import { pageContext, sendPage } from '../../http/page.ts'
import { isNavigation, prefersHtml } from '../../http/protocol/negotiate.ts'
import { type LoginForm, loginPage, type SignInMethods } from './pages.ts'
import { pageHeaders, scriptedPageHeaders } from '../../http/pages/html.ts'
import { onwardPage } from '../../http/pages/sso-pages.ts'
import { problemOf } from '../../http/problem.ts'
import {
  type CompletionServices,
  endSignIn,
  redirectToNextStep,
  requireComplete,
  sendSignedIn,
} from '../../http/sign-in-completion.ts'
import type { Login } from '../../accounts/login.ts'
import type { PasswordRules } from '../../accounts/password-rules.ts'
import type { UserCache } from '../../accounts/user-cache.ts'
import type { ProviderSlot } from '../../http/identity-providers.ts'
import type { SignInPage } from '../../http/sign-in-page.ts'

const credentials = formBody(
  {
    auth_username: { description: 'User name.' },
    auth_password: { description: 'Password.' },
    auth_maxage: { description: 'How long the session lasts, in seconds; no longer than the settings allow.' },
    successurl: { description: 'For a browser: where to go afterwards, at this service.' },
  },
  { example: { auth_username: 'anna', auth_password: 'Summer-Rain-2026' } },
)

interface Services extends CompletionServices {
  readonly identityProviders: ProviderSlot
  readonly login: Login
  readonly passwordRules: PasswordRules
  readonly signInPage: SignInPage
  readonly users: UserCache
}

type Pair = Pick<Exchange, 'request' | 'reply'>

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
      200: json('The user information; for a program that prefers HTML, a short page.', CurrentUser, {
        headers: { 'Set-Cookie': '`auth_token`' },
      }),
      303: redirect('For the form of a browser: to `successurl`, or to the sign-in page.'),
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
    handle: async (deps: Services, { request, reply, body }) => {
      const form = await body()
      const successUrl = readSuccessUrl(deps.base, form.successurl)
      const pair = { request, reply }
      // Java prefers HTML by default, and would lose the cookie of a redirect.
      const isForm = isNavigation(request) || (prefersHtml(request) && successUrl !== undefined)
      if (!isForm) {
        const signedIn = requireComplete(deps, reply, await signInByPassword(deps, request, form, successUrl))
        const described = await endSignIn(deps, pair, signedIn)
        return prefersHtml(request) ? sendSignedIn(deps, pair, signedIn.user) : described
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
      email: textParameter(
        'An e-mail address. If its domain has an identity provider, the response leads to that provider.',
      ),
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
    handle: async (deps: Services, { request, reply, query }) => {
      const { base } = deps
      // Under another name of this machine, the browser would store a cookie that it does not send to the
      // pages that follow.
      if (base.isOtherNameOfLoopback(request.raw.headers.host)) return await reply.redirect(base.at('auth/login'), 303)
      const successUrl = readSuccessUrl(deps.base, query.successurl)
      if (query.email !== undefined) return sendToProviderOf(deps, { request, reply }, query.email, successUrl)
      const caller = await callerByCookie(deps, request)
      if (!caller) {
        const findProvider = async (name: string | undefined) =>
          name === undefined ? undefined : await deps.identityProviders.current?.find(name)
        const openElsewhere = await findProvider(query.left)
        const endedElsewhere = (await findProvider(query.out))?.name
        const state = { successUrl, sessionHasEnded: query.ended, openElsewhere, endedElsewhere }
        return sendLogin(deps, { request, reply }, state)
      }
      return sendSignedIn(deps, { request, reply }, caller.user, successUrl)
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
    handle: async ({ passwordRules }: Services) => ({
      maxLength: MAX_PASSWORD_CHARACTERS,
      rules: passwordRules.all,
    }),
  }),
]

/** Checks the name and the password of the form, and opens the session, or begins a sign-in that waits for its next step. */
async function signInByPassword(
  deps: Services,
  request: Exchange['request'],
  form: Readonly<Record<'auth_username' | 'auth_password' | 'auth_maxage', string | undefined>>,
  successUrl: string | undefined,
): Promise<SignedIn | WaitingSignIn> {
  const name = requireField(form, 'auth_username')
  const password = requireField(form, 'auth_password')
  const lifetime = { requested: readMaxAge(form.auth_maxage) }
  const { client } = request.caller
  const user = await deps.login.withPassword({ name, password, mechanism: 'form', client })
  return await deps.signIn.begin({ user, mechanism: 'form', lifetime, client, successUrl })
}

/**
 * Leads to the identity provider for an e-mail address, by a page instead of a redirect: the Content-Security-Policy of the sign-in page
 * (`form-action`) allows its forms to lead to this service only.
 */
function sendToProviderOf(
  deps: Services,
  { request, reply }: Pair,
  email: string,
  successUrl: string | undefined,
): Exchange['reply'] {
  const context = pageContext(deps, request)
  try {
    const url = deps.identityProviders.current?.urlFor(email, successUrl)
    if (url === undefined) throw new InvalidInput('unknown-idp', 'This service has no identity providers.')
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

function sendLogin(deps: Services, { request, reply }: Pair, { successUrl, ...state }: LoginState): Exchange['reply'] {
  const form: LoginForm = {
    ...state,
    successUrl: successUrl ?? deps.base.at('ui/'),
    methods: signInMethods(deps, successUrl),
  }
  const headers = form.methods.passkey ? scriptedPageHeaders : pageHeaders
  return sendPage(reply, loginPage(pageContext(deps, request), form), headers)
}

/** The configured methods to sign in. */
function signInMethods(deps: Services, successUrl: string | undefined): SignInMethods {
  const { base, login, signInPage } = deps
  const { passkey } = signInPage
  const providers = deps.identityProviders.current
  return {
    password: login.takesPasswords ? base.at('auth/cookie') : undefined,
    discovery: providers?.knowDomains === true ? base.at('auth/login') : undefined,
    providers: providers?.list(successUrl) ?? [],
    reset: signInPage.resetPath !== undefined && login.takesPasswords ? base.at(signInPage.resetPath) : undefined,
    passkey:
      passkey && login.takesPasswords
        ? {
            options: base.at(passkey.optionsPath),
            signIn: { target: base.at(passkey.signInPath), successUrl: successUrl ?? base.at('ui/') },
          }
        : undefined,
  }
}

function requireField<N extends string>(form: Readonly<Record<N, string | undefined>>, name: N): string {
  const value = form[name]
  if (value === undefined) throw new InvalidInput('invalid-form', `The field \`${name}\` is missing.`)
  return value
}

/** More than the configured maximum is accepted, because `Sessions` limits it (D2.3). */
function readMaxAge(text: string | undefined): Seconds | undefined {
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text) && Number(text) >= 1) return Number(text)
  throw new InvalidInput(
    'invalid-form',
    `\`auth_maxage\` must be a whole number of seconds from 1 on, but is "${shown(text)}".`,
  )
}
