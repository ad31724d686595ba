import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { sendRaw } from '../support/raw-request.ts'
import { exchange, line, statusOf } from '../support/raw.ts'
import { newContext, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })

const problem = (answer: string): Record<string, unknown> =>
  JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>

/** Every refusal: a problem in JSON, the same status inside and outside, no framework's words, the headers of D1.6. */
function assertProblem(answer: string, status: number): void {
  assert.equal(statusOf(answer), status, answer)
  assert.match(answer, /\r\ncontent-type: application\/problem\+json; charset=utf-8\r\n/)
  for (const name of ['x-content-type-options', 'content-security-policy', 'referrer-policy']) {
    assert.ok(answer.includes(`\r\n${name}: `), `${name} is missing`)
  }
  const body = problem(answer)
  assert.equal(body['status'], status)
  assert.equal(body['error'], body['detail'])
  for (const member of ['type', 'title', 'detail', 'code']) assert.equal(typeof body[member], 'string', member)
  assert.doesNotMatch(answer, /FST_|statusCode|    at |node_modules/)
}

const badAddresses = [
  '/auth/%zz',
  '/auth/%',
  '/auth/%C0%AF',
  '/auth/%ff',
  '/auth/%00',
  '/1/entry/%00',
  '/auth/user?x=%',
  '/auth/user?x=%zz',
  '/auth/user?%ff=1',
  '/auth/user?x=%00',
  `/${'a'.repeat(1025)}/entry/1`,
]
for (const address of badAddresses) {
  test(`${address.slice(0, 40)} is bad syntax: 400 (D1.5)`, async () => {
    assertProblem(await exchange(service.base, line('GET', address)), 400)
  })
}

const unknownAddresses = [
  '/auth',
  '/auth/',
  '/auth/nothing',
  '/auth/user/',
  '/auth//user',
  '//auth/user',
  '/AUTH/user',
  '/auth/User',
  '/auth/user;x=1',
  '/%2e%2e/auth/user',
  '/../auth/user',
  '/auth%2Fuser/x/y',
  '/store/store/auth/user',
  '/no-such-context/entry/1',
  '/_contexts/entry/..%2F..%2Fetc',
  '*',
]
for (const address of unknownAddresses) {
  test(`there is nothing at ${address}: 404 (D1.5)`, async () => {
    assertProblem(await exchange(service.base, line('GET', address)), 404)
  })
}

