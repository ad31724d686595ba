import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guestFrom, isGuest, rateLimitKey } from '../../src/accounts/caller.ts'
import { ADMIN } from '../../src/accounts/users.ts'

const guest = guestFrom({ address: '2001:db8::7', userAgent: '' })
const nora = { ...guest, user: { ...guest.user, id: '7', name: 'nora' } }
const admin = { ...guest, user: { ...guest.user, id: ADMIN, name: 'admin' } }

test('a guest has no rights of anybody, and is nobody', () => {
  assert.equal(isGuest(guest), true)
  assert.deepEqual([guest.groups.size, guest.session, guest.grant], [0, undefined, undefined])
  const { user } = guest
  assert.deepEqual(
    [user.name, user.password, user.disabled, user.hasSecondFactor, user.hasTemporaryPassword, user.customProperties],
    ['guest', undefined, false, false, false, {}],
  )
  assert.deepEqual([nora, admin].map(isGuest), [false, false])
})

test('rate limits count users by themselves, and guests by their network', () => {
  assert.equal(rateLimitKey(guest), '2001:db8:0:0::/64')
  assert.equal(rateLimitKey(nora), '7')
})
