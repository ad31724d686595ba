import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addUser,
  addUserWithoutPassword,
  basicAuth,
  codeOf,
  GOOD_PASSWORD,
  guess,
  NEXT_PASSWORD,
  userPath,
  WRONG_PASSWORD,
} from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer } from '../support/http-client.ts'
import { startInProcess } from '../support/service.ts'
import { TICK } from '../support/token-store.ts'

const service = await startInProcess(
  { after },
  { settings: { 'service.auth.http-basic': 'on', 'service.auth.password.blacklist.1': 'Black@Example.org' } },
)
const admin = await service.admin()
const anyone = service.visitor()

const byBasic = (name: string, password: string): Promise<Answer> => anyone.get('auth/basic', basicAuth(name, password))

test('the fifth wrong password locks; then wrong and right ones are 429 with Retry-After alike (I3.2, D6.1)', async () => {
  await addUser(admin, 'plain')
  assert.deepEqual(await guess(anyone, 'plain', 5), [401, 401, 401, 401, 401])
  for (const password of [WRONG_PASSWORD, GOOD_PASSWORD]) {
    const refused = await anyone.signIn('plain', password)
    assert.equal(refused.status, 429)
    assert.equal(refused.headers['retry-after'], '300')
    assert.equal(refused.headers['set-cookie'], undefined)
    assert.match(refused.headers['content-type'] ?? '', /^application\/problem\+json/)
    const { type, title, status, detail, code, error } = refused.json()
    assert.deepEqual(
      { type, status, code },
      { type: 'urn:stowage:problem:locked-out', status: 429, code: 'locked-out' },
    )
    assert.ok(typeof title === 'string' && title !== '')
    assert.equal(error, detail)
  }
})

test('Retry-After counts down, the lock ends on time, and then the right password signs in (D6.1)', async () => {
  await addUser(admin, 'timed')
  await guess(anyone, 'timed', 5)
  service.system.pass(300_000 - TICK)
  const last = await service.visitor().signIn('timed', GOOD_PASSWORD)
  assert.equal(last.status, 429)
  const seconds = Number(last.headers['retry-after'])
  assert.ok(seconds >= 1 && seconds <= Math.ceil(TICK / 1000), String(seconds))
  service.system.pass(TICK)
  assert.equal((await service.visitor().signIn('timed', GOOD_PASSWORD)).status, 200)
})

test('a success clears the count (D6.1)', async () => {
  await addUser(admin, 'cleared')
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await guess(anyone, 'cleared', 4), [401, 401, 401, 401])
    assert.equal((await service.visitor().signIn('cleared', GOOD_PASSWORD)).status, 200)
  }
})

test('form, Basic and currentPassword count together (D4.2, D5.3)', async () => {
  const { id } = await addUser(admin, 'mixed')
  const visitor = service.visitor()
  await visitor.signIn('mixed', GOOD_PASSWORD)
  const change = (currentPassword: string) => visitor.put(userPath(id), { password: NEXT_PASSWORD, currentPassword })

  assert.deepEqual(await guess(anyone, 'mixed', 2), [401, 401])
  assert.equal((await byBasic('mixed', WRONG_PASSWORD)).status, 401)
  const wrong = await change(WRONG_PASSWORD)
  assert.deepEqual([wrong.status, codeOf(wrong)], [403, 'current-password-wrong'])
  assert.equal((await byBasic('mixed', WRONG_PASSWORD)).status, 401, 'the fifth')

  assert.equal((await anyone.signIn('mixed', GOOD_PASSWORD)).status, 429)
  const basic = await byBasic('mixed', GOOD_PASSWORD)
  assert.deepEqual([basic.status, codeOf(basic)], [429, 'locked-out'])
  const current = await change(GOOD_PASSWORD)
  assert.deepEqual([current.status, codeOf(current), current.headers['retry-after']], [429, 'locked-out', '300'])
  assert.equal((await visitor.get('auth/user')).json()['user'], 'mixed', 'a login that exists goes on')
})

test('a right current password clears what form logins have counted (D4.2)', async () => {
  const { id } = await addUser(admin, 'current')
  const visitor = service.visitor()
  await visitor.signIn('current', GOOD_PASSWORD)
  await guess(anyone, 'current', 4)
  const changed = await visitor.put(userPath(id), { password: NEXT_PASSWORD, currentPassword: GOOD_PASSWORD })
  assert.equal(changed.status, 204)
  assert.deepEqual(await guess(anyone, 'current', 5), [401, 401, 401, 401, 401])
  assert.deepEqual(await guess(anyone, 'current', 1), [429])
})