test('addresses are case-sensitive and the refusal never echoes markup unescaped into a page', async () => {
  const answer = await ask(`${service.base}auth/<script>alert(1)</script>`, {
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  assert.equal(answer.status, 404)
  assert.match(answer.headers['content-type'] ?? '', /^text\/html/)
  assert.doesNotMatch(answer.text, /<script>alert/)
})

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('people get a page for an unknown address, and sign in first where they may not read a file (D14.8)', async () => {
  const admin = await service.admin()
  const context = await newContext(admin)
  await admin.post(`${context}?id=secret`)
  await admin.ask(`${context}/resource/secret`, { method: 'PUT', body: 'x' })
  const unknown = await ask(`${service.base}no/such/page`, { headers: html })
  assert.deepEqual([unknown.status, unknown.headers['content-type']], [404, 'text/html; charset=utf-8'])
  const url = `${service.base}${context}/resource/secret?download`
  const file = await ask(url, { headers: html })
  const query = new URLSearchParams({ successurl: url }).toString()
  assert.deepEqual([file.status, file.headers.location], [303, `${service.base}auth/login?${query}`])
  assert.equal((await ask(url)).status, 401, 'programs get the refusal')
  const image = await ask(url, { headers: { accept: 'image/avif,image/webp,*/*;q=0.8' } })
  assert.equal(image.status, 401, 'and so does what is not a page')
  for (const headers of [
    // What `HttpURLConnection` sends by default.
    { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' },
    { ...html, 'sec-fetch-mode': 'cors' },
  ]) {
    const program = await ask(url, { headers })
    assert.deepEqual([program.status, program.json()['code']], [401, 'not-signed-in'], headers.accept)
    assert.equal((await ask(`${service.base}auth/cookie`, { headers })).status, 405)
    assert.equal((await ask(service.base, { headers })).json()['service'], 'Stowage')
  }
})

test('who accepts JSON and no problems gets the same body as JSON (D1.4)', async () => {
  const of = async (accept?: string) => {
    const { headers, text } = await ask(
      `${service.base}auth/tokens`,
      accept === undefined ? {} : { headers: { accept } },
    )
    return [headers['content-type'], text]
  }
  const [problem, body] = await of('application/problem+json')
  assert.equal(problem, 'application/problem+json; charset=utf-8')
  assert.deepEqual(await of('application/json'), ['application/json; charset=utf-8', body])
  assert.deepEqual(await of('application/json, text/plain'), ['application/json; charset=utf-8', body])
  for (const accept of ['*/*', 'text/turtle', 'application/json, application/problem+json', 'application/json, */*'])
    assert.deepEqual(await of(accept), [problem, body], accept)
})

test('Enter in the address bar after a failed sign-in leads to the form again', async () => {
  const again = await ask(`${service.base}auth/cookie`, { headers: html })
  assert.deepEqual([again.status, again.headers.location], [303, `${service.base}auth/login`])
  const program = await ask(`${service.base}auth/cookie`)
  assert.deepEqual([program.status, program.headers.allow], [405, 'POST'])
  assert.equal((await ask(`${service.base}auth/cookie`, { method: 'DELETE', headers: html })).status, 405)
})

const allowed: ReadonlyArray<readonly [path: string, methods: readonly string[]]> = [
  ['/auth/cookie', ['POST']],
  ['/auth/logout', ['GET', 'HEAD', 'POST']],
  ['/auth/user', ['GET', 'HEAD']],
  ['/auth/login', ['GET', 'HEAD']],
  ['/auth/tokens', ['DELETE', 'GET', 'HEAD']],
  ['/management/status', ['GET', 'HEAD']],
  ['/_contexts', ['GET', 'HEAD', 'POST', 'PUT']],
  ['/_contexts/quota', ['DELETE', 'GET', 'HEAD', 'PUT']],
  ['/_principals/groups', ['POST']],
  ['/_contexts/entry/1', ['DELETE', 'GET', 'HEAD', 'PUT']],
  ['/_contexts/entry/1/name', ['GET', 'HEAD', 'PUT']],
  ['/_contexts/metadata/1', ['DELETE', 'GET', 'HEAD', 'PUT']],
  ['/_contexts/resource/1', ['DELETE', 'GET', 'HEAD', 'POST', 'PUT']],
]
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'LOCK', 'PURGE']
for (const [path, possible] of allowed) {
  test(`${path} refuses every other method with 405 and lists its own (I4, D1.5)`, async () => {
    for (const method of methods.filter(method => !possible.includes(method))) {
      const answer = await exchange(service.base, line(method, path))
      if (method === 'HEAD') assert.equal(statusOf(answer), 405)
      else assertProblem(answer, 405)
      const allow = /\r\nallow: ([^\r]*)\r\n/.exec(answer)?.[1]?.split(', ')
      assert.deepEqual(allow?.sort(), possible, method)
    }
  })
}

test('a wrong method at an unknown address is 404, not 405', async () => {
  assertProblem(await exchange(service.base, line('PATCH', '/auth/nothing')), 404)
})

test('X-HTTP-Method-Override and ?method= change nothing on /auth/ (D2.9)', async () => {
  const headers = 'X-HTTP-Method-Override: GET\r\nX-Method-Override: GET\r\nContent-Length: 0\r\n'
  assertProblem(await exchange(service.base, line('POST', '/auth/user?method=get&_method=GET', headers)), 405)
  const asDelete = await ask(`${service.base}auth/tokens?method=delete`, { method: 'POST', json: { scope: 'all' } })
  assert.equal(asDelete.status, 405)
  assertProblem(await exchange(service.base, line('POST', '/%61uth/tokens?method=delete', headers)), 405)
})

test('no JSONP on /auth/: a callback is passed over (D2.9)', async () => {
  const answer = await ask(`${service.base}auth/user?callback=evil&format=application/javascript`)
  assert.match(answer.headers['content-type'] ?? '', /^application\/json/)
  assert.equal(answer.json()['id'], '_guest')
})

const malformed: ReadonlyArray<readonly [what: string, bytes: string, status: number]> = [
  ['bytes that are no request', 'JUNK\r\n\r\n', 400],
  ['a method nobody knows', line('BREW', '/auth/user'), 400],
  ['a blank in the address', line('GET', '/auth/user x'), 400],
  ['no Host', 'GET /auth/user HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['a header of 20 000 bytes', line('GET', '/auth/user', `X-Long: ${'a'.repeat(20_000)}\r\n`), 431],
  ['an address of 20 000 bytes', line('GET', `/auth/user?${'a'.repeat(20_000)}`), 431],
  ['a cookie of 20 000 bytes', line('GET', '/auth/user', `Cookie: auth_token=${'a'.repeat(20_000)}\r\n`), 431],
  ['a line break inside a header', line('GET', '/auth/user', 'X: a\rb\r\n'), 400],
  ['a name with a blank before the colon', line('GET', '/auth/user', 'X : a\r\n'), 400],
  ['two lengths', line('POST', '/auth/cookie', 'Content-Length: 1\r\nContent-Length: 2\r\n'), 400],
  [
    'a length beside chunks, as request smuggling begins',
    line('POST', '/auth/cookie', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n') + '0\r\n\r\n',
    400,
  ],
]
for (const [what, bytes, status] of malformed) {
  test(`${what} is answered with a problem, too: ${status} (D1.4, D1.6)`, async () => {
    assertProblem(await exchange(service.base, bytes), status)
  })
}

test('a malformed request after a good one on the same connection is answered as well', async () => {
  const good = 'GET /auth/user HTTP/1.1\r\nHost: any\r\n\r\n'
  const answers = await exchange(service.base, `${good}JUNK\r\n\r\n`)
  assert.match(answers, /200 OK[^]*"_guest"[^]*400 Bad Request/)
})

for (const path of ['/1', '/%zz', '/a/%c3%28', `/a/entry/${'b'.repeat(1025)}`]) {
  test(`POST ${path.slice(0, 12)}: a request whose body turns malformed after its refusal gets no second response`, async () => {
    const head = [`POST ${path} HTTP/1.1`, 'Content-Type: application/json', 'Transfer-Encoding: chunked']
    // A proxy passes such a line on.
    for (const malformed of ['no chunk\r\n', '0\r\nx: a\u0001b\r\n\r\n']) {
      const refused = await sendRaw(service.base, head, '5\r\nhello\r\n')
      await refused.until(/\r\n\r\n\{.*\}/)
      refused.socket.write(malformed)
      await refused.closed
      assert.deepEqual(refused.received().match(/HTTP\/1\.1 \d+/g), [`HTTP/1.1 ${path === '/1' ? 401 : 400}`])
    }
  })
}

test('a request whose body turns malformed before its response gets one', async () => {
  const type = 'Content-Type: application/x-www-form-urlencoded'
  const head = ['POST /auth/cookie HTTP/1.1', type, 'Transfer-Encoding: chunked']
  const { closed, received } = await sendRaw(service.base, head, '5\r\nhello\r\nno chunk\r\n')
  await closed
  assert.deepEqual(received().match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400'])
})

test('an unknown expectation is ignored (RFC 9110 10.1.1)', async () => {
  assert.equal(statusOf(await exchange(service.base, line('GET', '/auth/user', 'Expect: 200-maybe\r\n'))), 200)
})

test('HEAD gives the status and headers of GET and no body', async () => {
  for (const path of ['auth/user', 'auth/login', 'auth/tokens', 'management/status', '_contexts/entry/_contexts']) {
    const [get, head] = await Promise.all([ask(service.base + path), ask(service.base + path, { method: 'HEAD' })])
    assert.equal(head.status, get.status, path)
    assert.equal(head.bytes.length, 0)
    for (const name of ['content-type', 'content-length', 'cache-control', 'etag']) {
      assert.equal(head.headers[name], get.headers[name], `${path} ${name}`)
    }
  }
})

test('a refused JSON body is not quoted: there may be a password in it (D1.4)', async () => {
  const admin = await service.admin()
  for (const body of ['{"password":"Geheim-12345" x}', 'Geheim-12345', '{"password":"Geheim-12345']) {
    const headers = { 'content-type': 'application/json' }
    const answer = await admin.ask('_principals/resource/_admin', { method: 'PUT', headers, body })
    assert.equal(answer.json<{ code: string }>().code, 'invalid-json')
    assert.equal(answer.text.includes('Geheim'), false, answer.text)
  }
})

test('a request may have 200 header fields, and with one more it is refused (D35.38)', async () => {
  const fields = (count: number): string[] => Array.from({ length: count }, (_, n) => `x-${n}: v`)
  // `Host` is one of them.
  const most = await sendRaw(service.base, ['GET /auth/user HTTP/1.1', ...fields(199)])
  await most.until(/^HTTP\/1\.1 200 /)
  for (const count of [200, 201, 1000]) {
    const tooMany = await sendRaw(service.base, ['GET /auth/user HTTP/1.1', ...fields(count)])
    await tooMany.until(/^HTTP\/1\.1 431 [^]*too many fields/)
    tooMany.socket.destroy()
  }
  most.socket.destroy()
})
