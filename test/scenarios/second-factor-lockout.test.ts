import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, guess } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { addApp, type App, signInWith } from '../support/second-factors.ts'
import { ADMIN_PASSWORD, newUser, startInProcess } from '../support/service.ts'

const never = { 'service.auth.temp.lockout.max.attempts': '-1' }
const service = await startInProcess({ after }, { settings: never })
const { system } = service
const admin = await service.admin()
const refusal = (answer: Answer): readonly unknown[] => [answer.status, codeOf(answer)]

async function newGuarded() {
  const user = await newUser(service, admin)
  return { ...user, ...(await addApp(user.visitor, system)) }
}

/** Sends wrong codes from a session, where no sign-in has to be repeated, and returns the last response. */
async function guessCodes(visitor: Visitor, app: App, times: number): Promise<readonly unknown[]> {
  let last: readonly unknown[] = []
  for (let count = 0; count < times; count++) {
    last = refusal(await visitor.post('auth/fresh', { code: app.wrongCode() }))
  }
  return last
}

async function lockedNames(): Promise<readonly unknown[]> {
  const { lockouts } = (await admin.get('management/lockouts')).json<{ lockouts: Array<{ user: string }> }>()
  return lockouts.map(({ user }) => user)
}

test('where passwords never lock a user out, ten wrong codes do, for five minutes; an administrator lifts it (D28.3)', async () => {
  const user = await newGuarded()
  await guess(service.visitor(), user.name, 12)
  assert.deepEqual(await guessCodes(user.visitor, user.app, 9), [403, 'second-factor-wrong'])
  assert.equal(
    (await signInWith(service.visitor(), user, user.app.code())).status,
    200,
    'a right code clears the count',
  )
  assert.deepEqual(await guessCodes(user.visitor, user.app, 10), [403, 'second-factor-wrong'])
  const locked = await signInWith(service.visitor(), user, user.app.code(1))
  assert.deepEqual([refusal(locked), locked.headers['retry-after']], [[429, 'locked-out'], '300'])
  assert.deepEqual(refusal(await user.visitor.post('auth/fresh', { code: user.recoveryCodes[0] })), [429, 'locked-out'])
  assert.deepEqual(refusal(await service.visitor().signIn(user.name, user.password)), [401, 'second-factor-required'])
  assert.deepEqual(await lockedNames(), [user.name])
  assert.equal((await admin.delete(`management/lockouts?user=${user.name}`)).status, 204)
  assert.deepEqual(await lockedNames(), [])
  assert.equal((await signInWith(service.visitor(), user, user.app.code(1))).status, 200)
  assert.deepEqual(await guessCodes(user.visitor, user.app, 11), [429, 'locked-out'])
  system.pass(300_001)
  assert.equal((await signInWith(service.visitor(), user, user.app.code())).status, 200)
})

test('fifty wrong codes in a row end codes for a day; a recovery code still works, and other users are not affected (D28.3)', async () => {
  const [user, other] = [await newGuarded(), await newGuarded()]
  for (let round = 0; round < 5; round++) {
    assert.deepEqual(await guessCodes(user.visitor, user.app, 10), [403, 'second-factor-wrong'], String(round))
    system.pass(300_001)
  }
  assert.deepEqual(refusal(await user.visitor.post('auth/fresh', { code: user.app.code() })), [403, 'codes-locked-out'])
  assert.deepEqual(await lockedNames(), [user.name])
  assert.equal((await user.visitor.post('auth/fresh', { code: user.recoveryCodes[0] })).status, 204)
  assert.deepEqual(refusal(await signInWith(service.visitor(), user, user.app.code())), [403, 'codes-locked-out'])
  assert.equal((await signInWith(service.visitor(), other, other.app.code())).status, 200)
  const { events } = (await admin.get(`management/audit?user=${user.id}&event=locked-out`)).json<{
    events: Array<{ userId: string }>
  }>()
  // A part of a name or id is enough for the search.
  const own = events.filter(({ userId }) => userId === user.id)
  assert.equal(own.length, 5, 'five short lockouts, the last of them with the long one')
  system.pass(86_400_000)
  assert.equal((await signInWith(service.visitor(), user, user.app.code())).status, 200)
})

test('administrators whose passwords never lock are locked out by codes (D28.3, D6.4)', async t => {
  const lenient = await startInProcess(t, { settings: { 'service.auth.temp.lockout.admin': 'false' } })
  const root = await lenient.admin()
  const { app } = await addApp(root, lenient.system)
  assert.deepEqual(await guess(lenient.visitor(), 'admin', 7), Array(7).fill(401))
  assert.deepEqual(await guessCodes(root, app, 11), [429, 'locked-out'])
  const locked = await signInWith(lenient.visitor(), { name: 'admin', password: ADMIN_PASSWORD }, app.code())
  assert.deepEqual(refusal(locked), [429, 'locked-out'])
})
