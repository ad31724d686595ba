import type { PasswordRule } from '../../accounts/password-rules.ts'
import { isWaiting } from '../../accounts/factors/sign-in.ts'
import type { FactorAnswer, ProofKind } from '../../accounts/factors/second-factors.ts'
import { InvalidInput, LockedOut, ServiceError, Unauthenticated } from '../../base/errors.ts'
import { MAX_FORM_BYTES, mediaTypeOf } from '../protocol/body.ts'
import { json, page, redirect } from '../interface/answer.ts'
import { formBody, jsonBody, type RequestBody } from '../interface/inputs.ts'
import { type Exchange, route } from '../interface/route.ts'
import { anything, list, object, oneOf, openObject, optional, text, type TypeOf } from '../interface/schema.ts'
import { CurrentUser } from '../interface/schemas.ts'
import { assetPath, pageContext, sendPage } from '../page.ts'
import { factorPage } from '../pages/factor-page.ts'
import { scriptedPageHeaders } from '../pages/html.ts'
import { temporaryPasswordPage } from '../pages/reset-pages.ts'
import { setCookie } from '../protocol/cookies.ts'
import { prefersHtml } from '../protocol/negotiate.ts'
import { problemOf } from '../problem.ts'
import type { Uses } from '../services.ts'
import {
  type CompletionServices,
  endSignIn,
  FACTOR_PATH,
  leadOn,
  NEW_PASSWORD_PATH,
  pendingCookie,
  requireComplete,
} from '../sign-in-completion.ts'

const Answer = openObject({ code: optional(text()), passkey: optional(anything) })
const asForm = formBody({
  code: { description: 'The code of an authenticator app, or a recovery code.' },
  passkey: { description: 'The assertion of a passkey, as JSON.' },
})
// Any client can send this, so the limit is as small as for a form.
const asJson = jsonBody(Answer, { limit: MAX_FORM_BYTES })

/** As a form or as JSON. */
const answerBody: RequestBody<TypeOf<typeof Answer>> = {
  ...asForm,
  types: [...asForm.types, ...asJson.types],
  example: { code: '123456' },
  read: async (bodies, request, reply) => {
    if (!asForm.types.includes(mediaTypeOf(request.raw) ?? '')) return await asJson.read(bodies, request, reply)
    const { code, passkey } = await asForm.read(bodies, request, reply)
    return { code, passkey: passkey === undefined ? undefined : parseAssertion(passkey) }
  },
}

export const factorKinds = ['totp', 'passkey', 'recovery'] as const

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
      303: redirect('For a browser without such a sign-in: to the login page.'),
    },
    refusals: { 401: ['sign-in-expired'] },
    ignoresCaller: true,
    visited: true,
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
    summary: 'Complete a sign-in with a second factor. The answer sets the cookie `auth_token`.',
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
    ignoresCaller: true,
    visited: true,
    handle: async (deps: StepServices, { request, reply, caller: { client }, body }) => {
      const answer = requireAnswer(await body())
      const cookie = pendingCookie(deps)
      const token = cookie.read(request.cookies)
      try {
        const result = await deps.signIn.complete(token, answer, client)
        if (isWaiting(result) && prefersHtml(request)) return await leadOn(deps, reply, result)
        const signedIn = requireComplete(deps, reply, result)
        setCookie(reply, cookie.clear())
        const described = await endSignIn(deps, { request, reply }, signedIn)
        if (!prefersHtml(request)) return described
        return await reply.redirect(signedIn.successUrl ?? deps.base.at('auth/login'), 303)
      } catch (error) {
        // A browser gets the form again, with the error, while the sign-in waits.
        if (!prefersHtml(request) || !(error instanceof ServiceError)) throw error
        const pending = await deps.signIn.findPending(token, 'factor')
        if (!pending) return await reply.redirect(`${deps.base.at('auth/login')}?ended`, 303)
        const { status, headers } = problemOf(error, request.id)
        reply.status(status).headers(headers)
        const factors = await deps.factors.kindsOf(pending.user.id)
        return sendFactorPage(deps, { request, reply }, factors, error)
      }
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
  const { base, ui } = deps
  const retryAfter = error instanceof LockedOut ? error.retryAfter : undefined
  const refusal = error && { code: error.code, detail: error.message, retryAfter }
  const form = {
    action: base.at(FACTOR_PATH),
    passkey: factors.includes('passkey') ? { options: base.at('auth/factor/passkey-options') } : undefined,
    script: base.at(assetPath(ui.names.login)),
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
const passwordForm = formBody({ password: { description: 'The new password.' } })
// Any client can send this, so the limit is as small as for a form.
const passwordJson = jsonBody(Chosen, { limit: MAX_FORM_BYTES })

/** As a form or as JSON. */
const passwordBody: RequestBody<TypeOf<typeof Chosen>> = {
  ...passwordForm,
  types: [...passwordForm.types, ...passwordJson.types],
  example: { password: 'Autumn-Wind-2026' },
  read: async (bodies, request, reply) =>
    await (passwordForm.types.includes(mediaTypeOf(request.raw) ?? '') ? passwordForm : passwordJson).read(
      bodies,
      request,
      reply,
    ),
}

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
      303: redirect('For a browser without such a sign-in: to the login page.'),
    },
    refusals: { 401: ['sign-in-expired'] },
    ignoresCaller: true,
    visited: true,
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
      'Complete a sign-in with a new password in place of a temporary one. The answer sets the cookie `auth_token`.',
    details:
      'After a refusal with `password-change-required`, with the cookie of that response. All other logins of the user end. As JSON or as a form. After five attempts the sign-in begins again.',
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
    ignoresCaller: true,
    visited: true,
    handle: async (deps: NewPasswordServices, { request, reply, caller: { client }, body }) => {
      const { password } = await body()
      if (password === undefined) throw new InvalidInput('invalid-form', 'Send `password`.')
      const cookie = pendingCookie(deps)
      const token = cookie.read(request.cookies)
      try {
        const signedIn = await deps.signIn.completeWithPassword(token, password, client)
        setCookie(reply, cookie.clear())
        const described = await endSignIn(deps, { request, reply }, signedIn)
        if (!prefersHtml(request)) return described
        return await reply.redirect(signedIn.successUrl ?? deps.base.at('auth/login'), 303)
      } catch (error) {
        // A browser gets the form again, with the error, while the sign-in waits.
        if (!prefersHtml(request) || !(error instanceof ServiceError)) throw error
        const pending = await deps.signIn.findPending(token, 'password')
        if (!pending) return await reply.redirect(`${deps.base.at('auth/login')}?ended`, 303)
        const { status, headers } = problemOf(error, request.id)
        reply.status(status).headers(headers)
        return sendNewPasswordPage(deps, { request, reply }, pending.user.name, error)
      }
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
  const named = error?.extra['rules']
  const broken = Array.isArray(named) ? rules.filter(({ name }: PasswordRule) => named.includes(name)) : undefined
  const refusal = error && !broken ? { code: error.code, detail: error.message } : undefined
  const form = { action: base.at(NEW_PASSWORD_PATH), userName, rules, broken, refusal }
  return sendPage(reply, temporaryPasswordPage(pageContext(deps, request), form))
}
