import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, basicAuth, GOOD_PASSWORD, guess, WRONG_PASSWORD } from '../support/accounts.ts'
import { ADMIN_PASSWORD, startInProcess } from '../support/service.ts'
import { TICK } from '../support/token-store.ts'

const twice = { 'service.auth.temp.lockout.max.attempts': '2' }

test('administrators are locked out like others by default (I3.2)', async t => {
  const service = await startInProcess(t, { settings: { ...twice, 'service.auth.http-basic': 'on' } })
  const admin = await service.admin()
  const { id } = await addUser(admin, 'deputy')
  assert.equal((await admin.put('_principals/resource/_admins', [id])).status, 204)
  for (const [name, password] of [
    ['admin', ADMIN_PASSWORD],
    ['deputy', GOOD_PASSWORD],
  ] as const) {
    assert.deepEqual(await guess(service.visitor(), name, 3), [401, 401, 429])
    assert.equal((await service.visitor().signIn(name, password)).status, 429)
    assert.equal((await service.visitor().get('auth/user', basicAuth(name, password))).status, 429)
  }
  const lifted = await admin.delete('management/lockouts?user=admin')
  assert.equal(lifted.status, 204, 'an admin who is signed in lifts his own lock')
})

test('with admin=false neither admin nor a member of the admin group is locked; others are (I5.9, D6.4)', async t => {
  const service = await startInProcess(t, {
    settings: { ...twice, 'service.auth.temp.lockout.admin': 'false', 'service.auth.http-basic': 'on' },
  })
  const admin = await service.admin()
  const deputy = await addUser(admin, 'deputy')
  await addUser(admin, 'ordinary')
  await admin.put('_principals/resource/_admins', [deputy.id])
  for (const [name, password] of [
    ['admin', ADMIN_PASSWORD],
    ['deputy', GOOD_PASSWORD],
  ] as const) {
    assert.deepEqual(await guess(service.visitor(), name, 6), [401, 401, 401, 401, 401, 401])
    assert.equal((await service.visitor().get('auth/user', basicAuth(name, WRONG_PASSWORD))).status, 401)
    assert.equal((await service.visitor().signIn(name, password)).status, 200)
    assert.equal((await service.visitor().get('auth/user', basicAuth(name, password))).status, 200)
  }
  assert.deepEqual(await guess(service.visitor(), 'ordinary', 3), [401, 401, 429])
  assert.deepEqual(await guess(service.visitor(), 'nobody-at-all', 3), [401, 401, 429])

  await admin.put('_principals/resource/_admins', [])
  assert.deepEqual(await guess(service.visitor(), 'deputy', 3), [401, 401, 429], 'who leaves the group loses it')
})

test('max.attempts=-1 never locks (I5.9)', async t => {
  const service = await startInProcess(t, { settings: { 'service.auth.temp.lockout.max.attempts': '-1' } })
  const admin = await service.admin()
  await addUser(admin, 'free')
  assert.deepEqual(new Set(await guess(service.visitor(), 'free', 12)), new Set([401]))
  assert.equal((await service.visitor().signIn('free', GOOD_PASSWORD)).status, 200)
})

test('the duration is taken with its unit, and as milliseconds without one (I5.9)', async t => {
  for (const [written, milliseconds] of [
    ['600500', 600_500],
    ['900s', 900_000],
    ['2h', 7_200_000],
  ] as const) {
    const service = await startInProcess(t, {
      settings: { 'service.auth.temp.lockout.duration': written, 'service.auth.temp.lockout.max.attempts': '1' },
    })
    const visitor = service.visitor()
    await guess(visitor, 'somebody', 1)
    const refused = await visitor.signIn('somebody', WRONG_PASSWORD)
    assert.equal(refused.headers['retry-after'], String(Math.ceil(milliseconds / 1000)), written)
    service.system.pass(milliseconds - TICK)
    assert.equal((await visitor.signIn('somebody', WRONG_PASSWORD)).status, 429)
    service.system.pass(TICK)
    assert.equal((await visitor.signIn('somebody', WRONG_PASSWORD)).status, 401)
    await service.close()
  }
})

test('a jump of the wall clock neither frees nor holds a locked user (D6.3)', async t => {
  const service = await startInProcess(t)
  const admin = await service.admin()
  await addUser(admin, 'bob')
  await guess(service.visitor(), 'bob', 5)
  service.system.jump(3_600_000)
  assert.equal((await service.visitor().signIn('bob', GOOD_PASSWORD)).status, 429)
  service.system.jump(-7_200_000)
  const refused = await service.visitor().signIn('bob', GOOD_PASSWORD)
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '300'])
  service.system.pass(300_000)
  assert.equal((await service.visitor().signIn('bob', GOOD_PASSWORD)).status, 200)
})
