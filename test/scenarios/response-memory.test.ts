import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { assertRefused, graphOf, principal, STORE, textTerm, TITLE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

const service = await startInProcess({ after }, { settings: { 'service.http.body.idle-timeout': '10m' } })
const admin = await service.admin()
const { visitor: greedy } = await newUser(service, admin)
const { visitor: other } = await newUser(service, admin)
const context = await newContext(admin)
const large = await newLarge(admin, context)

/** An entry with metadata of 7 MB that every user may read. @returns the path of its metadata */
async function newLarge(owner: Visitor, place: string): Promise<string> {
  const resource = `${owner.base}${place}/resource/large`
  const info = graphOf(`${owner.base}${place}/metadata/large`, `${STORE}read`, principal(owner, '_users'))
  await newEntry(owner, place, '?id=large', { info })
  const metadata = graphOf(resource, TITLE, textTerm('x'.repeat(7_000_000)))
  assert.equal((await owner.put(`${place}/metadata/large`, metadata)).status, 204)
  return `${place}/metadata/large`
}

/** Sends the request so many times over one connection, which reads nothing but the first bytes. Resolves to the status of the first. */
async function readNothing(visitor: Visitor, path: string, times = 1): Promise<{ socket: Socket; status: number }> {
  const { hostname, port, pathname } = new URL(visitor.base)
  const head = [`GET ${pathname}${path} HTTP/1.1`, `Host: ${hostname}:${port}`, `Cookie: auth_token=${visitor.cookie}`]
  const socket = connect(Number(port), hostname, () => socket.write([...head, '', ''].join('\r\n').repeat(times)))
  socket.on('error', () => {})
  await once(socket, 'readable')
  const first = String(socket.read(12))
  return { socket, status: Number(/^HTTP\/1\.1 (\d+)/.exec(first)?.[1]) }
}

/** Opens connections that read nothing until a response is refused. */
async function readNothingUntilRefused(visitor: Visitor): Promise<Socket[]> {
  const sockets: Socket[] = []
  let status = 200
  while (status === 200) {
    assert.ok(sockets.length < 40, 'large responses wait without limit')
    const opened = await readNothing(visitor, large, 2)
    sockets.push(opened.socket)
    status = opened.status
  }
  assert.equal(status, 503)
  assert.ok(sockets.length > 4, 'the first ones are sent')
  return sockets
}

/** How many responses to GET of this kind have ended. */
async function endedOf(owner: Visitor, kind: string): Promise<number> {
  const { text } = await owner.get('management/metrics')
  const line = text
    .split('\n')
    .find(one => /requests_total\{/.test(one) && one.includes(`"/:context/${kind}/:entry"`) && one.includes('"GET"'))
  return Number(line?.split(' ').at(-1) ?? 0)
}

const isServed = (visitor: Visitor) =>
  eventually('large responses are sent again', async () => (await visitor.get(large)).status === 200)

test('a caller whose large responses wait unread gets no more of them, and takes nothing from others (D35.14)', async () => {
  const sockets = await readNothingUntilRefused(greedy)
  await eventually('a response is refused', async () => {
    const answer = await greedy.get(large)
    if (answer.status === 200) return false
    assertRefused(answer, 503, 'overloaded')
    assert.equal(answer.headers['retry-after'], '1')
    for (const name of ['etag', 'last-modified', 'content-encoding'])
      assert.equal(answer.headers[name], undefined, name)
    return true
  })
  for (let count = 0; count < 8; count++) {
    assert.equal((await greedy.get('auth/user')).status, 200)
    assert.equal((await greedy.ask(large, { method: 'HEAD' })).status, 200)
    assert.equal((await other.get(large)).status, 200)
  }
  for (const socket of sockets) socket.destroy()
  await isServed(greedy)
})

test('after a refused response the connection is closed, and none of its further requests are read (D35.14)', async () => {
  const sockets = await readNothingUntilRefused(greedy)
  const refused = sockets.at(-1) as Socket
  let rest = ''
  refused.on('data', (chunk: Buffer) => (rest += String(chunk)))
  await once(refused, 'close')
  assert.match(rest, /\r\nconnection: close\r\n/i)
  assert.ok(!rest.includes('HTTP/1.1'))
  for (const socket of sockets) socket.destroy()
  await isServed(greedy)
})

test('a caller who reads what waits is served again (D35.14)', async () => {
  const sockets = await readNothingUntilRefused(greedy)
  for (const socket of sockets) socket.resume()
  await isServed(greedy)
  for (const socket of sockets) socket.destroy()
})

test('the memory of responses that nobody has read is given back when their clients leave (D35.14)', async () => {
  for (let count = 0; count < 4; count++) {
    const opened = await Promise.all(Array.from({ length: 4 }, () => readNothing(greedy, large, 10)))
    for (const { socket } of opened) socket.destroy()
    await isServed(greedy)
  }
})

test('a connection whose client takes nothing of a response or a file is closed (D35.14)', async t => {
  const impatient = await startInProcess(t, { settings: { 'service.http.body.idle-timeout': '150ms' } })
  const owner = await impatient.admin()
  const place = await newContext(owner)
  const metadata = await newLarge(owner, place)
  await newEntry(owner, place, '?id=file')
  const body = Buffer.alloc(20_000_000)
  assert.equal((await owner.ask(`${place}/resource/file`, { method: 'PUT', body })).status, 201)
  for (const [kind, path] of [
    ['metadata', metadata],
    ['resource', `${place}/resource/file`],
  ] as const) {
    const { socket, status } = await readNothing(owner, path)
    assert.equal(status, 200)
    await eventually('the response has ended', async () => (await endedOf(owner, kind)) === 1)
    // What is in the buffers of the system still comes, then the end.
    socket.resume()
    await once(socket, 'close')
    assert.ok(socket.bytesRead < 7_000_000, path)
  }
})
