import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { startBehind } from '../support/other-base.ts'
import { exchange, line, statusOf } from '../support/raw.ts'
import { ADMIN_PASSWORD, startInProcess } from '../support/service.ts'

const plain = await startInProcess({ after })
const nested = await startBehind({ after }, 'https://store.example/a/b/')
const admin = nested.visitor()
assert.equal((await admin.signIn('admin', ADMIN_PASSWORD)).status, 200)

test('an address under /store/ is the same resource as the one without (D1.2)', async () => {
  const someone = await plain.admin()
  for (const path of [
    'auth/user',
    'auth/login',
    '_principals/resource/_admin',
    '_contexts/entry/_contexts?includeAll',
  ]) {
    const [one, two] = [await someone.get(path), await someone.get(`store/${path}`)]
    assert.equal(two.status, one.status, path)
    assert.equal(two.text, one.text, path)
    assert.equal(two.headers['cache-control'], one.headers['cache-control'], path)
  }
})

test('under a base with a path the routes answer there, under /store/ and at the root (D1.2)', async () => {
  for (const prefix of ['', 'a/b/', 'store/']) {
    const answer = await admin.get(`${prefix}auth/user`)
    assert.equal(answer.status, 200, prefix)
    assert.equal(answer.headers['cache-control'], 'no-store', prefix)
    assert.equal(answer.json()['uri'], 'https://store.example/a/b/_principals/entry/_admin')
  }
  assert.equal((await admin.get('a/bc/auth/user')).status, 404)
})

test('cookie login and token list work through every equivalent address (D1.2)', async () => {
  const visitor = nested.visitor()
  const form = { auth_username: 'admin', auth_password: ADMIN_PASSWORD }
  assert.equal((await visitor.ask('a/b/auth/cookie', { form })).status, 200)
  assert.equal((await visitor.get('store/auth/tokens')).status, 200)
  assert.equal((await visitor.get('auth/logout')).status, 204)
})

test('a request may name the whole address; the host in it counts for nothing (D1.1, RFC 9112 3.2.2)', async () => {
  const answer = await exchange(nested.base, line('GET', 'http://evil.example/a/b/auth/user'))
  assert.equal(statusOf(answer), 200)
  assert.match(answer, /\r\ncache-control: no-store\r\n/)
  assert.doesNotMatch(answer, /evil/)
})

test('an escaped letter in the address does not lift no-store (D1.6)', async () => {
  const answer = await ask(`${plain.base}%61uth/user`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['cache-control'], 'no-store')
})

test('no URI in an answer comes from Host, X-Forwarded-Host or Forwarded (D1.1)', async () => {
  const headers = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'gopher',
    'x-forwarded-prefix': '/evil',
    'x-original-url': '/evil',
    'x-rewrite-url': '/evil',
    forwarded: 'host=evil.example;proto=gopher',
  }
  const created = await admin.ask('_contexts?graphtype=context', { method: 'POST', json: {}, headers })
  assert.equal(created.status, 201, created.text)
  assert.match(String(created.headers.location), /^https:\/\/store\.example\/a\/b\/_contexts\/entry\//)
  const pages = [
    await admin.get('auth/user', headers),
    await admin.get('auth/login', headers),
    await admin.get('_contexts/entry/_contexts?includeAll', headers),
    await ask(`${nested.base}auth/logout`, { headers: { ...headers, accept: 'text/html,application/xhtml+xml' } }),
  ]
  for (const page of pages) {
    assert.ok(page.status < 400)
    assert.doesNotMatch(JSON.stringify(page.headers) + page.text, /evil|gopher/)
  }
})

test('HSTS is sent when the base address is https, on refusals too, and never when it is http (D1.6)', async () => {
  for (const path of ['auth/user', 'nothing/at/all', 'auth/%zz']) {
    assert.match((await ask(nested.base + path)).headers['strict-transport-security'] ?? '', /^max-age=\d{7,}/)
    assert.equal((await ask(plain.base + path)).headers['strict-transport-security'], undefined)
  }
})

