import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, ask } from '../support/http-client.ts'
import { startBehind } from '../support/other-base.ts'
import { ADMIN_PASSWORD, newUser, startInProcess } from '../support/service.ts'
import { TICK } from '../support/token-store.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const cookieOf = (answer: Answer): string | undefined => answer.headers['set-cookie']?.[0]
const withoutExpires = (line: string): string => line.replace(/ Expires=[^;]+ GMT;/, '')
const userOf = (answer: Answer): unknown => answer.json()['user']

/** A service with these settings, and somebody signed in. */
async function signedIn(t: { after(work: () => Promise<void>): void }, settings: Readonly<Record<string, string>>) {
  const service = await startInProcess(t, { settings })
  const visitor = service.visitor()
  const answer = await visitor.signIn('admin', ADMIN_PASSWORD)
  assert.equal(answer.status, 200, answer.text)
  return { service, visitor, set: cookieOf(answer) ?? '' }
}

const flags: ReadonlyArray<readonly [settings: Readonly<Record<string, string>>, attributes: string]> = [
  [{}, 'Max-Age=86400; Path=/; SameSite=Strict; HttpOnly; Secure'],
  [{ samesite: 'lax' }, 'Max-Age=86400; Path=/; SameSite=Lax; HttpOnly; Secure'],
  [{ samesite: 'none', secure: 'off' }, 'Max-Age=86400; Path=/; SameSite=None; HttpOnly; Secure'],
  [{ secure: 'off' }, 'Max-Age=86400; Path=/; SameSite=Strict; HttpOnly'],
  [{ httponly: 'off' }, 'Max-Age=86400; Path=/; SameSite=Strict; Secure'],
  [{ 'max-age': '60' }, 'Max-Age=60; Path=/; SameSite=Strict; HttpOnly; Secure'],
  [{ 'max-age': '-1' }, 'Path=/; SameSite=Strict; HttpOnly; Secure'],
  [{ path: '/x' }, 'Max-Age=86400; Path=/x; SameSite=Strict; HttpOnly; Secure'],
]
for (const [settings, attributes] of flags) {
  test(`cookie settings ${JSON.stringify(settings)}: ${attributes}; cleared alike (I5.2)`, async t => {
    const all = Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [`service.auth.cookie.${key}`, value]),
    )
    const { visitor, set } = await signedIn(t, all)
    assert.equal(withoutExpires(set).replace(/^auth_token=[^;]+; /, ''), attributes)
    const cleared = cookieOf(await visitor.get('auth/logout')) ?? ''
    assert.equal(withoutExpires(cleared), `auth_token=; Max-Age=0; ${attributes.replace(/^Max-Age=\d+; /, '')}`)
  })
}

for (const path of ['/', '/store/', '/a/b/']) {
  test(`path=auto under the base path ${path} (D2.8)`, async t => {
    const service = await startBehind(t, `http://store.example${path}`)
    const answer = await service.visitor().signIn('admin', ADMIN_PASSWORD)
    assert.match(cookieOf(answer) ?? '', new RegExp(`; Path=${path};`))
  })
}

test('max-age -1: the login ends after a day without a call, and the cookie is never sent again (D2.5)', async t => {
  const { service, visitor } = await signedIn(t, { 'service.auth.cookie.max-age': '-1' })
  for (let day = 0; day < 3; day++) {
    service.system.pass(DAY - TICK)
    const answer = await visitor.get('auth/user')
    assert.equal(userOf(answer), 'admin')
    assert.equal(cookieOf(answer), undefined)
  }
  service.system.pass(DAY)
  assert.equal(userOf(await visitor.get('auth/user')), 'guest')
})

/** `Expires` goes by the clock of the machine. */
const withoutTime = (cookie = ''): string => cookie.replace(/ Expires=[^;]*;/, '')

test('with refresh on, successful calls keep a login alive and the cookie is sent before it dies (D2.5, D2.6)', async t => {
  const { service, visitor, set } = await signedIn(t, {})
  const token = visitor.cookie
  let dies = service.system.now() + DAY
  for (let hours = 0; hours < 100; hours += 20) {
    service.system.pass(20 * HOUR)
    assert.ok(service.system.now() < dies, 'the browser has dropped the cookie')
    const answer = await visitor.get('auth/user')
    assert.equal(userOf(answer), 'admin')
    assert.equal(withoutTime(cookieOf(answer)), withoutTime(set))
    dies = service.system.now() + DAY
  }
  assert.equal(visitor.cookie, token)
})

