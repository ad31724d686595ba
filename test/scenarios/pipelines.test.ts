import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import type { Visitor } from '../support/http-client.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)

/** One request as bytes. */
function bytesOf({ base, cookie }: Visitor, method: string, path: string, body?: string): string {
  const { host, pathname } = new URL(base)
  const head = [`${method} ${pathname}${path} HTTP/1.1`, `Host: ${host}`, `Cookie: auth_token=${cookie}`]
  if (body !== undefined) head.push('Content-Type: text/plain', `Content-Length: ${body.length}`)
  return [...head, '', body ?? ''].join('\r\n')
}

/** Sends all requests at once over one connection. */
async function pipeline(first: string, ...others: string[]) {
  const [head = '', ...rest] = (first + others.join('')).split('\r\n\r\n')
  const lines = head.split('\r\n').filter(line => !line.startsWith('Host:'))
  const sent = await sendRaw(admin.base, lines, rest.join('\r\n\r\n'))
  const statuses = (): number[] =>
    [...sent.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  return { ...sent, statuses }
}

async function newText(): Promise<string> {
  return `${context}/resource/${await newEntry(admin, context, '?graphtype=string', { resource: 'none' })}`
}

test('a pipelined request is carried out after those before it (D35.27)', async () => {
  const text = await newText()
  const written = Array.from({ length: 50 }, (_, n) => `number ${n}.`)
  const requests = written.flatMap(value => [bytesOf(admin, 'PUT', text, value), bytesOf(admin, 'GET', text)])
  const { socket, statuses, received } = await pipeline(requests[0] ?? '', ...requests.slice(1))
  await eventually('all are answered', () => statuses().length === 100)
  assert.deepEqual(received().match(/number \d+\./g), written)
  socket.destroy()
})

test('a connection on which more requests wait than clients send is closed (D35.27)', async () => {
  const ask = bytesOf(admin, 'GET', 'auth/user')
  const { closed } = await pipeline(ask, ask.repeat(5000))
  await closed
  assert.equal((await admin.get('auth/user')).status, 200)
})

for (const path of ['%zz', 'a/%c3%28']) {
  test(`requests whose address cannot be read (${path}) count like all others of their connection (D35.27)`, async () => {
    const ask = bytesOf(admin, 'GET', path)
    const last = `${ask.trimEnd()}\r\nConnection: close\r\n\r\n`
    const few = await pipeline(ask, ask.repeat(50), last)
    await few.closed
    assert.deepEqual(
      few.statuses(),
      Array.from({ length: 52 }, () => 400),
    )
    const many = await pipeline(ask, ask.repeat(5000), last)
    await many.closed
    assert.ok(many.statuses().length < 5002, 'the connection is closed before all are answered')
  })
}

test('what is not a request is refused after the requests before it (D35.27)', async () => {
  const text = await newText()
  const put = bytesOf(admin, 'PUT', text, 'new')
  const get = bytesOf(admin, 'GET', text)
  const unfinished = bytesOf(admin, 'PUT', text, '').replace('Content-Length: 0', 'Transfer-Encoding: chunked')
  for (const rest of ['no request at all\r\n\r\n', `${unfinished}no chunk\r\n`]) {
    const { closed, statuses } = await pipeline(put, get, rest)
    await closed
    assert.deepEqual(statuses(), [204, 200, 400], rest)
  }
  assert.equal((await admin.get(text)).text, 'new')
})

test('what is not a request does not take the place of the response before it (D35.27)', async () => {
  const text = await newText()
  const { closed, statuses } = await pipeline(bytesOf(admin, 'PUT', text, 'new'), 'no request at all\r\n\r\n')
  await closed
  assert.deepEqual(statuses(), [204, 400])
})

test('pipelined requests with large bodies get all of them (D35.27)', async () => {
  const text = await newText()
  const written = Array.from({ length: 8 }, (_, n) => String(n).repeat(100_000))
  const requests = written.flatMap(value => [bytesOf(admin, 'PUT', text, value), bytesOf(admin, 'GET', text)])
  const { socket, statuses, received } = await pipeline(requests[0] ?? '', ...requests.slice(1))
  await eventually('all are answered', () => statuses().length === 16)
  await eventually('the last one has come', () => received().endsWith('7'.repeat(100_000)))
  for (const value of written) assert.ok(received().includes(value), value.slice(0, 1))
  socket.destroy()
})

test('a pipelined request begins when its client has taken the response before it, and never when it has left (D35.27)', async t => {
  const file = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await admin.ask(file, { method: 'PUT', body: Buffer.alloc(30_000_000) })).status, 201)
  const text = await newText()
  const socket = new Socket()
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  const { hostname, port } = new URL(admin.base)
  socket.connect(Number(port), hostname)
  socket.write(bytesOf(admin, 'GET', file) + bytesOf(admin, 'PUT', text, 'too early'))
  await eventually('the response has begun', () => socket.readableLength > 0)
  for (let count = 0; count < 50; count++) assert.equal((await admin.get(text)).text, 'none')
  socket.destroy()
  for (let count = 0; count < 50; count++) assert.equal((await admin.get(text)).text, 'none')
})
