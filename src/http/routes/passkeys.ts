import { boundTo, requireSessionOf } from '../../accounts/factors/step-up.ts'
import type { PasskeySignIn } from '../../accounts/factors/passkey-sign-in.ts'
import type { Passkeys } from '../../accounts/factors/passkeys.ts'
import { idOf } from '../../accounts/sessions.ts'
import { Unauthenticated } from '../../base/errors.ts'
import { json, route } from '../interface/route.ts'
import { jsonBody } from '../interface/bodies.ts'
import { integer, list, named, object, openObject, optional, text } from '../interface/schema.ts'
import { CurrentUser } from '../interface/schemas.ts'
import type { Uses } from '../services.ts'
import { type CompletionServices, endSignIn, pendingCookie, requireComplete } from '../sign-in-completion.ts'
import { AddedFactor } from './factors.ts'

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

const isOffered = ({ passkeys }: Uses<'passkeys'>): boolean => passkeys !== undefined

/** Where no factor can be added any more, those that users have go on. */
const canAdd = ({ passkeys, factorPolicy }: Uses<'passkeys' | 'factorPolicy'>): boolean =>
  passkeys !== undefined && factorPolicy.isOffered

/** Passkeys: added, used after a password, and used instead of one (D29). */
export const passkeyRoutes = [
  route({
    id: 'readPasskeyCreationOptions',
    method: 'POST',
    url: '/auth/passkeys/options',
    chapter: 'Sessions',
    allowWithoutMfa: true,
    summary:
      'Begin to add a passkey: the options for `navigator.credentials.create()`. They work once, for five minutes.',
    requires: { role: 'user', to: 'add a passkey' },
    answers: { 200: json('The options, as JSON of WebAuthn.', Options) },
    refusals: { 403: ['access-token-scope', 'fresh-sign-in-required', 'not-allowed'] },
    isOffered: canAdd,
    handle: async (deps: Uses<'passkeys' | 'factorPolicy' | 'stepUp'>, { caller }) => {
      const session = requireSessionOf(caller, 'add a passkey')
      deps.stepUp.requireFresh(caller)
      return { ...(await passkeysOf(deps).creationOptions(caller.user, idOf(session))) }
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
      'The first factor ends the other sessions of the user, which have none, and the response has ten recovery codes. They cannot be read again.',
    requires: { role: 'user', to: 'add a passkey' },
    body: jsonBody(object({ name: text(), credential: Registration }), { limit: MAX_REGISTRATION_BYTES }),
    answers: { 201: json('The passkey is added.', AddedFactor) },
    refusals: {
      400: ['invalid-value', 'invalid-passkey'],
      403: ['access-token-scope', 'fresh-sign-in-required', 'not-allowed'],
      409: ['conflict'],
    },
    isOffered: canAdd,
    handle: async (deps: Uses<'passkeys' | 'factorPolicy' | 'factors' | 'stepUp'>, { caller, body, reply }) => {
      const session = requireSessionOf(caller, 'add a passkey')
      deps.stepUp.requireFresh(caller)
      const { name, credential } = await body()
      const factor = await passkeysOf(deps).finishRegistration(caller.user, name, credential, idOf(session))
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
      'Begin to prove the second factor of a sign-in with a passkey: the options for `navigator.credentials.get()`.',
    details: 'Send its result to `POST /auth/factor` as `passkey`. The options work once, for five minutes.',
    answers: { 200: json('The options, as JSON of WebAuthn.', Options) },
    refusals: { 401: ['sign-in-expired'] },
    skipAuth: true,
    isOffered,
    handle: async (deps: Uses<'passkeys' | 'signIn' | 'base' | 'options'>, { request }) => {
      const pending = await deps.signIn.findPending(pendingCookie(deps).read(request.cookies), 'factor')
      if (!pending) throw new Unauthenticated('sign-in-expired', 'No sign-in waits for a second factor.')
      return { ...(await passkeysOf(deps).requestOptions(pending.user, pending.bound)) }
    },
  }),
  route({
    id: 'readFreshPasskeyOptions',
    method: 'POST',
    url: '/auth/fresh/passkey-options',
    chapter: 'Sessions',
    summary:
      'Begin to prove again who you are with a passkey, in a session: the options for `navigator.credentials.get()`.',
    details: 'Send its result to `POST /auth/fresh` as `passkey`. The options work once, for five minutes.',
    requires: { role: 'user', to: 'prove again who you are' },
    answers: { 200: json('The options, as JSON of WebAuthn.', Options) },
    refusals: { 403: ['access-token-scope', 'not-allowed'] },
    isOffered,
    handle: async (deps: Uses<'passkeys'>, { caller }) => {
      const session = requireSessionOf(caller, 'prove again who you are')
      return { ...(await passkeysOf(deps).requestOptions(caller.user, boundTo(session))) }
    },
  }),
  route({
    id: 'readSignInPasskeyOptions',
    method: 'POST',
    url: '/auth/passkey/options',
    chapter: 'Sessions',
    summary: 'Begin to sign in with a passkey alone: the options for `navigator.credentials.get()`.',
    details: 'They work once, for five minutes.',
    answers: { 200: json('The options, as JSON of WebAuthn.', Options) },
    skipAuth: true,
    isOffered: ({ passkeySignIn }: Uses<'passkeySignIn'>) => passkeySignIn !== undefined,
    handle: async (deps: Uses<'passkeys' | 'passkeySignIn'>) => ({ ...(await passkeysOf(deps).signInOptions()) }),
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
    isOffered: ({ passkeySignIn }: Uses<'passkeySignIn'>) => passkeySignIn !== undefined,
    handle: async (deps: CompletionServices & Uses<'passkeySignIn'>, { request, reply, caller: { client }, body }) => {
      const { passkey, auth_maxage: requested } = await body()
      const user = await signInOf(deps).identify(passkey, client)
      const identified = { user, client, mechanism: 'passkey', lifetime: { requested }, provesFactor: true }
      const result = await deps.signIn.begin(identified)
      return await endSignIn(deps, { request, reply }, requireComplete(deps, reply, result))
    },
  }),
]

function passkeysOf({ passkeys }: Uses<'passkeys'>): Passkeys {
  if (!passkeys) throw new TypeError('passkeys are off')
  return passkeys
}

function signInOf({ passkeySignIn }: Uses<'passkeySignIn'>): PasskeySignIn {
  if (!passkeySignIn) throw new TypeError('sign-in with a passkey alone is off')
  return passkeySignIn
}