test('the cookie is not sent at every call (D2.5)', async t => {
  const { visitor } = await signedIn(t, {})
  for (let count = 0; count < 3; count++) assert.equal(cookieOf(await visitor.get('auth/user')), undefined)
})

test('refused calls do not prolong a login (I3.1)', async t => {
  const { service, visitor } = await signedIn(t, {})
  service.system.pass(23 * HOUR)
  assert.equal(cookieOf(await visitor.get('nothing/at/all')), undefined)
  assert.equal((await visitor.get('no-such-context/entry/1')).status, 404)
  service.system.pass(HOUR)
  assert.equal(userOf(await visitor.get('auth/user')), 'guest')
})

test('calls for what is the same for everybody prolong a login as well (I3.1)', async t => {
  const { service, visitor, set } = await signedIn(t, {})
  for (const path of ['openapi.json', 'auth/login', 'ui/', 'ui/account', 'management/health']) {
    service.system.pass(23 * HOUR)
    const answer = await visitor.get(path)
    assert.equal(withoutTime(cookieOf(answer)), withoutTime(set), path)
    assert.match(answer.headers['cache-control'] ?? '', /private|no-store/, path)
    service.system.pass(2 * HOUR)
    assert.equal(userOf(await visitor.get('auth/user')), 'admin', path)
  }
  service.system.pass(23 * HOUR)
  for (const path of ['openapi.json?ignoreAuth', 'management/none'])
    assert.equal(cookieOf(await visitor.get(path)), undefined)
  const asset = /ui\/assets\/[\w.-]+\.js/.exec((await service.visitor().get('ui/')).text)?.[0] ?? ''
  const file = await visitor.get(asset)
  assert.deepEqual([file.status, cookieOf(file)], [200, undefined], 'any cache may answer with it')
  service.system.pass(HOUR)
  assert.equal(userOf(await visitor.get('auth/user')), 'guest')
})

test('with refresh off the session ends at its max age, whatever requests are made (I3.1)', async t => {
  const { service, visitor } = await signedIn(t, { 'service.auth.cookie.refresh-expiration-on-access': 'off' })
  const before = (await visitor.get('auth/user')).json()['authTokenExpires']
  service.system.pass(DAY - TICK)
  const answer = await visitor.get('auth/user')
  assert.equal(userOf(answer), 'admin')
  assert.equal(answer.json()['authTokenExpires'], before)
  service.system.pass(TICK)
  const after = await visitor.get('auth/user')
  assert.equal(userOf(after), 'guest')
  assert.match(cookieOf(after) ?? '', /^auth_token=; Max-Age=0; /)
})

test('with refresh on, authTokenExpires is the expiry after this request (D3.1)', async t => {
  const { service, visitor } = await signedIn(t, {})
  service.system.pass(HOUR)
  assert.equal((await visitor.get('auth/user')).json()['authTokenExpires'], 'Sun Nov 22 11:00:00 UTC 2026')
  const [login] = Object.values((await visitor.get('auth/tokens')).json<Record<string, Record<string, string>>>())
  assert.equal(login?.['loginExpiration'], '2026-11-22T11:00:00.000000')
})

test('a busy login ends at the absolute cap, and cookie and expiry never promise more (D2.6)', async t => {
  const { service, visitor } = await signedIn(t, { 'service.auth.token.absolute-max-age': '172800' })
  for (let hours = 10; hours < 48; hours += 10) {
    service.system.pass(10 * HOUR)
    const answer = await visitor.get('auth/user')
    assert.equal(userOf(answer), 'admin')
    const life = Number(/Max-Age=(\d+)/.exec(cookieOf(answer) ?? '')?.[1])
    assert.equal(life, Math.min(24, 48 - hours) * 3600)
  }
  service.system.pass(8 * HOUR)
  assert.equal(userOf(await visitor.get('auth/user')), 'guest')
})