const everything: ReadonlyArray<readonly [method: string, path: string]> = [
  ['GET', 'auth/user'],
  ['GET', 'auth/login'],
  ['GET', 'auth/tokens'],
  ['DELETE', 'auth/tokens'],
  ['POST', 'auth/cookie'],
  ['GET', 'auth/cookie'],
  ['GET', 'auth/logout'],
  ['POST', 'auth/logout'],
  ['GET', 'auth/nothing'],
  ['GET', 'auth/%zz'],
  ['GET', 'auth/user?x=%zz'],
  ['PROPFIND', 'auth/user'],
]
for (const [method, path] of everything) {
  test(`${method} ${path}: no-store and the security headers, for JSON and for pages (D1.6)`, async () => {
    for (const accept of ['application/json', 'text/html']) {
      const { headers } = await ask(plain.base + path, { method, headers: { accept } })
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      // A page with a form lets browsers name its origin, never its address: without it the form would be refused.
      const isPage = String(headers['content-type']).startsWith('text/html')
      assert.match(String(headers['referrer-policy']), isPage ? /^(no-referrer|strict-origin)$/ : /^no-referrer$/)
      assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/)
      assert.match(String(headers['x-request-id']), /\S/)
      assert.equal(headers['x-powered-by'], undefined)
    }
  })
}

test('what a signed-in caller is answered elsewhere is private, what a guest is answered is not marked (D1.6)', async () => {
  const someone = await plain.admin()
  for (const path of ['management/status', '_contexts/entry/_contexts', 'nothing/entry/1']) {
    assert.equal((await someone.get(path)).headers['cache-control'], 'private', path)
    assert.equal((await plain.visitor().get(path)).headers['cache-control'], undefined, path)
  }
})

test('a page has its style, its scripts and its pictures from the service and may have none from elsewhere (D1.6, D14.2, D14.12)', async () => {
  const pages = [
    await ask(`${plain.base}auth/login`, { headers: { accept: 'text/html,application/xhtml+xml' } }),
    await ask(`${plain.base}auth/cookie`, { method: 'POST', headers: { accept: 'text/html,application/xhtml+xml' } }),
    await ask(`${plain.base}auth/cookie`, { method: 'PUT', headers: { accept: 'text/html,application/xhtml+xml' } }),
    await ask(`${plain.base}ui/`, { headers: { accept: 'text/html,application/xhtml+xml' } }),
  ]
  for (const page of pages) {
    assert.match(page.headers['content-type'] ?? '', /^text\/html/)
    const policy = String(page.headers['content-security-policy'])
    for (const kind of ['script-src', 'style-src', 'img-src']) assert.match(policy, new RegExp(`${kind} 'self';`))
    assert.doesNotMatch(policy + page.text, /unsafe|<style|style=|onclick/)
    const asked = [...page.text.matchAll(/(?:src|href)="([^"]*assets[^"]*)"/g)].map(match => match[1] ?? '')
    assert.ok(asked.length >= 2, page.text)
    for (const url of asked) assert.equal((await ask(url)).status, 200, url)
  }
})

test('every policy names the address for reports of violations, if there is one (D32.6)', async t => {
  const other = await startInProcess(t, { settings: { 'service.http.csp-report-url': 'https://h.example/r;a?b=1,2' } })
  const guest = other.visitor()
  for (const path of ['auth/user', 'auth/login', 'ui/', 'nothing/here']) {
    const policy = String((await guest.get(path)).headers['content-security-policy'])
    assert.match(policy, /^[^,]+; report-uri https:\/\/h\.example\/r%3Ba\?b=1%2C2$/, path)
  }
  assert.doesNotMatch(String((await plain.visitor().get('ui/')).headers['content-security-policy']), /report-uri/)
})
