import type { NextStep, PendingLogin } from '../../accounts/factors/pending-logins.ts'
import { isWaiting, type SignedIn, type WaitingSignIn } from '../../accounts/factors/sign-in.ts'
import type { FactorAnswer, ProofKind } from '../../accounts/factors/second-factors.ts'
import { InvalidInput, LockedOut, ServiceError, Unauthenticated } from '../../base/errors.ts'
import { json, page, redirect, type Exchange, route } from '../interface/route.ts'
import { formBody, formOrJson, jsonBody, type RequestBody } from '../interface/bodies.ts'
import { anything, list, object, oneOf, openObject, optional, text, type TypeOf } from '../interface/schema.ts'
import { CurrentUser } from '../interface/schemas.ts'
import { pageContext, sendPage } from '../page.ts'
import { factorPage } from '../pages/sign-in-pages.ts'
import { scriptedPageHeaders } from '../pages/html.ts'
import { brokenRules, temporaryPasswordPage } from '../pages/reset-pages.ts'
import { setCookie } from '../protocol/sender.ts'
import { prefersHtml } from '../protocol/negotiate.ts'
import { problemOf } from '../problem.ts'
import type { Uses } from '../services.ts'
import {
  type CompletionServices,
  endSignIn,
  FACTOR_PATH,
  redirectToNextStep,
  NEW_PASSWORD_PATH,
  pendingCookie,
  requireComplete,
} from '../sign-in-completion.ts'

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

/** The step of a sign-in that proves the second factor (D28.2). */
export const secondStepRoutes = [
  route({
    id: 'readPendingSignIn',
    method: 'GET',
    url: `/${FACTOR_PATH}`,
    chapter: 'Sessions',
    summary: 'Read how the second factor of a sign-in can be proven; for a browser the page that asks for it.',
    details: 'The cookie of the first step says which sign-in. It waits for five minutes.',
    answers: {
      200: json('The kinds of second factor that the user has.', object({ factors: list(oneOf(...factorKinds)) })),
      303: redirect('For a browser without such a sign-in: to the sign-in page.'),
    },
    refusals: { 401: ['sign-in-expired'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: StepServices, { request, reply }) => {
      const pending = await deps.signIn.findPending(pendingCookie(deps).read(request.cookies), 'factor')
      if (!pending && prefersHtml(request)) return await reply.redirect(deps.base.at('auth/login'), 303)
      if (!pending) throw new Unauthenticated('sign-in-expired', 'No sign-in waits for a second factor.')
      const factors = await deps.factors.kindsOf(pending.user.id)
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
      '`code` is that of an authenticator app, or a recovery code; `passkey` is what `navigator.credentials.get()` has returned. Each works once. As JSON or as a form. ' +
      'After five attempts the sign-in begins again, and wrong codes count towards the lockout like wrong passwords.',
    body: answerBody,
    answers: {
      200: json('The user information.', CurrentUser, { headers: { 'Set-Cookie': '`auth_token`' } }),
      303: redirect('For a browser: where the sign-in was to lead.'),
    },
    refusals: {
      400: ['invalid-form', 'invalid-json'],
      401: ['sign-in-expired', 'password-change-required'],
      403: ['second-factor-wrong', 'codes-locked-out', 'cross-site-request'],
      429: ['locked-out'],
    },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: StepServices, { request, reply, caller: { client }, body }) => {
      const answer = requireAnswer(await body())
      return await takeStep(
        deps,
        { request, reply },
        {
          needs: 'factor',
          complete: token => deps.signIn.complete(token, answer, client),
          askAgain: async ({ user }, error) =>
            sendFactorPage(deps, { request, reply }, await deps.factors.kindsOf(user.id), error),
        },
      )
    },
  }),
]

type StepServices = CompletionServices & Uses<'factors' | 'ui'>

function sendFactorPage(
  deps: StepServices,
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

/** @throws {InvalidInput} `invalid-form` */
export function requireAnswer({
  code,
  passkey,
}: {
  readonly code?: string | undefined
  readonly passkey?: unknown
}): FactorAnswer {
  if (passkey !== undefined) return { passkey }
  if (code !== undefined && code.trim() !== '') return { code }
  throw new InvalidInput('invalid-form', 'Send `code` or `passkey`.')
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
    details: 'The cookie of the step before says which sign-in. It waits for five minutes.',
    answers: {
      200: page('The page.'),
      303: redirect('For a browser without such a sign-in: to the sign-in page.'),
    },
    refusals: { 401: ['sign-in-expired'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: NewPasswordServices, { request, reply }) => {
      const pending = await deps.signIn.findPending(pendingCookie(deps).read(request.cookies), 'password')
      if (pending) return sendNewPasswordPage(deps, { request, reply }, pending.user.name)
      if (prefersHtml(request)) return await reply.redirect(deps.base.at('auth/login'), 303)
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
      'After a refusal with `password-change-required`, with the cookie of that response. All other sessions of the user end. As JSON or as a form. After five attempts the sign-in begins again.',
    body: passwordBody,
    answers: {
      200: json('The user information.', CurrentUser, { headers: { 'Set-Cookie': '`auth_token`' } }),
      303: redirect('For a browser: where the sign-in was to lead.'),
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
    handle: async (deps: NewPasswordServices, { request, reply, caller: { client }, body }) => {
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

type NewPasswordServices = CompletionServices & Uses<'passwordRules' | 'ui'>

function sendNewPasswordPage(
  deps: NewPasswordServices,
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
    if (isWaiting(result) && prefersHtml(request)) return await redirectToNextStep(deps, reply, result)
    const signedIn = requireComplete(deps, reply, result)
    setCookie(reply, cookie.clear())
    const described = await endSignIn(deps, { request, reply }, signedIn)
    if (!prefersHtml(request)) return described
    return await reply.redirect(signedIn.successUrl ?? deps.base.at('auth/login'), 303)
  } catch (error) {
    if (!prefersHtml(request) || !(error instanceof ServiceError)) throw error
    const pending = await deps.signIn.findPending(token, needs)
    if (!pending) return await reply.redirect(`${deps.base.at('auth/login')}?ended`, 303)
    const { status, headers } = problemOf(error, request.id)
    reply.status(status).headers(headers)
    return await askAgain(pending, error)
  }
}