test('a longer max age raises the default of the absolute cap; a cap that is set stays (I5.2, D2.6)', async t => {
  const settings = { 'service.auth.cookie.max-age': String((60 * DAY) / 1000) }
  const { service, visitor, set } = await signedIn(t, settings)
  assert.match(set, /Max-Age=5184000;/)
  service.system.pass(60 * DAY - TICK)
  assert.equal(userOf(await visitor.get('auth/user')), 'admin')
  service.system.pass(TICK)
  assert.equal(userOf(await visitor.get('auth/user')), 'guest')
  const capped = await signedIn(t, { ...settings, 'service.auth.token.absolute-max-age': '2592000' })
  assert.match(capped.set, /Max-Age=2592000;/)
})

test('a session above the maximum of a user ends the oldest one (D2.6)', async t => {
  const { service, visitor: first } = await signedIn(t, { 'service.auth.token.max-per-user': '2' })
  const second = await service.admin()
  const third = await service.admin()
  assert.equal(userOf(await first.get('auth/user')), 'guest')
  assert.equal(userOf(await second.get('auth/user')), 'admin')
  assert.equal(Object.keys((await third.get('auth/tokens')).json()).length, 2)
})

test('an unknown token makes a guest and is cleared; with invalid-token-error it is 401, but not at login and logout (D2.7)', async t => {
  const lenient = await startInProcess(t)
  const strict = await startInProcess(t, { settings: { 'service.auth.cookie.invalid-token-error': 'on' } })
  const headers = { cookie: `auth_token=${'x'.repeat(43)}` }
  const answer = await ask(`${lenient.base}auth/user`, { headers })
  assert.deepEqual([answer.status, userOf(answer)], [200, 'guest'])
  assert.match(cookieOf(answer) ?? '', /^auth_token=; Max-Age=0; /)

  for (const path of ['auth/user', 'auth/tokens', 'management/status', '_contexts/entry/_contexts']) {
    const refused = await ask(strict.base + path, { headers })
    assert.deepEqual([refused.status, refused.json()['code']], [401, 'invalid-token'], path)
    assert.match(cookieOf(refused) ?? '', /^auth_token=; Max-Age=0; /)
  }
  assert.equal((await ask(`${strict.base}auth/user?ignoreAuth`, { headers })).status, 200)
  assert.equal((await ask(`${strict.base}auth/user`)).status, 200)
  assert.equal((await ask(`${strict.base}auth/login`, { headers })).status, 200)
  assert.equal((await ask(`${strict.base}auth/logout`, { headers })).status, 204)
  const form = { auth_username: 'admin', auth_password: ADMIN_PASSWORD }
  assert.equal((await ask(`${strict.base}auth/cookie`, { form, headers })).status, 200)
})

test('ignoreAuth lowers any request to a guest’s, without ending or prolonging the login (I4, D18.4)', async t => {
  const { service, visitor } = await signedIn(t, {})
  service.system.pass(2 * HOUR)
  for (const query of ['ignoreAuth', 'ignoreAuth=', 'ignoreAuth=true', 'x=1&ignoreAuth']) {
    const answer = await visitor.get(`auth/user?${query}`)
    assert.deepEqual([userOf(answer), cookieOf(answer)], ['guest', undefined])
    assert.equal(answer.json()['authTokenExpires'], undefined)
  }
  assert.equal((await visitor.get('auth/tokens?ignoreAuth')).status, 401)
  assert.equal((await visitor.post('_contexts?graphtype=context&ignoreAuth')).status, 401)
  assert.equal((await visitor.put('_principals/resource/_admin?ignoreAuth', { language: 'sv' })).status, 401)
  service.system.pass(22 * HOUR)
  assert.equal(userOf(await visitor.get('auth/user')), 'guest')
})

test('of two auth_token cookies each is tried; logout ends both (D2.8)', async t => {
  const { service, visitor: one } = await signedIn(t, {})
  const two = await service.admin()
  const bogus = 'x'.repeat(43)
  for (const cookie of [
    `auth_token=${bogus}; auth_token=${one.cookie}`,
    `auth_token=${one.cookie}; auth_token=${bogus}`,
  ]) {
    const answer = await ask(`${service.base}auth/user`, { headers: { cookie } })
    assert.deepEqual([userOf(answer), cookieOf(answer)], ['admin', undefined])
  }
  const cookie = `auth_token=${one.cookie}; auth_token=${two.cookie}`
  assert.equal((await ask(`${service.base}auth/logout`, { headers: { cookie } })).status, 204)
  for (const visitor of [one, two]) assert.equal(userOf(await visitor.get('auth/user')), 'guest')
})

