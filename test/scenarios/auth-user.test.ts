import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()

test('a guest sees id, user, address and languages only (D3.1)', async () => {
  const answer = await ask(`${service.base}auth/user`)
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json(), {
    id: '_guest',
    user: 'guest',
    clientAcceptLanguage: {},
    uri: `${service.base}_principals/entry/_guest`,
  })
})

test('language and home context are present only when they are set (D3.1)', async () => {
  const bob = await newUser(service, admin)
  const before = (await bob.visitor.get('auth/user')).json()
  assert.deepEqual(Object.keys(before).sort(), ['authTokenExpires', 'clientAcceptLanguage', 'id', 'uri', 'user'])
  const context = await newContext(admin, [bob.id])
  const set = { language: 'sv', homecontext: context }
  assert.equal((await admin.put(`_principals/resource/${bob.id}`, set)).status, 204)
  const after = (await bob.visitor.get('auth/user')).json()
  assert.deepEqual([after['language'], after['homecontext']], ['sv', context])
  assert.equal((await admin.put(`_principals/resource/${bob.id}`, { language: '', homecontext: '' })).status, 204)
  assert.deepEqual(Object.keys((await bob.visitor.get('auth/user')).json()).sort(), Object.keys(before).sort())
})

test('administrators are told that they are, others are not (D14.20)', async () => {
  const bob = await newUser(service, admin)
  const isAdmin = async (visitor: typeof admin): Promise<unknown> => (await visitor.get('auth/user')).json()['isAdmin']
  assert.equal(await isAdmin(admin), true)
  assert.equal(await isAdmin(bob.visitor), undefined)
  assert.equal((await admin.put('_principals/resource/_admins', [bob.id])).status, 204)
  assert.equal(await isAdmin(bob.visitor), true)
  assert.equal((await admin.put('_principals/resource/_admins', [])).status, 204)
  assert.equal(await isAdmin(bob.visitor), undefined)
})

test('authTokenExpires is a text date-time in UTC (I2.2, D3.1)', async () => {
  const { authTokenExpires } = (await admin.get('auth/user')).json()
  assert.match(String(authTokenExpires), /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}$/)
})

test('clientAcceptLanguage mirrors the header, at most fifty tags, no prototype key (D3.1)', async () => {
  const reported = async (header: string): Promise<unknown> =>
    (await ask(`${service.base}auth/user`, { headers: { 'accept-language': header } })).json()['clientAcceptLanguage']
  assert.deepEqual(await reported('sv-SE,en;q=0.8,*;q=0.1'), { 'sv-SE': 1, en: 0.8, '*': 0.1 })
  assert.deepEqual(await reported('__proto__;q=0.5,en;q=2,constructor'), {})
  const many = Array.from({ length: 400 }, (_, index) => `x-${index}`).join(',')
  assert.equal(Object.keys((await reported(many)) as object).length, 50)
})

test('no response contains anything about a password, not even to the user', async () => {
  const bob = await newUser(service, admin)
  for (const visitor of [admin, bob.visitor]) {
    for (const path of ['auth/user', `_principals/resource/${bob.id}`, `_principals/entry/${bob.id}?includeAll`]) {
      const { text } = await visitor.get(path)
      assert.doesNotMatch(text, /argon2|password|\$/i, path)
      assert.ok(!text.includes(bob.password))
    }
  }
})

test('identity does not leak from one request into the next, after errors and side by side', async () => {
  const bob = await newUser(service, admin)
  const asked = Array.from({ length: 60 }, async (_, index) => {
    const [visitor, name] = [
      [admin, 'admin'],
      [bob.visitor, bob.name],
      [service.visitor(), 'guest'],
    ][index % 3] as [typeof admin, string]
    await visitor.get('auth/user?format=@&x=%zz')
    assert.equal((await visitor.get('auth/user?format=@')).json()['user'], name)
  })
  await Promise.all(asked)
})
