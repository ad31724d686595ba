import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as client from 'openid-client'
import { Overloaded } from '../../src/base/errors.ts'
import { FetchFailed } from '../../src/base/fetch.ts'
import { asRefusal } from '../../src/features/oidc/provider.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'

/** An error of the library about a check of its own. */
const failedCheck = (message: string, details?: unknown): client.ClientError =>
  new client.ClientError('the response is wrong', { cause: new Error(message, { cause: details }) })
const within = (cause: unknown, depth: number): unknown =>
  depth === 0 ? cause : new Error(`level ${depth}`, { cause: within(cause, depth - 1) })
const failedOf = (error: unknown) => {
  const refused = asRefusal(error)
  assert.ok(refused instanceof SsoRefused, String(refused))
  return refused.failed
}

test('refusals and overloads of this service come through the library as they are (D26.2)', () => {
  for (const ours of [new SsoRefused({ check: 'token-key' }), new Overloaded('busy')]) {
    assert.equal(asRefusal(ours), ours)
    assert.equal(asRefusal(within(ours, 9)), ours)
    const tooDeep = within(ours, 10)
    assert.equal(asRefusal(tooDeep), tooDeep)
    assert.equal(asRefusal(new FetchFailed('https://op/', 'x', { cause: ours })), ours)
  }
})

test('a provider that cannot be asked is a refusal of its own (D26.2)', () => {
  const error = new client.ClientError('fetch failed', { cause: new FetchFailed('https://op/token', 'status 500') })
  const expected = 'an answer of the provider'
  assert.deepEqual(failedOf(error), {
    check: 'provider-unreachable',
    expected,
    received: 'https://op/token: status 500',
  })
  assert.equal((asRefusal(error) as Error).cause, error)
})

test('what the provider answers instead of a code or tokens is quoted (D26.2)', () => {
  const atLogin = (fields: Record<string, string>) =>
    new client.AuthorizationResponseError('x', { cause: new URLSearchParams(fields) })
  const authorization = { check: 'authorization', expected: 'a code' }
  assert.deepEqual(failedOf(atLogin({ error: 'denied' })), { ...authorization, received: 'denied' })
  const received = 'denied: by the user'
  assert.deepEqual(failedOf(atLogin({ error: 'denied', error_description: 'by the user' })), {
    ...authorization,
    received,
  })
  const response = new Response(null, { status: 401 })
  const atToken = { check: 'token-endpoint', expected: 'tokens' }
  const body = (cause: ConstructorParameters<typeof client.ResponseBodyError>[1]['cause']) =>
    new client.ResponseBodyError('x', { cause, response })
  assert.deepEqual(failedOf(body({ error: 'invalid_grant' })), { ...atToken, received: 'invalid_grant' })
  const described = { error: 'invalid_grant', error_description: 'too late' }
  assert.deepEqual(failedOf(body(described)), { ...atToken, received: 'invalid_grant: too late' })
  const challenge = new client.WWWAuthenticateChallengeError('x', { cause: [], response })
  assert.deepEqual(failedOf(challenge), { ...atToken, received: 'status 401' })
})

test('a failed check of the library names the parameter of the response (D26.3)', () => {
  const wrong = 'unexpected "state" response parameter value'
  for (const [message, check, name] of [
    ['response parameter "iss" missing', 'response-iss', 'iss'],
    [wrong, 'response-state', 'state'],
    ['unexpected "iss" (issuer) response parameter value', 'response-iss', 'iss'],
    ['response parameter "code" missing', 'oidc-response', 'code'],
  ] as const) {
    const failed = { check, expected: `the ${name} of this login`, received: message }
    assert.deepEqual(failedOf(failedCheck(message)), failed)
    assert.deepEqual(failedOf(failedCheck(message, { claims: 'none' })), failed)
  }
  const expected = 'a response as OpenID Connect defines it'
  assert.deepEqual(failedOf(failedCheck('odd')), { check: 'oidc-response', expected, received: 'odd' })
  const bare = new client.ClientError('bare')
  assert.deepEqual(failedOf(bare), { check: 'oidc-response', expected, received: 'bare' })
  const strange = new client.ClientError('bare', { cause: 'a text' })
  assert.deepEqual(failedOf(strange), { check: 'oidc-response', expected, received: 'bare' })
})

test('errors that no response caused stay as they are', () => {
  for (const error of [new TypeError('x'), 'text', undefined]) assert.equal(asRefusal(error), error)
})
