import { InvalidInput } from '../../base/errors.ts'
import { done, route } from '../interface/route.ts'
import { jsonBody } from '../interface/bodies.ts'
import { anything, object, optional, text } from '../interface/schema.ts'
import type { Uses } from '../services.ts'
import { requireAnswer } from './sign-in-steps.ts'

/** Proof of who the caller is, before a change that matters (D28.6). */
export const freshRoutes = [
  route({
    id: 'proveAgain',
    method: 'POST',
    url: '/auth/fresh',
    chapter: 'Sessions',
    summary:
      'Prove your identity again, after a refusal with `fresh-sign-in-required`. The proof is valid for five minutes.',
    details:
      '`code` is that of an authenticator app, or a recovery code; `passkey` is what `navigator.credentials.get()` has returned. Users without a second factor send their `password`. ' +
      'Wrong answers count towards the lockout.',
    allowWithoutMfa: true,
    requires: { role: 'user', to: 'prove again who you are' },
    body: jsonBody(object({ code: optional(text()), passkey: optional(anything), password: optional(text()) }), {
      example: { code: '123456' },
    }),
    answers: { 204: done },
    refusals: {
      400: ['invalid-form', 'password-missing', 'password-too-long'],
      403: [
        'second-factor-wrong',
        'codes-locked-out',
        'fresh-sign-in-required',
        'current-password-wrong',
        'password-login-off',
        'access-token-scope',
        'not-allowed',
      ],
      429: ['locked-out'],
    },
    handle: async ({ stepUp }: Uses<'stepUp'>, { caller, body, reply }) => {
      const { password, ...factor } = await body()
      if (password !== undefined && (factor.code !== undefined || factor.passkey !== undefined)) {
        throw new InvalidInput('invalid-form', 'Send one of `code`, `passkey` and `password`.')
      }
      await stepUp.prove(caller, password === undefined ? requireAnswer(factor) : { password })
      return await reply.status(204).send()
    },
  }),
]
