import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_PASSWORD, startInProcess } from '../support/service.ts'

const PORTAL = 'https://portal.example'
const service = await startInProcess(
  { after },
  { settings: { 'service.cors': 'on', 'service.cors.origins.1': PORTAL } },
)
const preflight = (origin: string, path = '_contexts/entry/_contexts') => ({
  path,
  ask: { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PUT' } },
})

test('with CORS off there is no CORS header, and OPTIONS is refused like any unknown method (W3.0.5)', async t => {
  const plain = await startInProcess(t)
  const { path, ask } = preflight(PORTAL)
  const answer = await plain.visitor().ask(path, ask)
  assert.equal(answer.status, 405)
  const read = await plain.visitor().get('auth/user', { origin: PORTAL })
  assert.equal(
    Object.keys(read.headers).some(name => name.startsWith('access-control')),
    false,
  )
})

test('a listed origin gets its preflight answered, itself echoed and credentials allowed (W3.0.5)', async () => {
  const { path, ask } = preflight(PORTAL)
  const { status, headers } = await service.visitor().ask(path, ask)
  assert.equal(status, 204)
  assert.equal(headers['access-control-allow-origin'], PORTAL)
  assert.equal(headers['access-control-allow-credentials'], 'true')
  assert.equal(headers['access-control-max-age'], '7200')
  assert.match(String(headers['access-control-allow-headers']), /\bAuthorization\b/)
  for (const method of ['HEAD', 'GET', 'PUT', 'POST', 'DELETE', 'OPTIONS'])
    assert.match(String(headers['access-control-allow-methods']), new RegExp(`\\b${method}\\b`))
})

test('answers to a listed origin can be read, refusals too, with the headers that clients need (W3.0.5)', async () => {
  for (const path of ['auth/user', 'nothing/entry/1']) {
    const { headers } = await service.visitor().get(path, { origin: PORTAL })
    assert.equal(headers['access-control-allow-origin'], PORTAL)
    assert.match(String(headers['access-control-expose-headers']), /Location, Last-Modified, ETag/)
    assert.match(String(headers['vary']), /Origin/)
  }
})

const strangers = [
  'https://portal.example.evil',
  'http://portal.example',
  'https://portal.example:444',
  'null',
  'https://x',
]
for (const origin of strangers) {
  test(`the origin ${origin} is not the listed one: nothing is allowed to it (W3.0.5, D2.9)`, async () => {
    const { path, ask } = preflight(origin)
    const answer = await service.visitor().ask(path, ask)
    assert.equal(answer.headers['access-control-allow-origin'], undefined)
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
    assert.doesNotMatch(String(answer.headers['access-control-allow-headers']), /Authorization/)
    assert.match(String(answer.headers['vary']), /Origin/)
    const form = { auth_username: 'admin', auth_password: ADMIN_PASSWORD }
    assert.equal((await service.visitor().ask('auth/cookie', { form, headers: { origin } })).status, 403)
  })
}

test('a page of a listed origin can sign users in and change data with their cookie (D2.9)', async () => {
  const headers = { origin: PORTAL, 'sec-fetch-site': 'cross-site' }
  const visitor = service.visitor()
  const form = { auth_username: 'admin', auth_password: ADMIN_PASSWORD }
  assert.equal((await visitor.ask('auth/cookie', { form, headers })).status, 200)
  const created = await visitor.ask('_contexts?graphtype=context', { method: 'POST', headers })
  assert.equal(created.status, 201)
})

test('`*` lets every site read what guests may read, without credentials, and change nothing (D2.9)', async t => {
  const open = await startInProcess(t, { settings: { 'service.cors': 'on', 'service.cors.origins.1': '*' } })
  const read = await open.visitor().get('auth/user', { origin: 'https://anybody.example' })
  assert.equal(read.headers['access-control-allow-origin'], '*')
  assert.equal(read.headers['access-control-allow-credentials'], undefined)
  const admin = await open.admin()
  const headers = { origin: 'https://anybody.example' }
  assert.equal((await admin.ask('_contexts?graphtype=context', { method: 'POST', headers })).status, 403)
})
