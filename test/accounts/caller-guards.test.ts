import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Caller, guestFrom, isGuest } from '../../src/accounts/caller.ts'
import {
  denied,
  isAdmin,
  mayManageQuota,
  requireAdmin,
  requireNoToken,
  requireQuotaManager,
  requireSignedIn,
  requireSuperUser,
} from '../../src/accounts/caller-guards.ts'
import { type TokenScope, tokenScopes } from '../../src/accounts/token-scopes.ts'
import { ADMIN, ADMINS } from '../../src/accounts/users.ts'
import { Forbidden, Unauthenticated } from '../../src/base/errors.ts'

const guest = guestFrom({ address: '2001:db8::7', userAgent: '' })
const userWith = (id: string, ...groups: string[]): Caller => ({
  ...guest,
  user: { ...guest.user, id, name: id },
  groups: new Set(groups),
})
const nora = userWith('7', '20')
const admin = userWith(ADMIN)
const member = userWith('9', ADMINS)

const withToken = (caller: Caller, scopes: readonly TokenScope[], contexts?: readonly string[]): Caller => ({
  ...caller,
  grant: { tokenId: 't', scopes, ...(contexts && { contexts }) },
})

/** Asserts which of the callers pass a check, and how the others are refused. */
function assertPass(check: (caller: Caller) => void, passing: readonly Caller[], what: string): void {
  const adminTokens = tokenScopes.map(scope => withToken(admin, [scope]))
  for (const caller of [guest, nora, admin, member, withToken(nora, ['admin']), ...adminTokens, ...passing]) {
    const passes = passing.some(one => JSON.stringify(one) === JSON.stringify(caller) && one.groups === caller.groups)
    if (passes) check(caller)
    else {
      assert.throws(
        () => check(caller),
        isGuest(caller)
          ? { name: 'Unauthenticated', code: 'not-signed-in', message: `Sign in to ${what}.` }
          : { name: 'Forbidden', code: 'not-allowed', message: `You may not ${what}.` },
        JSON.stringify(caller),
      )
    }
  }
}

test('administrators are admin and the members of the admin group, with a token only if it has the scope (D24.4)', () => {
  assert.deepEqual([guest, nora, admin, member].map(isAdmin), [false, false, true, true])
  for (const administrator of [admin, member]) {
    for (const scope of tokenScopes) assert.equal(isAdmin(withToken(administrator, [scope])), scope === 'admin', scope)
    assert.equal(isAdmin(withToken(administrator, [])), false)
  }
  assert.equal(isAdmin(withToken(nora, ['admin'])), false, 'a token never widens what the user may')
})

test('quotas are set by administrators, with a token that has the scope and opens the context (D24.4)', () => {
  const may = (caller: Caller): boolean => mayManageQuota(caller, '3')
  assert.deepEqual([guest, nora, admin, member].map(may), [false, false, true, true])
  assert.deepEqual(
    tokenScopes.map(scope => may(withToken(admin, [scope]))),
    [false, false, true, true],
  )
  assert.equal(may(withToken(nora, ['quota'])), false)
  assert.equal(may(withToken(admin, ['quota'], ['3'])), true)
  assert.equal(may(withToken(admin, ['quota'], ['4'])), false)
  const passing = [admin, member, withToken(admin, ['quota']), withToken(admin, ['admin'])]
  assertPass(caller => requireQuotaManager(caller, '3'), passing, 'set a quota')
})

test('what only some callers may do refuses the others: guests are asked to sign in (D1.5)', () => {
  const what = 'do this'
  assertPass(caller => requireAdmin(caller, what), [admin, member, withToken(admin, ['admin'])], what)
  assertPass(caller => requireSuperUser(caller, what), [admin, withToken(admin, ['admin'])], what)
  const tokens = tokenScopes.map(scope => withToken(admin, [scope]))
  assertPass(
    caller => requireSignedIn(caller, what),
    [nora, admin, member, withToken(nora, ['admin']), ...tokens],
    what,
  )
  assert.ok(denied(guest, what) instanceof Unauthenticated)
  assert.ok(denied(nora, what) instanceof Forbidden)
})

test('what would outlive an access token is refused with any token, also one of an administrator (D24.5)', () => {
  for (const caller of [guest, nora, admin]) requireNoToken(caller, 'do this')
  for (const scope of tokenScopes) {
    assert.throws(() => requireNoToken(withToken(admin, [scope]), 'change passwords'), {
      code: 'access-token-scope',
      message: 'An access token cannot change passwords. Sign in instead.',
    })
  }
})
