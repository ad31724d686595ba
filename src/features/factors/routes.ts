import { requireAnswer } from '../../accounts/second-factor.ts'
import { requireSessionOf, type StepUp } from '../../accounts/step-up.ts'
import { requireAdmin } from '../../accounts/caller-guards.ts'
import { targetUser, userNamed } from '../../http/caller.ts'
import { done, json, requiredText, textParameter, route } from '../../http/interface/route.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { list, named, object, oneOf, optional, text, anything } from '../../http/interface/schema.ts'
import { count } from '../../http/interface/shared-schemas.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { Database } from '../../stores/database.ts'
import { isoTime } from '../../base/times.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { FactorPolicy } from './factor-policy.ts'
import type { Factor } from './factor-rows.ts'
import type { SecondFactors } from './second-factors.ts'
import { otpauthUri } from './totp.ts'

const time = text({ format: 'date-time' })

const Factors = named(
  'SecondFactors',
  object({
    factors: list(
      object({ id: text(), kind: oneOf('totp', 'passkey'), name: text(), created: time, lastUsed: optional(time) }),
    ),
    recoveryCodes: count,
    canAdd: list(oneOf('totp', 'passkey')),
  }),
)
const recoveryCodes = list(text())
export const AddedFactor = named('AddedFactor', object({ id: text(), recoveryCodes: optional(recoveryCodes) }))
const factorPath = {
  factor: { description: 'The `id` of the factor.', schema: { type: 'string' }, example: 'none' },
} as const

interface Services extends HttpServices {
  readonly database: Database
  readonly factors: SecondFactors
  readonly factorPolicy: FactorPolicy
  readonly stepUp: StepUp
}