test('empty, too long and missing passwords are not counted (D2.3)', async () => {
  await addUser(admin, 'shapeless')
  for (const password of ['', 'x'.repeat(2049), '']) {
    for (let count = 0; count < 3; count++) assert.equal((await anyone.signIn('shapeless', password)).status, 400)
  }
  assert.deepEqual(await guess(anyone, 'shapeless', 5), [401, 401, 401, 401, 401])
})

test('attempts are counted for the name in every spelling (D1.7)', async () => {
  await addUser(admin, 'straße@example.org')
  for (const form of ['STRAßE@example.org', ' straße@Example.ORG ', 'straße@example.org', 'ｓtraße@example.org']) {
    assert.deepEqual(await guess(anyone, form, 1), [401])
  }
  assert.deepEqual(await guess(anyone, 'Straße@Example.org', 1), [401])
  assert.deepEqual(await guess(anyone, 'straße@example.org', 1), [429])
})

test('unknown, group, black-listed, guest and password-less names lock with the same answers as a user (D2.2, D6.3)', async () => {
  await addUser(admin, 'ordinary')
  await addUser(admin, 'black@example.org')
  await addUserWithoutPassword(admin, 'no-password')
  const named: Record<string, unknown[]> = {}
  for (const name of ['ordinary', 'nobody-at-all', 'admins', 'users', 'guest', 'black@example.org', 'no-password']) {
    const answers = []
    for (let count = 0; count < 7; count++) {
      const { status, headers, text } = await anyone.signIn(name, count === 6 ? GOOD_PASSWORD : WRONG_PASSWORD)
      const { date: _date, 'x-request-id': _id, ...rest } = headers
      answers.push({ status, headers: rest, text })
    }
    named[name] = answers
  }
  const { ordinary, ...others } = named
  assert.deepEqual(
    (ordinary as Array<{ status: number }>).map(({ status }) => status),
    [401, 401, 401, 401, 401, 429, 429],
  )
  for (const [name, answers] of Object.entries(others)) assert.deepEqual(answers, ordinary, name)
})

test('an account that is made under a name that was guessed before begins with a clean count (D1.7)', async () => {
  await guess(anyone, 'soon-there', 6)
  await addUser(admin, 'soon-there')
  assert.equal((await service.visitor().signIn('soon-there', GOOD_PASSWORD)).status, 200)
})

test('a renamed user takes the lock along, and the old name is a stranger again (D1.7)', async () => {
  const { id } = await addUser(admin, 'maiden')
  await guess(anyone, 'maiden', 5)
  assert.equal((await admin.put(userPath(id), { name: 'married' })).status, 204)
  assert.equal((await anyone.signIn('married', GOOD_PASSWORD)).status, 429)
  assert.equal((await anyone.signIn('maiden', GOOD_PASSWORD)).status, 401)
})

test('only the right password reveals that an account is disabled; wrong ones count (D2.2)', async () => {
  const { id } = await addUser(admin, 'disabled')
  await admin.put(userPath(id), { disabled: true })
  const response = await anyone.signIn('disabled', GOOD_PASSWORD)
  assert.deepEqual([response.status, codeOf(response)], [403, 'account-disabled'])
  assert.deepEqual(await guess(anyone, 'disabled', 6), [401, 401, 401, 401, 401, 429])
  assert.equal((await anyone.signIn('disabled', GOOD_PASSWORD)).status, 429)
})

test('200 parallel wrong guesses by form: five are checked, the rest is 429 (D6.2)', async () => {
  const { id } = await addUser(admin, 'stormed')
  const answers = await Promise.all(Array.from({ length: 200 }, () => anyone.signIn('stormed', WRONG_PASSWORD)))
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter(status => status === 401).length, 5)
  assert.equal(statuses.filter(status => status === 429).length, 195)
  const { events } = (await admin.get(`management/audit?user=stormed`)).json<{ events: Array<{ event: string }> }>()
  assert.equal(events.filter(({ event }) => event === 'login-failed').length, 5)
  assert.ok((await admin.get(userPath(id))).json()['disabledUntil'])
})

test('50 parallel right logins all succeed, though the limit is five (D6.2)', async () => {
  await addUser(admin, 'welcome')
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => service.visitor().signIn('welcome', GOOD_PASSWORD)),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
})
