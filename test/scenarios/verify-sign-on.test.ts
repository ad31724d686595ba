import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { startWithOidc } from '../support/oidc-at-provider.ts'
import { roundTripOf } from '../support/verify-sign-on.ts'
import { setClock } from '../support/service.ts'

const pair = await startWithOidc({ after }, { 'op.username-claim': 'email' })
const { service } = pair
pair.users.set('anna', { email: 'anna@example.org', email_verified: true })
pair.users.set('bert', {})
// The provider goes by the clock of the machine.
setClock(service)

const usersNamed = async (name: string): Promise<number> => {
  const admin = await service.admin()
  return (await admin.get(`management/users?query=${name}`)).json<{ results: number }>().results
}

test('verify signs in at the provider, and removes the user that the sign-on has created', async () => {
  const outcome = await roundTripOf(service, { start: 'auth/oidc', name: 'anna', password: 'any' })
  assert.deepEqual(outcome, { state: 'kept', seen: 'anna is anna@example.org' })
  assert.equal(await usersNamed('anna@example.org'), 0)
})

test('a user whom the service has had before stays', async () => {
  const admin = await service.admin()
  const created = await admin.post('_principals?graphtype=user', { resource: { name: 'anna@example.org' } })
  assert.equal(created.status, 201)
  service.system.pass(2000)
  const outcome = await roundTripOf(service, { start: 'auth/oidc', name: 'anna', password: 'any' })
  assert.equal(outcome.state, 'kept')
  assert.equal(await usersNamed('anna@example.org'), 1)
})

test('a sign-on that fails says where it ends', async () => {
  const outcome = await roundTripOf(service, { start: 'auth/oidc', name: 'bert', password: 'any' })
  assert.equal(outcome.state, 'broken')
  assert.match(JSON.stringify(outcome), /it ends at .*auth\/oidc.* with 40\d/)
  pair.isAway = true
  const away = await roundTripOf(service, { start: 'auth/oidc', name: 'anna', password: 'any' })
  pair.isAway = false
  assert.equal(away.state, 'broken')
})

test('without a user of the provider the promise is not checked', async () => {
  assert.equal((await roundTripOf(service, undefined)).state, 'unchecked')
})