/** The second factors of the caller, and for administrators those of others (D28). */
export const factorRoutes = [
  route({
    id: 'listFactors',
    method: 'GET',
    url: '/auth/factors',
    chapter: 'Sessions',
    summary: 'List the second factors of the caller, how many recovery codes are left, and which kinds can be added.',
    allowWithoutMfa: true,
    requires: { role: 'user', to: 'list second factors' },
    query: { user: textParameter('For administrators: the name of another user.') },
    answers: { 200: json('The factors, without their secrets.', Factors) },
    refusals: { 403: ['not-allowed', 'access-token-scope'], 404: ['not-found'] },
    handle: async (deps: Services, { caller, query }) => {
      const { id } = await targetUser(deps, caller, query.user, "list another user's second factors")
      const [factors, left] = await Promise.all([deps.factors.list(id), deps.factors.recoveryCodesLeft(id)])
      const canAdd = deps.factorPolicy.isOffered ? ['totp', ...(deps.factors.passkeys ? ['passkey'] : [])] : []
      return { factors: factors.map(describe), recoveryCodes: left, canAdd }
    },
  }),
  route({
    id: 'enrolAuthenticatorApp',
    method: 'POST',
    url: '/auth/factors',
    chapter: 'Sessions',
    summary: 'Begin to add an authenticator app (TOTP). It takes effect once its first code has been sent.',
    details:
      'The enrolment ends after ten minutes, or when another one begins. `uri` is what apps read from a QR code.',
    allowWithoutMfa: true,
    requires: { role: 'user', to: 'add a second factor' },
    body: jsonBody(object({ kind: oneOf('totp'), name: text() }), { example: { kind: 'totp', name: 'Phone' } }),
    answers: {
      201: json('The secret, in base 32, in this response only.', object({ id: text(), secret: text(), uri: text() })),
    },
    refusals: { 400: ['invalid-value'], 403: ['access-token-scope', 'fresh-sign-in-required'] },
    isOffered: ({ factorPolicy }: Pick<Services, 'factorPolicy'>) => factorPolicy.isOffered,
    handle: async ({ factors, stepUp, base }: Services, { caller, body, reply }) => {
      requireSessionOf(caller, 'add a second factor')
      stepUp.requireFresh(caller)
      const { name } = await body()
      const { id, secret } = await factors.enrolTotp(caller, name)
      const account = caller.user.name ?? caller.user.id
      reply.status(201)
      return { id, secret, uri: otpauthUri(secret, { issuer: new URL(base.origin).hostname, account }) }
    },
  }),
  route({
    id: 'confirmAuthenticatorApp',
    method: 'POST',
    url: '/auth/factors/:factor/confirm',
    chapter: 'Sessions',
    summary: 'Add the authenticator app, with its first code.',
    details:
      'The first factor ends all other sessions of the user, because they began without a second factor. Its response has ten recovery codes, which cannot be read again.',
    allowWithoutMfa: true,
    requires: { role: 'user', to: 'add a second factor' },
    path: factorPath,
    body: jsonBody(object({ code: text() }), { example: { code: '123456' } }),
    answers: { 200: json('The factor is added.', AddedFactor) },
    refusals: {
      403: ['second-factor-wrong', 'access-token-scope', 'fresh-sign-in-required'],
      404: ['not-found'],
      409: ['conflict'],
    },
    isOffered: ({ factorPolicy }: Pick<Services, 'factorPolicy'>) => factorPolicy.isOffered,
    handle: async ({ factors, stepUp }: Services, { caller, params, body }) => {
      requireSessionOf(caller, 'add a second factor')
      stepUp.requireFresh(caller)
      return await factors.confirmTotp(caller, params.factor, (await body()).code)
    },
  }),
  route({
    id: 'renameFactor',
    method: 'PATCH',
    url: '/auth/factors/:factor',
    chapter: 'Sessions',
    summary: 'Rename a second factor of the caller.',
    requires: { role: 'user', to: 'rename second factors' },
    path: factorPath,
    body: jsonBody(object({ name: text() }), { example: { name: 'Old phone' } }),
    answers: { 204: done },
    refusals: { 400: ['invalid-value'], 403: ['access-token-scope'], 404: ['not-found'] },
    handle: async ({ factors }: Services, { caller, params, body, reply }) => {
      await factors.rename(caller, params.factor, (await body()).name)
      return await reply.status(204).send()
    },
  }),
  route({
    id: 'removeFactor',
    method: 'DELETE',
    url: '/auth/factors/:factor',
    chapter: 'Sessions',
    summary: 'Remove a second factor of the caller. If it is the last one, the recovery codes are removed as well.',
    requires: { role: 'user', to: 'remove second factors' },
    path: factorPath,
    answers: { 204: done },
    refusals: { 403: ['access-token-scope', 'fresh-sign-in-required'], 404: ['not-found'] },
    handle: async ({ factors, stepUp }: Services, { caller, params, reply }) => {
      stepUp.requireFresh(caller)
      await factors.remove(caller, params.factor)
      return await reply.status(204).send()
    },
  }),
  route({
    id: 'removeFactorsOfUser',
    method: 'DELETE',
    url: '/auth/factors',
    chapter: 'Sessions',
    summary: 'Remove all second factors of a user who has lost them, with their recovery codes.',
    details: 'The user then signs in with the password alone, or adds a factor where one is required.',
    requires: { role: 'admin', to: "remove another user's second factors" },
    query: { user: requiredText('The name of the user.') },
    answers: { 200: json('How many were removed.', object({ removed: count })) },
    refusals: { 403: ['not-allowed', 'access-token-scope', 'fresh-sign-in-required'], 404: ['not-found'] },
    handle: async (deps: Services, { caller, query }) => {
      requireAdmin(caller, "remove another user's second factors")
      deps.stepUp.requireFresh(caller)
      const { id } = await userNamed(deps, query.user)
      return { removed: await deps.factors.removeAll(caller, id) }
    },
  }),
  route({
    id: 'createRecoveryCodes',
    method: 'POST',
    url: '/auth/recovery-codes',
    chapter: 'Sessions',
    summary: 'Create ten new recovery codes. The old ones no longer work.',
    requires: { role: 'user', to: 'create recovery codes' },
    answers: { 201: json('The codes, in this response only.', object({ recoveryCodes })) },
    refusals: { 403: ['access-token-scope', 'fresh-sign-in-required'], 409: ['conflict'] },
    handle: async ({ factors, stepUp }: Services, { caller, reply }) => {
      stepUp.requireFresh(caller)
      const codes = await factors.renewRecoveryCodes(caller)
      reply.status(201)
      return { recoveryCodes: codes }
    },
  }),
  // Proof of who the caller is, before a change that matters (D28.6).
  route({
    id: 'proveAgain',
    method: 'POST',
    url: '/auth/fresh',
    chapter: 'Sessions',
    summary:
      'Prove your identity again, after a refusal with `fresh-sign-in-required`. The proof is valid for five minutes.',
    details:
      '`code` is the code of an authenticator app, or a recovery code; `passkey` is what `navigator.credentials.get()` has returned. Users without a second factor send their `password`. ' +
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
    handle: async ({ stepUp }: Services, { caller, body, reply }) => {
      const { password, ...factor } = await body()
      if (password !== undefined && (factor.code !== undefined || factor.passkey !== undefined)) {
        throw new InvalidInput('invalid-form', 'Send one of `code`, `passkey` and `password`.')
      }
      await stepUp.prove(caller, password === undefined ? requireAnswer(factor) : { password })
      return await reply.status(204).send()
    },
  }),
]

const describe = ({ id, kind, name, created, lastUsed }: Factor) => ({
  id,
  kind,
  name,
  created: isoTime(created),
  lastUsed: isoTime(lastUsed),
})
