import { boundTo, requireSessionOf, type StepUp } from '../../accounts/step-up.ts'
import { idOf } from '../../accounts/sessions.ts'
import { Unauthenticated } from '../../base/errors.ts'
import { json, route } from '../../http/interface/route.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { integer, list, named, object, openObject, optional, text } from '../../http/interface/schema.ts'
import { CurrentUser } from '../../http/interface/shared-schemas.ts'
import { type CompletionServices, endSignIn, pendingCookie, requireComplete } from '../../http/sign-in-completion.ts'
import type { FactorPolicy } from '../factors/factor-policy.ts'
import { AddedFactor } from '../factors/routes.ts'
import type { SecondFactors } from '../factors/second-factors.ts'
import type { PasskeySignIn } from './passkey-sign-in.ts'
import type { Passkeys } from './passkeys.ts'

/** The options that the functions `parse…OptionsFromJSON` of browsers read (WebAuthn, 5.1.10). */
const Options = named('PasskeyOptions', openObject({ challenge: text() }))

const Registration = openObject({
  id: text(),
  response: openObject({ clientDataJSON: text(), attestationObject: text(), transports: optional(list(text())) }),
})

const Assertion = openObject({
  id: text(),
  response: openObject({ clientDataJSON: text(), authenticatorData: text(), signature: text() }),
})

/** Enough for every authenticator. The attestation of a registration may hold certificates. */
const MAX_REGISTRATION_BYTES = 64 * 1024

interface Services extends CompletionServices {
  readonly passkeys: Passkeys
  /** Absent where a passkey alone signs no user in. */
  readonly passkeySignIn: PasskeySignIn | undefined
  readonly factors: SecondFactors
  readonly factorPolicy: FactorPolicy
  readonly stepUp: StepUp
}

/** Where users can add no factors any more, their present factors stay valid. */
const canAdd = ({ factorPolicy }: Pick<Services, 'factorPolicy'>): boolean => factorPolicy.isOffered

