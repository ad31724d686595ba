import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, codeOf, GOOD_PASSWORD, guess, NEXT_PASSWORD, userPath, WRONG_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Answer } from '../support/http-client.ts'
import { startInProcess } from '../support/service.ts'

const service = await startInProcess(
  { after },
  { settings: { 'service.auth.temp.lockout.trusted-devices': 'on', 'service.auth.cookie.samesite': 'lax' } },
)
const admin = await service.admin()
const anyone = service.visitor()

const deviceCookies = (answer: Answer): string[] =>
  (answer.headers['set-cookie'] ?? []).filter(line => line.startsWith('stowage_device='))
const deviceOf = (answer: Answer): string => /^stowage_device=([^;]+)/.exec(deviceCookies(answer)[0] ?? '')?.[1] ?? ''

/** Signs in, and resolves to the token that the device keeps. */
async function trust(name: string, device?: string): Promise<string> {
  const answer = await from(device, name, GOOD_PASSWORD)
  assert.equal(answer.status, 200, answer.text)
  return deviceOf(answer)
}

const from = (device: string | undefined, name: string, password: string): Promise<Answer> =>
  service.visitor().ask('auth/cookie', {
    form: { auth_username: name, auth_password: password },
    headers: device === undefined ? {} : { cookie: `stowage_device=${device}` },
  })

test('a login leaves a device cookie with the flags of the session cookie and a life of its own (D6.5)', async () => {
  await addUser(admin, 'cookie')
  const answer = await service.visitor().signIn('cookie', GOOD_PASSWORD)
  const [session] = (answer.headers['set-cookie'] ?? []).filter(line => line.startsWith('auth_token='))
  assert.ok(session, 'the session cookie is there too')
  assert.deepEqual(
    deviceCookies(answer).map(line =>
      line
        .split('; ')
        .slice(1)
        .filter(part => !part.startsWith('Expires=')),
    ),
    [['Max-Age=31536000', 'Path=/', 'SameSite=Lax', 'HttpOnly', 'Secure']],
  )
  assert.match(deviceOf(answer), /^[A-Za-z0-9_-]{43}$/)
  assert.notEqual(deviceOf(answer), /auth_token=([^;]+)/.exec(session)?.[1])
})

test('a device keeps its token from login to login; a failed login brings none (D6.5)', async () => {
  await addUser(admin, 'keeper')
  const device = await trust('keeper')
  assert.equal(await trust('keeper', device), device)
  assert.deepEqual(deviceCookies(await from(device, 'keeper', WRONG_PASSWORD)), [])
  assert.deepEqual(deviceCookies(await from(undefined, 'nobody-at-all', WRONG_PASSWORD)), [])
})

test('an attacker locks the name, and the owner can still sign in from their device (D6.5)', async () => {
  await addUser(admin, 'owner')
  const device = await trust('owner')
  await guess(anyone, 'owner', 5)
  assert.equal((await from(undefined, 'owner', GOOD_PASSWORD)).status, 429)
  assert.equal((await from(device, 'owner', GOOD_PASSWORD)).status, 200)
  assert.equal((await from(undefined, 'owner', GOOD_PASSWORD)).status, 429, 'that helps no stranger')
})

test('a device has a limit of its own, which locks that device only (D6.5)', async () => {
  await addUser(admin, 'two-devices')
  const one = await trust('two-devices')
  const two = await trust('two-devices')
  assert.notEqual(one, two)
  for (let count = 0; count < 5; count++) assert.equal((await from(one, 'two-devices', WRONG_PASSWORD)).status, 401)
  assert.equal((await from(one, 'two-devices', GOOD_PASSWORD)).status, 429)
  assert.equal((await from(two, 'two-devices', GOOD_PASSWORD)).status, 200)
  assert.equal((await from(undefined, 'two-devices', GOOD_PASSWORD)).status, 200)
})

test('an administrator lifts the lock of a device with that of its user (D6.5)', async () => {
  await addUser(admin, 'freed')
  const device = await trust('freed')
  for (let count = 0; count < 5; count++) await from(device, 'freed', WRONG_PASSWORD)
  assert.equal((await admin.delete('management/lockouts?user=freed')).status, 204)
  assert.equal((await from(device, 'freed', GOOD_PASSWORD)).status, 200)
})

test('the device of another user, an invented one and an invalid value have no effect (D6.5)', async () => {
  await addUser(admin, 'victim')
  await addUser(admin, 'attacker')
  const device = await trust('attacker')
  for (const worthless of [device, 'A'.repeat(43), 'x', '"; DROP TABLE', '']) {
    await from(worthless, 'victim', WRONG_PASSWORD)
  }
  for (const worthless of [device, 'A'.repeat(43), 'x', undefined]) {
    assert.equal((await from(worthless, 'victim', GOOD_PASSWORD)).status, 429, `device ${worthless}`)
  }
})

test('the device of another user is replaced, not shared, when a second user signs in from it (D6.5)', async () => {
  await addUser(admin, 'first')
  await addUser(admin, 'second')
  const device = await trust('first')
  assert.notEqual(await trust('second', device), device)
})

test('a password change forgets the devices, by the user and by an administrator (D6.5)', async () => {
  for (const name of ['changes-it', 'gets-it-changed']) {
    const { id } = await addUser(admin, name)
    const device = await trust(name)
    if (name === 'changes-it') {
      const visitor = service.visitor()
      await visitor.signIn(name, GOOD_PASSWORD)
      const change = { password: NEXT_PASSWORD, currentPassword: GOOD_PASSWORD }
      assert.equal((await visitor.put(userPath(id), change)).status, 204)
    } else {
      assert.equal((await admin.put(userPath(id), { password: NEXT_PASSWORD })).status, 204)
    }
    await guess(anyone, name, 5)
    const refused = await from(device, name, NEXT_PASSWORD)
    assert.deepEqual([refused.status, codeOf(refused)], [429, 'locked-out'])
  }
})

test('a device that was not used for a year is a stranger again', async () => {
  await addUser(admin, 'rare')
  const device = await trust('rare')
  service.system.pass(365 * 86_400_000)
  await guess(anyone, 'rare', 5)
  assert.equal((await from(device, 'rare', GOOD_PASSWORD)).status, 200, 'a year to the day')
  service.system.pass(365 * 86_400_000 + 1)
  await guess(anyone, 'rare', 5)
  assert.equal((await from(device, 'rare', GOOD_PASSWORD)).status, 429)
})

test('by default there is no device cookie, and a sent one has no effect (D6.5)', async t => {
  const plain = await startInProcess(t)
  await addUser(await plain.admin(), 'plain')
  assert.deepEqual(deviceCookies(await plain.visitor().signIn('plain', GOOD_PASSWORD)), [])
  await guess(plain.visitor(), 'plain', 5)
  const refused = await plain.visitor().ask('auth/cookie', {
    form: { auth_username: 'plain', auth_password: GOOD_PASSWORD },
    headers: { cookie: `stowage_device=${'A'.repeat(43)}` },
  })
  assert.equal(refused.status, 429)
})
