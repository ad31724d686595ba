import type { NextStep, PendingLogin } from '../../accounts/pending-logins.ts'
import { isWaiting, type SignedIn, type WaitingSignIn } from '../../accounts/sign-in.ts'
import { type ProofKind, requireAnswer } from '../../accounts/second-factor.ts'
import { InvalidInput, LockedOut, ServiceError, Unauthenticated } from '../../base/errors.ts'
import { json, page, redirect, type Exchange, route } from '../../http/interface/route.ts'
import { formBody, formOrJson, jsonBody, type RequestBody } from '../../http/interface/bodies.ts'
import { anything, list, object, oneOf, openObject, optional, text, type TypeOf } from '../../http/interface/schema.ts'
import { CurrentUser } from '../../http/interface/shared-schemas.ts'
import { pageContext, sendPage } from '../../http/page.ts'
import { scriptedPageHeaders } from '../../http/pages/html.ts'
import { brokenRules } from '../../http/pages/password-pages.ts'
import { factorPage, temporaryPasswordPage } from './pages.ts'
import { setCookie } from '../../http/protocol/cookies.ts'
import { isNavigation, prefersHtml } from '../../http/protocol/negotiate.ts'
import { problemOf } from '../../http/problem.ts'
import type { PasswordRules } from '../../accounts/password-rules.ts'
import type { SecondFactor } from '../../accounts/second-factor.ts'
import {
  type CompletionServices,
  endSignIn,
  FACTOR_PATH,
  redirectToNextStep,
  NEW_PASSWORD_PATH,
  pendingCookie,
  requireComplete,
  sendSignedIn,
} from '../../http/sign-in-completion.ts'

const Answer = openObject({ code: optional(text()), passkey: optional(anything) })
const answerFields = formBody({
  code: { description: 'The code of an authenticator app, or a recovery code.' },
  passkey: { description: 'The assertion of a passkey, as JSON.' },
})
const answerForm: RequestBody<TypeOf<typeof Answer>> = {
  ...answerFields,
  read: async (bodies, request, reply) => {
    const { code, passkey } = await answerFields.read(bodies, request, reply)
    return { code, passkey: passkey === undefined ? undefined : parseAssertion(passkey) }
  },
}
// Any client can send this, so the limit is as small as for a form.
const answerBody = formOrJson(answerForm, jsonBody(Answer), { code: '123456' })

const factorKinds = ['totp', 'passkey', 'recovery'] as const

interface Services extends CompletionServices {
  readonly passwordRules: PasswordRules
  readonly secondFactor: SecondFactor
}

/** The step of a sign-in that proves the second factor (D28.2). */
export const secondStepRoutes = [
  route({
    id: 'readPendingSignIn',
    method: 'GET',
    url: `/${FACTOR_PATH}`,
    chapter: 'Sessions',
    summary:
      'Read which kinds of second factor can complete a sign-in. A browser gets the page that asks for the factor.',
    details: 'Send the cookie of the first step, which identifies the sign-in. The sign-in waits for five minutes.',
    answers: {
      200: json('The kinds of second factor that the user has.', object({ factors: list(oneOf(...factorKinds)) })),
      303: redirect('For a browser without such a sign-in: to the sign-in page.'),
    },
    refusals: { 401: ['sign-in-expired'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply }) => {
      const pending = await deps.signIn.findPending(pendingCookie(deps).read(request.cookies), 'factor')
      if (!pending && isNavigation(request)) return await reply.redirect(deps.base.at('auth/login'), 303)
      if (!pending) throw new Unauthenticated('sign-in-expired', 'No sign-in waits for a second factor.')
      const factors = await deps.secondFactor.kindsOf(pending.user.id)
      return prefersHtml(request) ? sendFactorPage(deps, { request, reply }, factors) : { factors }
    },
  }),
  route({
    id: 'proveSecondFactor',
    method: 'POST',
    url: `/${FACTOR_PATH}`,
    chapter: 'Sessions',
    summary: 'Complete a sign-in with a second factor. The response sets the cookie `auth_token`.',
    details:
      '`code` is the code of an authenticator app, or a recovery code; `passkey` is what `navigator.credentials.get()` has returned. Each works once. Send JSON or a form. ' +
      'After five attempts the sign-in begins again, and wrong codes count towards the lockout like wrong passwords.',
    body: answerBody,
    answers: {
      200: json('The user information.', CurrentUser, { headers: { 'Set-Cookie': '`auth_token`' } }),
      303: redirect('For a browser: to the page after the sign-in.'),
    },
    refusals: {
      400: ['invalid-form', 'invalid-json'],
      401: ['sign-in-expired', 'password-change-required'],
      403: ['second-factor-wrong', 'codes-locked-out', 'cross-site-request'],
      429: ['locked-out'],
    },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, caller: { client }, body }) => {
      const answer = requireAnswer(await body())
      return await takeStep(
        deps,
        { request, reply },
        {
          needs: 'factor',
          complete: token => deps.signIn.complete(token, answer, client),
          askAgain: async ({ user }, error) =>
            sendFactorPage(deps, { request, reply }, await deps.secondFactor.kindsOf(user.id), error),
        },
      )
    },
  }),
]

