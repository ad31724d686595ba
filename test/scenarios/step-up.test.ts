import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, GOOD_PASSWORD, NEXT_PASSWORD, userPath, WRONG_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { graphOf, principal, STORE } from '../support/content.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { addApp, signInWith } from '../support/second-factors.ts'
import { newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const { system } = service
const admin = await service.admin()
const expires = new Date(system.now() + 86_400_000).toISOString()
const refusal = (answer: Answer): readonly unknown[] => [answer.status, codeOf(answer)]
const newToken = (visitor: Visitor): Promise<Answer> =>
  visitor.post('auth/access-tokens', { name: 'program', expires, scopes: ['read'] })

test('with a factor, what decides about an account needs a recent proof, and the refused request can be repeated (D28.6)', async () => {
  const user = await newUser(service, admin)
  const { app, recoveryCodes } = await addApp(user.visitor, system)
  const { visitor } = user
  const token = (await newToken(visitor)).json<{ id: string }>().id
  system.pass(300_001)
  const requests: ReadonlyArray<() => Promise<Answer>> = [
    () => visitor.put(userPath(user.id), { password: NEXT_PASSWORD, currentPassword: GOOD_PASSWORD }),
    () => visitor.post('auth/factors', { kind: 'totp', name: 'Tablet' }),
    () => visitor.delete(`auth/factors/${app.id}`),
    () => visitor.post('auth/recovery-codes'),
    () => newToken(visitor),
    () => visitor.delete(`auth/access-tokens/${token}`),
  ]
  for (const send of requests) assert.deepEqual(refusal(await send()), [403, 'fresh-sign-in-required'], String(send))
  assert.equal((await visitor.put(userPath(user.id), { language: 'sv' })).status, 204, 'the rest goes on')
  assert.deepEqual(refusal(await visitor.post('auth/fresh', { password: GOOD_PASSWORD })), [
    403,
    'fresh-sign-in-required',
  ])
  assert.deepEqual(refusal(await visitor.post('auth/fresh', { code: app.wrongCode() })), [403, 'second-factor-wrong'])
  assert.equal((await visitor.post('auth/fresh', { code: app.code() })).status, 204)
  assert.equal((await requests[0]?.())?.status, 204, 'the same request again')
  system.pass(300_001)
  assert.deepEqual(refusal(await newToken(visitor)), [403, 'fresh-sign-in-required'], 'a proof counts for five minutes')
  assert.equal((await visitor.post('auth/fresh', { code: recoveryCodes[0] })).status, 204)
  assert.equal((await newToken(visitor)).status, 201)
})

test('an administrator with a factor proves it again before changing the account of another user (D28.6)', async () => {
  const boss = await newUser(service, admin)
  const joined = await admin.put('_principals/resource/_admins', [boss.id])
  assert.ok(joined.status < 300, joined.text)
  const { app } = await addApp(boss.visitor, system)
  const user = await newUser(service, admin)
  const readable = (id: string) =>
    graphOf(`${admin.base}_contexts/resource/${id}`, `${STORE}read`, principal(admin, '_users'))
  const made = await admin.post('_principals?graphtype=group', { resource: { name: 'managers' } })
  const { entryId: managers } = made.json<{ entryId: string }>()
  const appointing = graphOf(`${admin.base}_principals/resource/_admins`, `${STORE}write`, principal(admin, managers))
  assert.equal((await admin.put('_principals/entry/_admins', appointing)).status, 204)
  system.pass(300_001)
  const admins = `${service.base}_principals/entry/_admins`
  const requests: ReadonlyArray<() => Promise<Answer>> = [
    () => boss.visitor.put('_principals/resource/_admins', ['_admin', boss.id, user.id]),
    () =>
      boss.visitor.post(`_principals?graphtype=user&groupURI=${encodeURIComponent(admins)}`, {
        resource: { name: 'accomplice' },
      }),
    () => boss.visitor.put(userPath(user.id), { password: NEXT_PASSWORD }),
    () => boss.visitor.put(userPath(user.id), { disabled: true }),
    () => boss.visitor.delete(`auth/factors?user=${user.name}`),
    () => boss.visitor.put(`_principals/entry/${user.id}`, {}),
    () => boss.visitor.put('_contexts/entry/_principals', readable('_principals')),
    () => boss.visitor.put('_contexts/entry/_contexts', readable('_contexts')),
    () => boss.visitor.put('_principals/entry/_admins', {}),
    () =>
      boss.visitor.post('_principals?graphtype=user', { resource: { name: 'with-password', password: GOOD_PASSWORD } }),
    () => boss.visitor.delete(`management/lockouts?user=${user.name}`),
    () => boss.visitor.put(`_principals/resource/${managers}`, [user.id]),
    () => boss.visitor.put(`_principals/entry/${managers}/name`, { name: 'leaders' }),
    () => boss.visitor.delete(`_principals/entry/${user.id}`),
  ]
  for (const send of requests) assert.deepEqual(refusal(await send()), [403, 'fresh-sign-in-required'], String(send))
  assert.equal((await boss.visitor.post('auth/fresh', { code: app.code() })).status, 204)
  for (const send of requests) assert.ok((await send()).status < 300, String(send))
})

test('users without a factor are never asked by default, however old their session is (D28.6)', async () => {
  const user = await newUser(service, admin)
  system.pass(3_600_000)
  assert.equal((await newToken(user.visitor)).status, 201)
  const change = { password: NEXT_PASSWORD, currentPassword: GOOD_PASSWORD }
  assert.equal((await user.visitor.put(userPath(user.id), change)).status, 204)
})

test('with `all`, users without a factor prove their password; with `off` no user proves anything (D28.6)', async t => {
  const all = await startInProcess(t, { settings: { 'service.auth.step-up': 'all', 'service.auth.http-basic': 'on' } })
  const root = await all.admin()
  const user = await newUser(all, root)
  all.system.pass(300_001)
  assert.deepEqual(refusal(await newToken(user.visitor)), [403, 'fresh-sign-in-required'])
  assert.deepEqual(refusal(await user.visitor.post('auth/fresh', { password: WRONG_PASSWORD })), [
    403,
    'current-password-wrong',
  ])
  assert.equal((await user.visitor.post('auth/fresh', { password: GOOD_PASSWORD })).status, 204)
  assert.equal((await newToken(user.visitor)).status, 201)
  const off = await startInProcess(t, { settings: { 'service.auth.step-up': 'off' } })
  const guarded = await newUser(off, await off.admin())
  await addApp(guarded.visitor, off.system)
  off.system.pass(3_600_000)
  assert.equal((await newToken(guarded.visitor)).status, 201)
})

test('a new proof is on record (D28.7)', async () => {
  const user = await newUser(service, admin)
  const { app } = await addApp(user.visitor, system)
  await user.visitor.post('auth/fresh', { code: app.code() })
  const { events } = (await admin.get(`management/audit?user=${user.id}&limit=2`)).json<{
    events: Array<Record<string, unknown>>
  }>()
  assert.deepEqual(
    events.map(({ event, detail }) => [event, detail]),
    [
      ['step-up', { mechanism: 'totp' }],
      ['factor-used', { factor: app.id, kind: 'totp', name: 'Phone' }],
    ],
  )
})

test('an old session does not learn the tokens of other sessions, which may be fresh (D3.2, D28.6)', async () => {
  const user = await newUser(service, admin)
  const { app } = await addApp(user.visitor, system)
  system.pass(300_001)
  const fresh = service.visitor()
  assert.equal((await signInWith(fresh, user, app.code())).status, 200)
  const listed = async (visitor: Visitor): Promise<readonly string[]> =>
    Object.keys((await visitor.get('auth/tokens')).json()).toSorted()
  const [old = '', young = ''] = [user.visitor.cookie, fresh.cookie]
  assert.deepEqual(await listed(fresh), [old, young].toSorted(), 'a fresh one learns them')
  const byOld = await listed(user.visitor)
  assert.ok(byOld.includes(old) && !byOld.includes(young) && byOld.length === 2)
  const handle = byOld.find(name => name !== old)
  assert.equal((await user.visitor.ask('auth/tokens', { method: 'DELETE', json: { token: handle } })).status, 204)
  assert.deepEqual(await listed(user.visitor), [old])
})
