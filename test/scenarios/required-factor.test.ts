import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { basicAuth, codeOf } from '../support/accounts.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { addApp, signInWith } from '../support/second-factors.ts'
import { ADMIN_PASSWORD, newUser, startInProcess } from '../support/service.ts'

const settings = {
  'service.auth.second-factor': 'admins',
  'service.auth.second-factor.groups.1': 'Curators',
  'service.auth.http-basic': 'on',
}
const service = await startInProcess({ after }, { settings })
const { system } = service
const refusal = (answer: Answer): readonly unknown[] => [answer.status, codeOf(answer)]
const missing = [403, 'second-factor-missing']

const root = await service.admin()
let curators: string | undefined

async function addToCurators(userId: string): Promise<void> {
  if (curators === undefined) {
    const group = await root.post('_principals?graphtype=group', { resource: { name: 'curators', children: [] } })
    assert.equal(group.status, 201, group.text)
    curators = group.json<{ entryId: string }>().entryId
  }
  assert.ok((await root.put(`_principals/resource/${curators}`, [userId])).status < 300)
}

test('an administrator without a factor may only add one, with cookie, Basic and access token alike (D28.9)', async () => {
  for (const path of ['_contexts/entry/_contexts', 'management/status', 'auth/tokens', 'search?query=title:a']) {
    assert.deepEqual(refusal(await root.get(path)), missing, path)
  }
  assert.deepEqual(refusal(await root.post('_principals?graphtype=user', { resource: { name: 'x' } })), missing)
  assert.deepEqual(
    refusal(await service.visitor().get('management/status', basicAuth('admin', ADMIN_PASSWORD))),
    missing,
  )
  const me = (await root.get('auth/user')).json()
  assert.deepEqual([me['user'], me['secondFactor']], ['admin', 'missing'])
  const { app } = await addApp(root, system)
  assert.equal((await root.get('management/status')).status, 200)
  assert.equal((await root.get('auth/user')).json()['secondFactor'], undefined)
  const again = service.visitor()
  assert.equal((await signInWith(again, { name: 'admin', password: ADMIN_PASSWORD }, app.code())).status, 200)
  assert.equal((await again.get('management/status')).status, 200)
})

test('members of a named group must have one from the next request on; others are not asked (D28.9)', async () => {
  const user = await newUser(service, root)
  const other = await newUser(service, root)
  const expires = new Date(system.now() + 86_400_000).toISOString()
  const created = await user.visitor.post('auth/access-tokens', { name: 'program', expires, scopes: ['read'] })
  const program = { authorization: `Bearer ${created.json<{ token: string }>().token}` }
  const isServed = async (visitor: Visitor, headers = {}): Promise<unknown> =>
    (await visitor.get('auth/user/contexts', headers)).status
  assert.deepEqual([await isServed(user.visitor), await isServed(service.visitor(), program)], [200, 200])
  await addToCurators(user.id)
  assert.deepEqual([await isServed(user.visitor), await isServed(service.visitor(), program)], [403, 403])
  assert.equal(await isServed(other.visitor), 200)
  await addApp(user.visitor, system)
  assert.deepEqual([await isServed(user.visitor), await isServed(service.visitor(), program)], [200, 200])
})

test('a user who removes the factor that they must have is asked again in the same session (D28.9)', async () => {
  const user = await newUser(service, root)
  await addToCurators(user.id)
  const { app } = await addApp(user.visitor, system)
  assert.equal((await user.visitor.get('auth/user/contexts')).status, 200)
  assert.equal((await user.visitor.delete(`auth/factors/${app.id}`)).status, 204)
  assert.deepEqual(refusal(await user.visitor.get('auth/user/contexts')), missing)
})

test('with `all` every user needs one; with `off` no user can add one, and the login works as before (D28.9)', async t => {
  const all = await startInProcess(t, { settings: { 'service.auth.second-factor': 'all' } })
  const admin = await all.admin()
  await addApp(admin, all.system)
  const user = await newUser(all, admin)
  assert.deepEqual(refusal(await user.visitor.get('auth/user/contexts')), missing)
  assert.equal((await all.visitor().get('auth/user')).json()['user'], 'guest', 'guests are not asked')
  const off = await startInProcess(t, { settings: { 'service.auth.second-factor': 'off' } })
  const plain = await newUser(off, await off.admin())
  assert.equal((await plain.visitor.post('auth/factors', { kind: 'totp', name: 'Phone' })).status, 405)
  assert.equal((await plain.visitor.get('auth/user/contexts')).status, 200)
})
