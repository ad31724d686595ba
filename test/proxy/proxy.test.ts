import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Caller, guestFrom } from '../../src/accounts/caller.ts'
import { Forbidden } from '../../src/base/errors.ts'
import { Proxy } from '../../src/features/proxy/proxy.ts'
import { listen } from '../support/listener.ts'

const guest = guestFrom({ address: '127.0.0.1', userAgent: '', device: undefined })
const user: Caller = { ...guest, user: { ...guest.user, id: '7', name: 'anna' } }
const text = { 'content-type': 'text/plain' }
const options = { userAgent: 'test' }
const here = { address: '127.0.0.1', family: 4 }

test('a name is resolved once for a request, and the connection goes just there (DNS rebinding)', async t => {
  const server = await listen(t, (_, response) => response.writeHead(200, text).end('here'))
  const { port } = new URL(server.origin)
  let asked = 0
  // Unknown to the system: only what was checked can lead to the server.
  const host = `rebinding.invalid:${port}`
  const resolve = async () => (++asked === 1 ? [here] : [{ address: '127.0.0.9', family: 4 }])
  const proxy = new Proxy({ ...options, hosts: { forGuests: [], private: [host] } }, resolve)
  const { signal } = new AbortController()
  const fetched = await proxy.fetch(user, { url: `http://${host}/a`, accept: undefined, signal })
  assert.equal(Buffer.from(fetched.bytes).toString(), 'here')
  assert.equal(asked, 1)
  assert.equal(server.heard[0]?.headers.host, host)
})

test('a public name that leads to this machine on the second look is refused on the second request', async t => {
  const server = await listen(t)
  const { port } = new URL(server.origin)
  const proxy = new Proxy({ ...options, hosts: { forGuests: [], private: [] } }, async () => [here])
  const { signal } = new AbortController()
  const wanted = { url: `http://example.org:${port}/`, accept: undefined, signal }
  await assert.rejects(proxy.fetch(user, wanted), Forbidden)
  assert.equal(server.heard.length, 0)
})

test('each redirect is checked anew, by name and address', async t => {
  const inner = await listen(t, (_, response) => response.writeHead(200, text).end('secret'))
  const outer = await listen(t, (_, response) => response.writeHead(302, { location: inner.origin }).end())
  const host = new URL(outer.origin).host
  const proxy = new Proxy({ ...options, hosts: { forGuests: [], private: [host] } })
  const { signal } = new AbortController()
  await assert.rejects(proxy.fetch(user, { url: outer.origin, accept: undefined, signal }), Forbidden)
  assert.equal(outer.heard.length, 1)
  assert.equal(inner.heard.length, 0)
})

test('a name server that does not answer ends with the time for the whole', async t => {
  // A time-out alone does not keep a process going; a service does.
  await listen(t)
  const hosts = { forGuests: [], private: [] }
  const proxy = new Proxy({ ...options, timeout: 20, hosts }, () => new Promise(() => undefined))
  const { signal } = new AbortController()
  const fetching = proxy.fetch(user, { url: 'http://example.org/', accept: undefined, signal })
  await assert.rejects(fetching, { name: 'UpstreamSilent' })
})

test('the time is limited before the answer and within it (W3.15)', async t => {
  const server = await listen(t, ({ url }, response) => {
    if (url.pathname === '/stuck') response.writeHead(200, text).write('a')
  })
  const hosts = { forGuests: [], private: [new URL(server.origin).host] }
  const proxy = new Proxy({ ...options, timeout: 400, hosts })
  const { signal } = new AbortController()
  for (const path of ['/never', '/stuck']) {
    const fetching = proxy.fetch(user, { url: server.origin + path, accept: undefined, signal })
    await assert.rejects(fetching, { name: 'UpstreamSilent' }, path)
  }
})