/** Passkeys: added, used after a password, and used instead of one (D29). */
export const passkeyRoutes = [
  route({
    id: 'readPasskeyCreationOptions',
    method: 'POST',
    url: '/auth/passkeys/options',
    chapter: 'Sessions',
    allowWithoutMfa: true,
    summary:
      'Begin to add a passkey. The response has the options for `navigator.credentials.create()`, which work once, for five minutes.',
    requires: { role: 'user', to: 'add a passkey' },
    answers: { 200: json('The options, as JSON of WebAuthn.', Options) },
    refusals: { 403: ['access-token-scope', 'fresh-sign-in-required', 'not-allowed'] },
    isOffered: canAdd,
    handle: async (deps: Services, { caller }) => {
      const session = requireSessionOf(caller, 'add a passkey')
      deps.stepUp.requireFresh(caller)
      return { ...(await deps.passkeys.creationOptions(caller.user, idOf(session))) }
    },
  }),
  route({
    id: 'addPasskey',
    method: 'POST',
    url: '/auth/passkeys',
    chapter: 'Sessions',
    allowWithoutMfa: true,
    summary: 'Add a passkey, with what `navigator.credentials.create()` has returned.',
    details:
      'The first factor ends all other sessions of the user, because they began without a second factor. Its response has ten recovery codes, which cannot be read again.',
    requires: { role: 'user', to: 'add a passkey' },
    body: jsonBody(object({ name: text(), credential: Registration }), { limit: MAX_REGISTRATION_BYTES }),
    answers: { 201: json('The passkey is added.', AddedFactor) },
    refusals: {
      400: ['invalid-value', 'invalid-passkey'],
      403: ['access-token-scope', 'fresh-sign-in-required', 'not-allowed'],
      409: ['conflict'],
    },
    isOffered: canAdd,
    handle: async (deps: Services, { caller, body, reply }) => {
      const session = requireSessionOf(caller, 'add a passkey')
      deps.stepUp.requireFresh(caller)
      const { name, credential } = await body()
      const factor = await deps.passkeys.finishRegistration(caller.user, name, credential, idOf(session))
      const added = await deps.factors.add(caller, factor)
      reply.status(201)
      return { ...added }
    },
  }),
  route({
    id: 'readFactorPasskeyOptions',
    method: 'POST',
    url: '/auth/factor/passkey-options',
    chapter: 'Sessions',
    summary:
      'Begin to use a passkey as the second factor of a sign-in. The response has the options for `navigator.credentials.get()`.',
    details: 'Send its result to `POST /auth/factor` as `passkey`. The options work once, for five minutes.',
    answers: { 200: json('The options, as JSON of WebAuthn.', Options) },
    refusals: { 401: ['sign-in-expired'] },
    skipAuth: true,
    handle: async (deps: Services, { request }) => {
      const pending = await deps.signIn.findPending(pendingCookie(deps).read(request.cookies), 'factor')
      if (!pending) throw new Unauthenticated('sign-in-expired', 'No sign-in waits for a second factor.')
      return { ...(await deps.passkeys.requestOptions(pending.user, pending.bound)) }
    },
  }),
  route({
    id: 'readFreshPasskeyOptions',
    method: 'POST',
    url: '/auth/fresh/passkey-options',
    chapter: 'Sessions',
    summary:
      'Begin to prove your identity again with a passkey. The response has the options for `navigator.credentials.get()`.',
    details: 'Send its result to `POST /auth/fresh` as `passkey`. The options work once, for five minutes.',
    requires: { role: 'user', to: 'prove again who you are' },
    answers: { 200: json('The options, as JSON of WebAuthn.', Options) },
    refusals: { 403: ['access-token-scope', 'not-allowed'] },
    handle: async (deps: Services, { caller }) => {
      const session = requireSessionOf(caller, 'prove again who you are')
      return { ...(await deps.passkeys.requestOptions(caller.user, boundTo(session))) }
    },
  }),
  route({
    id: 'readSignInPasskeyOptions',
    method: 'POST',
    url: '/auth/passkey/options',
    chapter: 'Sessions',
    summary: 'Begin to sign in with a passkey alone. The response has the options for `navigator.credentials.get()`.',
    details: 'The options work once, for five minutes.',
    answers: { 200: json('The options, as JSON of WebAuthn.', Options) },
    skipAuth: true,
    isOffered: ({ passkeySignIn }: Pick<Services, 'passkeySignIn'>) => passkeySignIn !== undefined,
    handle: async (deps: Services) => ({ ...(await deps.passkeys.signInOptions()) }),
  }),
  route({
    id: 'signInWithPasskey',
    method: 'POST',
    url: '/auth/passkey',
    chapter: 'Sessions',
    summary: 'Sign in with a passkey alone. The response sets the cookie `auth_token`.',
    details:
      '`passkey` is what `navigator.credentials.get()` has returned. The authenticator must have verified the user. ' +
      'Failures count towards the lockout. Users who may not sign in with a password may not do so with a passkey either.',
    body: jsonBody(object({ passkey: Assertion, auth_maxage: optional(integer(1)) })),
    answers: { 200: json('The user information.', CurrentUser, { headers: { 'Set-Cookie': '`auth_token`' } }) },
    refusals: {
      401: ['passkey-refused'],
      403: ['account-disabled', 'passkey-login-off', 'cross-site-request'],
      429: ['locked-out'],
    },
    skipAuth: true,
    isOffered: ({ passkeySignIn }: Pick<Services, 'passkeySignIn'>) => passkeySignIn !== undefined,
    handle: async (deps: Services, { request, reply, caller: { client }, body }) => {
      const { passkey, auth_maxage: requested } = await body()
      const user = await signInOf(deps).identify(passkey, client)
      const identified = { user, client, mechanism: 'passkey', lifetime: { requested }, provesFactor: true }
      const result = await deps.signIn.begin(identified)
      return await endSignIn(deps, { request, reply }, requireComplete(deps, reply, result))
    },
  }),
]

function signInOf({ passkeySignIn }: Services): PasskeySignIn {
  if (!passkeySignIn) throw new TypeError('sign-in with a passkey alone is off')
  return passkeySignIn
}
