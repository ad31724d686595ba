import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isOfUser,
  issuerOfSession,
  logoutDataOf,
  sessionKey,
  userKey,
} from '../../src/features/saml/provider-session.ts'
import type { VerifiedAssertion } from '../../src/features/saml/response.ts'

const assertionOf = (name: string, sessionIndex?: string): VerifiedAssertion => ({
  id: '_a',
  issuer: 'https://idp.example',
  name: 'anna',
  nameId: { text: name, attributes: { Format: 'urn:f' } },
  attributes: {},
  until: 0,
  sessionEnds: undefined,
  authenticated: undefined,
  authnContext: undefined,
  sessionIndex,
})

test('a session notes what a logout names: provider, user and session', () => {
  const { providerSession = '', logoutKeys } = logoutDataOf(assertionOf('n', '_s'))
  assert.deepEqual(JSON.parse(providerSession), {
    issuer: 'https://idp.example',
    name: 'n',
    nameId: { Format: 'urn:f' },
    sessionIndex: '_s',
  })
  assert.deepEqual(logoutKeys, ['["https://idp.example","n"]', '["https://idp.example","n","_s"]'])
  assert.equal(issuerOfSession(providerSession), 'https://idp.example')
  assert.notEqual(userKey('a', 'b'), sessionKey('a', 'b'))
  assert.deepEqual(logoutDataOf({ ...assertionOf('n'), nameId: undefined }), {})
})

test('a session is of a user only if it was opened for this name at this provider', () => {
  const { providerSession } = logoutDataOf(assertionOf('n'))
  assert.equal(isOfUser(providerSession, 'https://idp.example', 'n'), true)
  assert.equal(isOfUser(providerSession, 'https://idp.example', 'other'), false)
  assert.equal(isOfUser(providerSession, 'https://other.example', 'n'), false)
  assert.equal(isOfUser(undefined, 'https://idp.example', 'n'), false)
})

test('a session notes at most 4,096 characters, so that a NameID cannot fill the store', () => {
  const { providerSession = '' } = logoutDataOf(assertionOf(''))
  const most = 4_096 - providerSession.length
  assert.equal(logoutDataOf(assertionOf('n'.repeat(most))).providerSession?.length, 4_096)
  assert.deepEqual(logoutDataOf(assertionOf('n'.repeat(most + 1))), {})
})
