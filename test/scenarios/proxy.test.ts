import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { assertRefused, principal, STORE } from '../support/content.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { listen } from '../support/listener.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

const MOST = 8 * 2 ** 20

const server = await listen({ after }, ({ url }, response) => {
  const answer = (headers: Record<string, string>, body: string | Buffer = 'a', status = 200): void =>
    void response.writeHead(status, headers).end(body)
  const value = url.searchParams.get('v') ?? ''
  switch (url.pathname) {
    case '/type':
      return answer({ 'content-type': value, 'set-cookie': 'a=b', 'access-control-allow-origin': '*', etag: '"x"' })
    case '/none':
      return answer({})
    case '/to':
      return answer({ location: value }, '', 302)
    case '/loop':
      return answer({ location: `/loop?v=${value}a` }, '', 307)
    case '/status':
      return answer({ 'content-type': 'text/plain' }, 'secret', Number(value))
    case '/gzip':
      return answer({ 'content-type': 'text/plain', 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(100_000)))
    case '/long':
      return answer({ 'content-type': 'text/plain' }, 'a'.repeat(Number(value)))
    case '/endless': {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const more = (): void => {
        while (!response.destroyed && response.write('a'.repeat(1000)));
      }
      response.on('drain', more)
      return more()
    }
    case '/broken':
      response.socket?.destroy()
      return undefined
    default:
      return answer({ 'content-type': 'text/turtle; charset="UTF-8"' }, '<a> <b> "ä" .')
  }
})
const allowed = new URL(server.origin).host
const closed = await listen({ after })
const forGuests = await listen({ after }, ({ url }, response) => {
  if (url.pathname === '/to') response.writeHead(302, { location: server.origin }).end()
  else response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
})

const service = await startInProcess(
  { after },
  {
    settings: {
      'service.proxy.private-hosts.1': allowed,
      'service.proxy.private-hosts.2': new URL(forGuests.origin).host,
      'service.proxy.guest-hosts.1': new URL(forGuests.origin).host,
      'service.jsonp': 'on',
    },
  },
)
const admin = await service.admin()
const { visitor: user, id: userId } = await newUser(service, admin)
const guest = service.visitor()

const fetchBy = (
  visitor: Visitor,
  url: string,
  headers: Record<string, string> = {},
  path = 'proxy',
): Promise<Answer> => visitor.get(`${path}?url=${encodeURIComponent(url)}`, headers)
const at = (path: string, value: string | number = ''): string =>
  `${server.origin}${path}?v=${encodeURIComponent(value)}`

test('a document of another server is passed on as it is, in a sandbox (W3.15, D13.5)', async () => {
  const answer = await fetchBy(user, `${server.origin}/data`, { accept: 'text/turtle' })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.text, '<a> <b> "ä" .')
  assert.equal(answer.headers['content-type'], 'text/turtle; charset=utf-8')
  assert.match(String(answer.headers['content-security-policy']), /^sandbox/)
  assert.equal(answer.headers['content-disposition'], 'attachment')
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.equal(answer.headers['cache-control'], 'private')
})

test('of the request nothing but Accept goes out, of the answer nothing but type and bytes comes back', async () => {
  const before = server.heard.length
  const answer = await fetchBy(user, at('/type', 'text/plain'), {
    accept: 'text/plain, */*;q=0.1',
    authorization: 'Basic YTpi',
    referer: 'http://secret.example/',
    'x-forwarded-for': '10.0.0.1',
    'if-none-match': '"x"',
    range: 'bytes=0-0',
  })
  assert.equal(answer.status, 200)
  const { method, headers } = server.heard[before] ?? assert.fail('nothing was fetched')
  assert.equal(method, 'GET')
  assert.deepEqual(
    { ...headers, connection: '' },
    {
      host: allowed,
      connection: '',
      'user-agent': 'Stowage/0.0.0',
      'accept-encoding': 'identity',
      accept: 'text/plain, */*;q=0.1',
    },
  )
  assert.equal(answer.headers['set-cookie'], undefined)
  assert.equal(answer.headers['access-control-allow-origin'], undefined)
  assert.equal(answer.headers.etag, undefined)
})

test('guests have nothing fetched but from listed hosts, also by way of redirects', async () => {
  assertRefused(await fetchBy(guest, `${server.origin}/data`), 401, 'not-signed-in')
  assert.equal((await fetchBy(guest, `${forGuests.origin}/a`)).text, '{}')
  assertRefused(await fetchBy(guest, `${forGuests.origin}/to`), 401, 'not-signed-in')
  assert.equal((await fetchBy(user, `${forGuests.origin}/to`)).status, 200)
})

test('by way of a context, who may read it has documents fetched; a guest as elsewhere', async () => {
  const context = await newContext(admin)
  const path = `${context}/proxy`
  assertRefused(await fetchBy(user, `${server.origin}/data`, {}, path), 403, 'not-allowed')
  const read = { [`${STORE}read`]: [principal(admin, userId), principal(admin, '_guest')] }
  assert.equal((await admin.put(`_contexts/entry/${context}`, { [admin.base + context]: read })).status, 204)
  assert.equal((await fetchBy(user, `${server.origin}/data`, {}, path)).status, 200)
  assertRefused(await fetchBy(guest, `${server.origin}/data`, {}, path), 401, 'not-signed-in')
  assert.equal((await fetchBy(guest, `${forGuests.origin}/a`, {}, path)).status, 200)
  assertRefused(await fetchBy(user, `${server.origin}/data`, {}, 'nowhere/proxy'), 404, 'not-found')
})

