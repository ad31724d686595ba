import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Visitor } from '../support/http-client.ts'
import { newUser, startInProcess } from '../support/service.ts'

// Many wrong passwords are sent here that are not what is tested.
const service = await startInProcess({ after }, { settings: { 'service.auth.temp.lockout.max.attempts': '-1' } })
const admin = await service.admin()
const NEW = 'Newer-Password-34'

const change = (visitor: Visitor, id: string, body: unknown, path = '') =>
  visitor.put(`${path}_principals/resource/${id}`, body)
const userOf = async (visitor: Visitor): Promise<unknown> => (await visitor.get('auth/user')).json()['user']
const canSignIn = async (name: string, password: string): Promise<boolean> =>
  (await service.visitor().signIn(name, password)).status === 200

/** A user with a second login. */
async function twice() {
  const user = await newUser(service, admin)
  const other = service.visitor()
  assert.equal((await other.signIn(user.name, user.password)).status, 200)
  return { ...user, other }
}

test('a changed password ends one’s other logins but not one’s own (I5.7, D5.3)', async () => {
  const bob = await twice()
  const answer = await change(bob.visitor, bob.id, { password: NEW, currentPassword: bob.password }, 'store/')
  assert.deepEqual([answer.status, answer.text], [204, ''])
  assert.equal(await userOf(bob.visitor), bob.name)
  assert.equal(await userOf(bob.other), 'guest')
  assert.deepEqual([await canSignIn(bob.name, NEW), await canSignIn(bob.name, bob.password)], [true, false])
  assert.equal(Object.keys((await bob.visitor.get('auth/tokens')).json()).length, 2)
})

test('one’s own login outlives the change although requests of it are under way (D5.3)', async () => {
  const bob = await newUser(service, admin)
  for (const [password, currentPassword] of [
    [NEW, bob.password],
    [bob.password, NEW],
    [NEW, bob.password],
  ]) {
    const { cookie } = bob.visitor
    const under = { way: true }
    const changed = change(bob.visitor, bob.id, { password, currentPassword }).finally(() => (under.way = false))
    const askAlong = async (): Promise<void> => {
      while (under.way) {
        const visitor = service.visitor()
        visitor.cookie = cookie
        const answer = await visitor.get('auth/tokens')
        assert.deepEqual([answer.status, answer.headers['set-cookie']], [200, undefined])
      }
    }
    await Promise.all(Array.from({ length: 8 }, askAlong))
    assert.equal((await changed).status, 204)
    assert.equal(await userOf(bob.visitor), bob.name)
  }
})

test('an administrator changes it without the current one, and all sessions of that user end, but not the administrator’s (D5.3)', async () => {
  const bob = await twice()
  assert.equal((await change(admin, bob.id, { password: NEW })).status, 204)
  assert.deepEqual([await userOf(bob.visitor), await userOf(bob.other)], ['guest', 'guest'])
  assert.equal(await userOf(admin), 'admin')
  assert.equal(await canSignIn(bob.name, NEW), true)
})

test('administrators need the current password to change their own (I5.7)', async () => {
  const answer = await change(admin, '_admin', { password: NEW })
  assert.deepEqual([answer.status, answer.json()['code']], [403, 'current-password-required'])
})

test('a missing or wrong present password is 403 and changes nothing (D5.3)', async () => {
  const bob = await twice()
  const rows = [
    [{ password: NEW }, 'current-password-required'],
    [{ password: NEW, currentPassword: '' }, 'current-password-required'],
    [{ password: NEW, currentPassword: 'Wrong-Password-12' }, 'current-password-wrong'],
  ] as const
  for (const [body, code] of rows) {
    const answer = await change(bob.visitor, bob.id, { ...body, language: 'de' })
    assert.deepEqual([answer.status, answer.json()['code']], [403, code])
  }
  assert.equal(await canSignIn(bob.name, bob.password), true)
  assert.equal(await userOf(bob.other), bob.name)
  assert.equal((await bob.visitor.get('auth/user')).json()['language'], undefined)
})

test('users cannot test or change the password of another user: refused before any comparison (D5.3)', async () => {
  const bob = await newUser(service, admin)
  const eve = await newUser(service, admin)
  const guest = service.visitor()
  for (const id of [bob.id, '_admin', '_guest']) {
    for (const currentPassword of [bob.password, 'Wrong-Password-12', undefined]) {
      const body = { password: NEW, ...(currentPassword === undefined ? {} : { currentPassword }) }
      assert.equal((await change(guest, id, body)).status, 401, id)
      const refused = await change(eve.visitor, id, body)
      assert.deepEqual([refused.status, refused.json()['code']], [403, 'not-allowed'], id)
    }
  }
  assert.equal(await canSignIn(bob.name, bob.password), true)
})

test('a refused change leaves even the modification date alone (D1.5)', async () => {
  const bob = await newUser(service, admin)
  const tag = async (): Promise<unknown> => (await admin.get(`_principals/entry/${bob.id}`)).headers.etag
  const before = await tag()
  service.system.pass(5000)
  const guest = service.visitor()
  await change(guest, bob.id, { password: NEW })
  await change(bob.visitor, bob.id, { password: NEW, currentPassword: 'Wrong-Password-12' })
  await change(bob.visitor, bob.id, { password: 'short', currentPassword: bob.password })
  assert.equal(await tag(), before)
})

const bodies: ReadonlyArray<readonly [what: string, body: unknown]> = [
  ['a rule broken', { password: 'short' }],
  ['an empty password', { password: '' }],
  ['a password that is no text', { password: 1_234_567_890 }],
  ['a password that is null', { password: null }],
  ['2049 characters', { password: `aA1${'x'.repeat(2046)}` }],
  ['a member nobody knows', { password: NEW, passwort: NEW }],
  ['a present password that is no text', { password: NEW, currentPassword: 7 }],
  ['a list', [NEW]],
  ['a text', NEW],
]
for (const [what, body] of bodies) {
  test(`${what} is 400 and leaves the password (I5.6, I5.7)`, async () => {
    const bob = await newUser(service, admin)
    const isObject = typeof body === 'object' && !Array.isArray(body)
    const answer = await change(bob.visitor, bob.id, isObject ? { currentPassword: bob.password, ...body } : body)
    assert.equal(answer.status, 400, answer.text)
    assert.ok(!answer.text.includes(bob.password))
    assert.equal(await canSignIn(bob.name, bob.password), true)
  })
}

test('a password of 2048 characters of any kind can be set and used (I5.6)', async () => {
  const bob = await newUser(service, admin)
  const password = `aA1 ${'🗝'.repeat(2043)}\0`
  const answer = await change(bob.visitor, bob.id, { password, currentPassword: bob.password })
  assert.equal(answer.status, 204, answer.text)
  assert.equal(await canSignIn(bob.name, password), true)
  assert.equal(await canSignIn(bob.name, password.slice(0, -1)), false)
})
