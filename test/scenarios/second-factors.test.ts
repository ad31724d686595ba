import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { codeOf, openStore } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { addApp, enrol, pendingCookie, prove, signInWith } from '../support/second-factors.ts'
import { newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const { system } = service
const admin = await service.admin()
const nameOf = (answer: { json(): Record<string, unknown> }): unknown => answer.json()['user']

test('an authenticator app counts once its first code was sent; the secret is sealed in the store (D28.1)', async t => {
  const { visitor, id } = await newUser(service, admin)
  const app = await enrol(visitor, system)
  assert.deepEqual((await visitor.get('auth/factors')).json(), { factors: [], recoveryCodes: 0, canAdd: ['totp'] })
  const wrong = await visitor.post(`auth/factors/${app.id}/confirm`, { code: app.wrongCode() })
  assert.deepEqual([wrong.status, codeOf(wrong)], [403, 'second-factor-wrong'])
  const confirmed = await visitor.post(`auth/factors/${app.id}/confirm`, { code: app.code() })
  assert.equal(confirmed.status, 200, confirmed.text)
  const { recoveryCodes } = confirmed.json<{ recoveryCodes: string[] }>()
  assert.equal(recoveryCodes.length, 10)
  const { factors } = (await visitor.get('auth/factors')).json<{ factors: Array<Record<string, unknown>> }>()
  assert.deepEqual(
    factors.map(({ id: factor, kind, name }) => ({ factor, kind, name })),
    [{ factor: app.id, kind: 'totp', name: 'Phone' }],
  )
  const database = await openStore(t, service)
  const stored = JSON.stringify([
    await database.all(sql`SELECT * FROM second_factors WHERE user_id = ${id}`),
    await database.all(sql`SELECT * FROM recovery_codes WHERE user_id = ${id}`),
  ])
  for (const code of recoveryCodes) assert.ok(!stored.includes(code) && !stored.includes(code.replaceAll('-', '')))
  const again = await visitor.post(`auth/factors/${app.id}/confirm`, { code: app.code() })
  assert.equal(again.status, 404, 'an enrolment is used up')
})

test('an enrolment ends after ten minutes, and when another one begins (D28.1)', async () => {
  const { visitor } = await newUser(service, admin)
  const first = await enrol(visitor, system)
  const second = await enrol(visitor, system)
  assert.equal((await visitor.post(`auth/factors/${first.id}/confirm`, { code: first.code() })).status, 404)
  system.pass(600_001)
  assert.equal((await visitor.post(`auth/factors/${second.id}/confirm`, { code: second.code() })).status, 404)
})

test('a sign-in opens a session after the second factor and not before (D28.2)', async () => {
  const user = await newUser(service, admin)
  const { app } = await addApp(user.visitor, system)
  const visitor = service.visitor()
  const first = await visitor.signIn(user.name, user.password)
  assert.deepEqual(
    [first.status, codeOf(first), first.json()['factors']],
    [401, 'second-factor-required', ['totp', 'recovery']],
  )
  assert.equal(visitor.cookie, undefined)
  const cookie = pendingCookie(first)
  assert.match(String(first.headers['set-cookie']), /stowage_2fa=[\w-]{43};.*SameSite=Lax; HttpOnly/)
  assert.equal(nameOf(await visitor.get('auth/user', { cookie })), 'guest')
  assert.deepEqual((await visitor.get('auth/factor', { cookie })).json(), { factors: ['totp', 'recovery'] })
  const second = await prove(visitor, cookie, { code: ` ${app.code().slice(0, 3)} ${app.code().slice(3)}` })
  assert.deepEqual([second.status, nameOf(second)], [200, user.name], second.text)
  assert.equal(nameOf(await visitor.get('auth/user')), user.name)
  assert.equal((await prove(visitor, cookie, { code: app.code(1) })).status, 401, 'the sign-in is complete')
})

test('a recovery code stands for the factor, once; ten new ones end the old ones (D28.1)', async () => {
  const user = await newUser(service, admin)
  const { recoveryCodes } = await addApp(user.visitor, system)
  const [one = '', two = ''] = recoveryCodes
  assert.equal((await signInWith(service.visitor(), user, one.toUpperCase().replaceAll('-', ' '))).status, 200)
  assert.equal((await signInWith(service.visitor(), user, one)).status, 403)
  const left = async (): Promise<unknown> => (await user.visitor.get('auth/factors')).json()['recoveryCodes']
  assert.equal(await left(), 9)
  const renewed = await user.visitor.post('auth/recovery-codes')
  assert.equal(renewed.status, 201, renewed.text)
  const [fresh = ''] = renewed.json<{ recoveryCodes: string[] }>().recoveryCodes
  assert.equal((await signInWith(service.visitor(), user, two)).status, 403)
  assert.equal((await signInWith(service.visitor(), user, fresh)).status, 200)
  assert.equal(await left(), 9)
})

test('a browser without scripts gets a form for the second step, and goes where it wanted to (D28.2)', async () => {
  const user = await newUser(service, admin)
  const { app } = await addApp(user.visitor, system)
  const visitor = service.visitor()
  const headers = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en' }
  const successurl = `${service.base}ui/#/files`
  const form = { auth_username: user.name, auth_password: user.password, successurl }
  const first = await visitor.ask('auth/cookie', { form, headers })
  assert.deepEqual([first.status, first.headers.location], [303, `${service.base}auth/factor`])
  const cookie = pendingCookie(first)
  const page = await visitor.get('auth/factor', { ...headers, cookie })
  assert.match(page.text, /<form method="post" action="[^"]*auth\/factor">[^]*name="code"/)
  const send = (code: string) => visitor.ask('auth/factor', { form: { code }, headers: { ...headers, cookie } })
  const wrong = await send(app.wrongCode())
  assert.equal(wrong.status, 403)
  assert.match(wrong.text, /role="alert"[^]*name="code"/)
  const right = await send(app.code())
  assert.deepEqual([right.status, right.headers.location], [303, successurl])
  assert.equal(nameOf(await visitor.get('auth/user')), user.name)
  const over = await send(app.code(1))
  assert.deepEqual([over.status, over.headers.location], [303, `${service.base}auth/login?ended`])
})

test('the first factor ends the other sessions of the user with the next request; the one that added it goes on (D28.4)', async () => {
  const user = await newUser(service, admin)
  const other = service.visitor()
  await other.signIn(user.name, user.password)
  await addApp(user.visitor, system)
  assert.equal(nameOf(await other.get('auth/user')), 'guest')
  assert.equal(nameOf(await user.visitor.get('auth/user')), user.name)
})

test('users list, rename and remove their own factors; with the last one the recovery codes go (D28.1)', async () => {
  const user = await newUser(service, admin)
  const { app } = await addApp(user.visitor, system)
  const { app: second } = await addApp(user.visitor, system, 'Tablet')
  const stranger = await newUser(service, admin)
  for (const [method, json] of [
    ['PATCH', { name: 'Mine' }],
    ['DELETE', undefined],
  ] as const) {
    assert.equal((await stranger.visitor.ask(`auth/factors/${app.id}`, { method, json })).status, 404)
  }
  assert.equal((await stranger.visitor.get(`auth/factors?user=${user.name}`)).status, 403)
  const renamed = await user.visitor.ask(`auth/factors/${app.id}`, { method: 'PATCH', json: { name: 'Old phone' } })
  assert.equal(renamed.status, 204)
  const names = async (): Promise<unknown[]> =>
    (await admin.get(`auth/factors?user=${user.name}`))
      .json<{ factors: Array<{ name: string }> }>()
      .factors.map(({ name }) => name)
  assert.deepEqual(await names(), ['Old phone', 'Tablet'])
  assert.equal((await user.visitor.delete(`auth/factors/${app.id}`)).status, 204)
  assert.deepEqual(await names(), ['Tablet'])
  assert.equal((await user.visitor.delete(`auth/factors/${second.id}`)).status, 204)
  assert.deepEqual((await user.visitor.get('auth/factors')).json(), { factors: [], recoveryCodes: 0, canAdd: ['totp'] })
  assert.equal((await service.visitor().signIn(user.name, user.password)).status, 200)
  assert.equal((await user.visitor.post('auth/recovery-codes')).status, 409)
})

test('an administrator removes all factors of a user who has lost them (D28.8)', async () => {
  const user = await newUser(service, admin)
  await addApp(user.visitor, system)
  assert.equal((await user.visitor.delete(`auth/factors?user=${user.name}`)).status, 403)
  const removed = await admin.delete(`auth/factors?user=${user.name}`)
  assert.deepEqual([removed.status, removed.json()], [200, { removed: 1 }])
  assert.equal((await service.visitor().signIn(user.name, user.password)).status, 200)
})

test('factors, their use and their removal are in the audit log, without a code (D28.7)', async () => {
  const user = await newUser(service, admin)
  const { app, recoveryCodes } = await addApp(user.visitor, system)
  await signInWith(service.visitor(), user, app.wrongCode())
  await signInWith(service.visitor(), user, app.code())
  await signInWith(service.visitor(), user, recoveryCodes[0] ?? '')
  await user.visitor.delete(`auth/factors/${app.id}`)
  const trail = await admin.get(`management/audit?user=${user.id}&limit=50`)
  const { events } = trail.json<{
    events: Array<{ event: string; userId: string; detail: Record<string, unknown> }>
  }>()
  const story = events
    // A part of a name or id is enough for the search.
    .filter(({ userId }) => userId === user.id)
    .reverse()
    .slice(2)
    .map(({ event, detail }) => [event, detail])
  const factor = { factor: app.id, kind: 'totp', name: 'Phone' }
  assert.deepEqual(story, [
    ['factor-added', factor],
    ['login-failed', { mechanism: 'totp' }],
    ['factor-used', factor],
    ['login', { mechanism: 'form', factor: 'totp' }],
    ['recovery-code-used', { left: 9 }],
    ['login', { mechanism: 'form', factor: 'recovery' }],
    ['factor-removed', factor],
  ])
})

test('a logout ends a sign-in that waits for its second factor, and removes the cookies of all that have begun (I3.1, D3.4)', async t => {
  const service = await startInProcess(t, {
    settings: {
      'service.auth.cas': 'on',
      'service.auth.cas.server.url': 'https://cas.example/',
      'service.auth.oidc': 'on',
      'service.auth.oidc.idps.1': 'campus',
      'service.auth.oidc.idp.campus.issuer': 'https://idp.example/',
      'service.auth.oidc.idp.campus.client-id': 'stowage',
    },
  })
  const user = await newUser(service, await service.admin())
  const { app } = await addApp(user.visitor, service.system)
  const visitor = service.visitor()
  const cookie = pendingCookie(await visitor.signIn(user.name, user.password))
  const begun = `${cookie}; stowage_oidc=${'o'.repeat(43)}; stowage_cas=${'c'.repeat(43)}`
  const left = await visitor.ask('auth/logout', { method: 'POST', headers: { cookie: begun } })
  for (const name of ['auth_token', 'stowage_2fa', 'stowage_oidc', 'stowage_cas'])
    assert.ok(
      left.headers['set-cookie']?.some(line => line.startsWith(`${name}=; Max-Age=0; `)),
      name,
    )
  assert.equal(codeOf(await prove(visitor, cookie, { code: app.code() })), 'sign-in-expired')
  assert.equal((await signInWith(visitor, user, app.code())).status, 200)
  const plain = await service.visitor().ask('auth/logout')
  assert.equal(plain.headers['set-cookie']?.length, 1, 'no cookie is removed that the browser does not have')
})