test('logout: 204 with and without a cookie, by GET and POST, 303 for a browser; the token is dead at once (D3.4)', async t => {
  const { service } = await signedIn(t, {})
  for (const method of ['GET', 'POST']) {
    const visitor = await service.admin()
    const { cookie } = visitor
    const answer = await visitor.ask('auth/logout', { method })
    assert.deepEqual([answer.status, answer.text], [204, ''])
    assert.equal(visitor.cookie, undefined)
    const again = await ask(`${service.base}auth/user`, { headers: { cookie: `auth_token=${cookie}` } })
    assert.equal(userOf(again), 'guest')
    assert.equal((await ask(`${service.base}auth/logout`, { method })).status, 204)
    const page = await ask(`${service.base}auth/logout`, {
      method,
      headers: { accept: 'text/html,application/xhtml+xml' },
    })
    assert.deepEqual([page.status, page.headers.location], [303, `${service.base}auth/login`])
    // A program that prefers HTML is not led on (D3.4).
    const program = await ask(`${service.base}auth/logout`, { method, headers: { accept: 'text/html, */*; q=.2' } })
    assert.deepEqual([program.status, program.headers['content-type']], [200, 'text/html; charset=utf-8'])
    assert.match(program.text, /You are signed out\./)
    assert.match(cookieOf(program) ?? '', /^auth_token=; Max-Age=0; /)
  }
})

test('a whole Set-Cookie text sent back as cookie is understood (W3.1.2)', async t => {
  const { service, set } = await signedIn(t, {})
  assert.equal(userOf(await ask(`${service.base}auth/user`, { headers: { cookie: set } })), 'admin')
})

test('the token counts as a cookie only: not in the query, a form, or another header', async t => {
  const { service, visitor } = await signedIn(t, {})
  const token = visitor.cookie ?? ''
  const headers = { authorization: `Bearer ${token}`, 'x-auth-token': token, auth_token: token }
  assert.equal(userOf(await ask(`${service.base}auth/user?auth_token=${token}`, { headers })), 'guest')
})

test('Basic credentials are ignored while HTTP Basic is off, and /auth/basic is not there (D4.1)', async t => {
  const { service } = await signedIn(t, {})
  const authorization = `Basic ${Buffer.from(`admin:${ADMIN_PASSWORD}`).toString('base64')}`
  assert.equal(userOf(await ask(`${service.base}auth/user`, { headers: { authorization } })), 'guest')
  assert.equal((await ask(`${service.base}auth/basic`, { headers: { authorization } })).status, 404)
})

test('a deleted user’s login ends, and a new user of that name inherits nothing (D1.7)', async t => {
  const { service, visitor: admin } = await signedIn(t, {})
  const bob = await newUser(service, admin)
  assert.equal((await admin.delete(`_principals/entry/${bob.id}`)).status, 204)
  const again = await admin.post('_principals?graphtype=user', { resource: { name: bob.name, password: bob.password } })
  assert.equal(again.status, 201, again.text)
  assert.equal(userOf(await bob.visitor.get('auth/user')), 'guest')
})

test('a renamed user keeps the session; a new user of the old name does not get it (D1.7)', async t => {
  const { service, visitor: admin } = await signedIn(t, {})
  const bob = await newUser(service, admin)
  assert.equal((await admin.put(`_principals/entry/${bob.id}/name`, { name: ' Robert ' })).status, 204)
  const heir = await admin.post('_principals?graphtype=user', { resource: { name: bob.name, password: bob.password } })
  assert.equal(heir.status, 201, heir.text)
  const answer = await bob.visitor.get('auth/user')
  assert.deepEqual([answer.json()['id'], userOf(answer)], [bob.id, 'robert'])
  const [login] = Object.values((await bob.visitor.get('auth/tokens')).json<Record<string, Record<string, string>>>())
  assert.equal(login?.['userName'], 'robert')
})