test('what only this machine can reach is not fetched, however it is written (SSRF)', async () => {
  const { port } = new URL(closed.origin)
  for (const host of ['127.0.0.1', '127.0.0.2', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::]', '0.0.0.0']) {
    assertRefused(await fetchBy(user, `http://${host}:${port}/`), 403, 'host-refused', host)
  }
  for (const host of ['127.1', '0x7f.1', '2130706433', '017700000001', '127.0.0.1.', 'a@127.0.0.1', '127.0.0.%31']) {
    assertRefused(await fetchBy(user, `http://${host}:${port}/`), 400, 'invalid-uri', host)
  }
  for (const url of ['file:///etc/passwd', 'ftp://example.org/', '/data', 'http:///a', `//${allowed}/`]) {
    assertRefused(await fetchBy(user, url), 400, 'invalid-uri', url)
  }
  for (const url of ['http://169.254.169.254/latest/meta-data/', 'http://[fd00:ec2::254]/', 'http://10.0.0.1/']) {
    assertRefused(await fetchBy(user, url), 403, 'host-refused', url)
  }
  // The allowance is for one port, not for the host.
  assertRefused(await fetchBy(user, closed.origin), 403, 'host-refused')
  assertRefused(await fetchBy(user, `${service.base}management/status`), 403, 'host-refused')
  assert.equal(closed.heard.length, 0)
  assertRefused(await user.get('proxy'), 400, 'invalid-query')
})

test('redirects are followed a few times and lead nowhere that may not be asked for', async () => {
  assert.equal((await fetchBy(user, at('/to', '/data'))).status, 200)
  assert.equal((await fetchBy(user, at('/to', at('/to', `//${allowed}/data`)))).status, 200)
  assertRefused(await fetchBy(user, at('/to', closed.origin)), 403, 'host-refused')
  assertRefused(await fetchBy(user, at('/to', 'http://169.254.169.254/')), 403, 'host-refused')
  for (const location of ['file:///etc/passwd', 'javascript:alert(1)', 'http://2130706433/', `http://a@${allowed}/`]) {
    assertRefused(await fetchBy(user, at('/to', location)), 502, 'upstream-failed', location)
  }
  const before = server.heard.length
  assertRefused(await fetchBy(user, at('/loop')), 502, 'upstream-failed')
  assert.equal(server.heard.length - before, 6)
  assert.equal(closed.heard.length, 0)
})

test('only texts are passed on, and none that a page could run', async () => {
  for (const type of ['text/html', 'application/json', 'application/rdf+xml', 'application/ld+json', 'text/csv']) {
    const answer = await fetchBy(user, at('/type', type))
    assert.equal(answer.headers['content-type'], type)
  }
  for (const type of [
    'text/javascript',
    'Text/JavaScript; charset=utf-8',
    'application/javascript',
    'application/x-javascript',
    'application/ecmascript',
    'text/css',
    'image/svg+xml',
    'image/png',
    'application/octet-stream',
    'application/wasm',
    'multipart/mixed; boundary=a',
    'nonsense',
  ]) {
    assertRefused(await fetchBy(user, at('/type', type)), 502, 'upstream-failed', type)
  }
  assertRefused(await fetchBy(user, at('/none')), 502, 'upstream-failed')
  assertRefused(await fetchBy(user, at('/gzip')), 502, 'upstream-failed')
})

test('refusals of another server are reported as such, without their text', async () => {
  for (const status of [400, 401, 404, 500, 304]) {
    const answer = await fetchBy(user, at('/status', status))
    assertRefused(answer, 502, 'upstream-failed', String(status))
    assert.match(answer.text, new RegExp(`status ${status}`))
    assert.doesNotMatch(answer.text, /secret/)
  }
})

test('size is limited, and a broken connection is reported (W3.15)', async () => {
  assert.equal((await fetchBy(user, at('/long', MOST))).bytes.length, MOST)
  assertRefused(await fetchBy(user, at('/long', MOST + 1)), 502, 'upstream-failed')
  assertRefused(await fetchBy(user, at('/endless')), 502, 'upstream-failed')
  assertRefused(await fetchBy(user, at('/broken')), 504, 'upstream-silent')
})

test('a document that is fetched never comes as a script, not even with `callback`', async () => {
  const answer = await guest.get(`proxy?callback=f&url=${encodeURIComponent(forGuests.origin)}`)
  assert.equal(answer.text, '{}')
  assert.equal(answer.headers['content-type'], 'application/json')
  assertRefused(await user.get(`proxy?callback=f&url=${encodeURIComponent(server.origin)}`), 401, 'not-signed-in')
})

test('with the proxy off, nothing is fetched for any caller', async t => {
  const plain = await startInProcess(t, { settings: { 'service.proxy': 'off' } })
  assertRefused(await fetchBy(await plain.admin(), 'http://example.org/'), 501, 'not-available')
})
