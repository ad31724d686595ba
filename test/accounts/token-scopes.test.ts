import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  hasScope,
  opensContext,
  type TokenGrant,
  type TokenScope,
  tokenScopes,
} from '../../src/accounts/token-scopes.ts'

const withToken = (scopes: readonly TokenScope[], contexts?: readonly string[]): { grant: TokenGrant } => ({
  grant: { tokenId: 't', scopes, ...(contexts && { contexts }) },
})
const withoutToken = {}

test('a scope includes those that docs/interface.md says, and no other (D24.4)', () => {
  const included: Readonly<Record<TokenScope, readonly TokenScope[]>> = {
    read: ['read'],
    write: ['read', 'write'],
    quota: ['quota'],
    admin: ['read', 'write', 'quota', 'admin'],
  }
  for (const scope of tokenScopes) {
    const scopes = tokenScopes.filter(other => hasScope(withToken([scope]), other))
    assert.deepEqual(scopes, included[scope], scope)
  }
  assert.equal(hasScope(withToken([]), 'read'), false)
  for (const scope of tokenScopes)
    assert.equal(hasScope(withoutToken, scope), true, 'without a token nothing is narrowed')
})

test('a token opens the contexts that it names, or all if it names none (D24.4)', () => {
  const token = withToken(['read'], ['3', '4'])
  assert.deepEqual(
    ['3', '4', '5'].map(context => opensContext(token, context)),
    [true, true, false],
  )
  assert.equal(opensContext(withToken(['read']), '5'), true)
  assert.equal(opensContext(withToken(['read'], []), '5'), false)
  assert.equal(opensContext(withoutToken, '5'), true)
})