function sendFactorPage(
  deps: Services,
  { request, reply }: Pick<Exchange, 'request' | 'reply'>,
  factors: readonly ProofKind[],
  error?: ServiceError,
) {
  const { base } = deps
  const retryAfter = error instanceof LockedOut ? error.retryAfter : undefined
  const refusal = error && { code: error.code, detail: error.message, retryAfter }
  const form = {
    action: base.at(FACTOR_PATH),
    passkey: factors.includes('passkey') ? { options: base.at('auth/factor/passkey-options') } : undefined,
    refusal,
  }
  return sendPage(reply, factorPage(pageContext(deps, request), form), scriptedPageHeaders)
}

function parseAssertion(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new InvalidInput('invalid-form', 'The field `passkey` is not JSON.', { cause: error })
  }
}

const Chosen = openObject({ password: optional(text()) })
const passwordBody = formOrJson(formBody({ password: { description: 'The new password.' } }), jsonBody(Chosen), {
  password: 'Autumn-Wind-2026',
})

/** The step of a sign-in that replaces a temporary password (D33.2). */
export const newPasswordRoutes = [
  route({
    id: 'showNewPasswordPage',
    method: 'GET',
    url: `/${NEW_PASSWORD_PATH}`,
    chapter: 'Sessions',
    summary: 'Show the page on which a user replaces a temporary password.',
    details: 'Send the cookie of the step before, which identifies the sign-in. The sign-in waits for five minutes.',
    answers: {
      200: page('The page.'),
      303: redirect('For a browser without such a sign-in: to the sign-in page.'),
    },
    refusals: { 401: ['sign-in-expired'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply }) => {
      const pending = await deps.signIn.findPending(pendingCookie(deps).read(request.cookies), 'password')
      if (pending) return sendNewPasswordPage(deps, { request, reply }, pending.user.name)
      if (isNavigation(request)) return await reply.redirect(deps.base.at('auth/login'), 303)
      throw new Unauthenticated('sign-in-expired', 'No sign-in waits for a new password.')
    },
  }),
  route({
    id: 'replaceTemporaryPassword',
    method: 'POST',
    url: `/${NEW_PASSWORD_PATH}`,
    chapter: 'Sessions',
    summary:
      'Complete a sign-in with a new password in place of a temporary one. The response sets the cookie `auth_token`.',
    details:
      'Use it after a refusal with `password-change-required`, and send the cookie of that response. All other sessions of the user end. Send JSON or a form. After five attempts the sign-in begins again.',
    body: passwordBody,
    answers: {
      200: json('The user information.', CurrentUser, { headers: { 'Set-Cookie': '`auth_token`' } }),
      303: redirect('For a browser: to the page after the sign-in.'),
    },
    refusals: {
      400: [
        'invalid-form',
        'invalid-json',
        'password-rules',
        'password-unchanged',
        'password-missing',
        'password-too-long',
      ],
      401: ['sign-in-expired'],
      403: ['cross-site-request'],
      503: ['overloaded'],
    },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, caller: { client }, body }) => {
      const { password } = await body()
      if (password === undefined) throw new InvalidInput('invalid-form', 'Send `password`.')
      return await takeStep(
        deps,
        { request, reply },
        {
          needs: 'password',
          complete: token => deps.signIn.completeWithPassword(token, password, client),
          askAgain: async ({ user }, error) => sendNewPasswordPage(deps, { request, reply }, user.name, error),
        },
      )
    },
  }),
]

function sendNewPasswordPage(
  deps: Services,
  { request, reply }: Pick<Exchange, 'request' | 'reply'>,
  userName: string | undefined,
  error?: ServiceError,
) {
  const { base, passwordRules } = deps
  const rules = passwordRules.all
  const broken = brokenRules(passwordRules, error)
  const refusal = error && !broken ? { code: error.code, detail: error.message } : undefined
  const form = { action: base.at(NEW_PASSWORD_PATH), userName, rules, broken, refusal }
  return sendPage(reply, temporaryPasswordPage(pageContext(deps, request), form))
}

interface Step {
  readonly needs: NextStep
  readonly complete: (token: string | undefined) => Promise<SignedIn | WaitingSignIn>
  /** Sends the form again, with the error. */
  readonly askAgain: (pending: PendingLogin, error: ServiceError) => Promise<unknown>
}

/** Completes a step of a sign-in: the next step, the end, or for a browser the form again while the sign-in waits. */
async function takeStep(
  deps: CompletionServices,
  { request, reply }: Pick<Exchange, 'request' | 'reply'>,
  { needs, complete, askAgain }: Step,
): Promise<unknown> {
  const cookie = pendingCookie(deps)
  const token = cookie.read(request.cookies)
  try {
    const result = await complete(token)
    if (isWaiting(result) && isNavigation(request)) return await redirectToNextStep(deps, reply, result)
    const signedIn = requireComplete(deps, reply, result)
    setCookie(reply, cookie.clear())
    const described = await endSignIn(deps, { request, reply }, signedIn)
    if (isNavigation(request)) return await reply.redirect(signedIn.successUrl ?? deps.base.at('auth/login'), 303)
    return prefersHtml(request) ? sendSignedIn(deps, { request, reply }, signedIn.user) : described
  } catch (error) {
    if (!prefersHtml(request) || !(error instanceof ServiceError)) throw error
    const pending = await deps.signIn.findPending(token, needs)
    if (!pending && !isNavigation(request)) throw error
    if (!pending) return await reply.redirect(`${deps.base.at('auth/login')}?ended`, 303)
    const { status, headers } = problemOf(error, request.id)
    reply.status(status).headers(headers)
    return await askAgain(pending, error)
  }
}
