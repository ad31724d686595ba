import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { startBehind } from '../support/other-base.ts'
import { ADMIN_PASSWORD, newUser, startInProcess } from '../support/service.ts'

// Many wrong passwords are sent here that are not what is tested.
const service = await startInProcess({ after }, { settings: { 'service.auth.temp.lockout.max.attempts': '-1' } })
const admin = await service.admin()
const bob = await newUser(service, admin)
const own = new URL(service.base).origin

const rows: ReadonlyArray<readonly [headers: Readonly<Record<string, string>>, allowed: boolean]> = [
  [{}, true],
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'none' }, true],
  [{ origin: own }, true],
  [{ origin: own, 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ origin: 'https://evil.example' }, false],
  [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, false],
  [{ origin: 'null' }, false],
  [{ origin: '' }, false],
  [{ origin: own.replace('127.0.0.1', 'localhost') }, false],
  [{ origin: own.replace('http:', 'https:') }, false],
  [{ origin: `${own}.evil.example` }, false],
  [{ origin: `${own}/` }, false],
  [{ origin: own.replace(/\d+$/, '1') }, false],
  [{ origin: `${own} https://evil.example` }, false],
  [{ origin: `http://sibling.127.0.0.1:${new URL(own).port}`, 'sec-fetch-site': 'same-site' }, false],
]
for (const [headers, allowed] of rows) {
  test(`changes with ${JSON.stringify(headers)} are ${allowed ? 'made' : 'refused'} (D2.9)`, async () => {
    const changes = [
      () => bob.visitor.ask(`_principals/resource/${bob.id}`, { method: 'PUT', json: { language: 'sv' }, headers }),
      () => bob.visitor.ask('auth/tokens', { method: 'DELETE', json: { scope: 'others' }, headers }),
      () => ask(`${service.base}auth/cookie`, { form: { auth_username: 'x', auth_password: 'x' }, headers }),
    ]
    for (const change of changes) {
      const answer = await change()
      const refused = answer.status === 403 && answer.json()['code'] === 'cross-site-request'
      assert.equal(refused, !allowed, answer.text)
    }
    const logout = await ask(`${service.base}auth/logout`, { method: 'POST', headers })
    assert.equal(logout.status, allowed ? 204 : 403)
  })
}

test('a page of another site can neither sign a user in or out nor change anything (D2.9)', async () => {
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  const form = { auth_username: bob.name, auth_password: bob.password }
  const login = await ask(`${service.base}auth/cookie`, { form, headers })
  assert.deepEqual([login.status, login.headers['set-cookie']], [403, undefined])
  assert.equal((await bob.visitor.ask('auth/logout', { method: 'POST', headers })).status, 403)
  assert.equal((await bob.visitor.get('auth/user')).json()['user'], bob.name)
  assert.equal((await admin.ask('_contexts?graphtype=context', { method: 'POST', headers })).status, 403)
})

test('reading is open to any origin’s navigation, and nothing is granted to its scripts (D2.9)', async () => {
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  const answer = await bob.visitor.get('auth/user', headers)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['access-control-allow-origin'], undefined)
})

test('a request without a cookie needs no protection: only the rights of the guest apply (D2.9)', async () => {
  const headers = { origin: 'https://evil.example' }
  const answer = await ask(`${service.base}_contexts?graphtype=context`, { method: 'POST', headers })
  assert.equal(answer.status, 401)
  const ignoring = await admin.ask('_contexts?graphtype=context&ignoreAuth', { method: 'POST', headers })
  assert.equal(ignoring.status, 401)
})

test('the origin that counts is the base address’s, not the one the request was sent to (D1.1, D2.9)', async t => {
  const nested = await startBehind(t, 'https://store.example/a/')
  const login = (origin: string) =>
    nested.visitor().ask('auth/cookie', {
      form: { auth_username: 'admin', auth_password: ADMIN_PASSWORD },
      headers: { origin, host: 'evil.example' },
    })
  assert.equal((await login('https://store.example')).status, 200)
  for (const origin of [
    'http://evil.example',
    'https://evil.example',
    nested.base.slice(0, -1),
    'http://store.example',
  ]) {
    assert.equal((await login(origin)).status, 403, origin)
  }
})
