import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ADMIN_PASSWORD, type Process, startProcess } from '../support/service.ts'

/** Whether this machine has the second loopback address. */
const hasIPv6 = await new Promise<boolean>(resolve => {
  const server = createServer().once('error', () => resolve(false))
  server.listen(0, '::1', () => server.close(() => resolve(true)))
})
const skip = hasIPv6 ? false : 'this machine has no ::1'

const start = (t: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<Process> =>
  startProcess(t, {
    settings: {
      'service.http.host': 'localhost',
      'service.auth.http-basic': 'on',
      ...settings,
    },
  })

const portOf = ({ base }: Process): number => Number(new URL(base).port)

async function connectTo(t: TestContext, service: Process, host: string): Promise<Socket> {
  const socket = connect(portOf(service), host)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket.setEncoding('latin1')
}

/** @throws when the connection ends before that */
async function until(socket: Socket, last: RegExp): Promise<string> {
  let received = ''
  const ended = once(socket, 'close').then(() => assert.fail(`ended after: ${received}`))
  ended.catch(() => {})
  while (!last.test(received)) received += ((await Promise.race([once(socket, 'data'), ended])) as [string])[0]
  return received
}

/** All that comes until the service closes the connection, as the last of the requests lets it. */
async function exchange(t: TestContext, service: Process, host: string, requests: string): Promise<string> {
  const socket = await connectTo(t, service, host)
  socket.write(requests)
  let received = ''
  for await (const piece of socket) received += String(piece)
  return received
}

/** What a new connection is sent, before it is refused or ended. */
async function refused(t: TestContext, service: Process, host: string): Promise<string> {
  const socket = connect(portOf(service), host).setEncoding('latin1')
  t.after(() => socket.destroy())
  let received = ''
  socket.on('data', (piece: string) => (received += piece))
  socket.on('error', () => {})
  socket.write('GET /management/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await new Promise(resolve => socket.once('close', resolve))
  return received
}

const credentials = `auth_username=admin&auth_password=${ADMIN_PASSWORD}`
/** A request whose body is sent when the service permits it. */
const asking = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${credentials.length}\r\n` +
  'Expect: 100-continue\r\nConnection: close\r\n\r\n'

test('on localhost both loopback addresses are the same service (D35.30)', { skip }, async t => {
  const service = await start(t)
  for (const host of ['127.0.0.1', '::1']) {
    const malformed = await exchange(t, service, host, 'GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n')
    assert.match(malformed, /^HTTP\/1\.1 400 Bad Request\r\n/)
    assert.match(malformed, /content-type: application\/problem\+json/)
    assert.match(malformed, /x-content-type-options: nosniff/)

    // A refusal comes instead of the permission to send the body (D7.4).
    assert.match(await exchange(t, service, host, asking('/echo')), /^HTTP\/1\.1 401 /)

    // Requests of one connection are answered in their order, and a malformed one after those before it (D35.27).
    const pipelined = `${'GET /management/status HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3)}bad\r\n\r\n`
    const statuses = [...(await exchange(t, service, host, pipelined)).matchAll(/HTTP\/1\.1 (\d+)/g)]
    assert.deepEqual(
      statuses.map(([, status]) => status),
      ['200', '200', '200', '400'],
    )
  }
})

test('a service on localhost ends with its last request at ::1 (D35.30)', { skip }, async t => {
  const service = await start(t)
  const idle = await connectTo(t, service, '::1')
  idle.write('GET /management/status HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(idle, /\r\n\r\n/)
  const busy = await connectTo(t, service, '::1')
  busy.write(asking('/auth/cookie'))
  await until(busy, /100 Continue/)
  const stopped = service.stop()
  await once(idle, 'close')
  assert.equal(await refused(t, service, '::1'), '')
  busy.write(credentials)
  assert.match(await until(busy, /\r\n\r\n/), /^HTTP\/1\.1 200 /)
  assert.equal(await stopped, 0)
})

test('a service does not start on localhost while another program has one of the addresses (D35.30)', {
  skip,
}, async t => {
  const other = createServer()
  t.after(() => other.close())
  other.listen(0, '::1')
  await once(other, 'listening')
  const { port } = other.address() as { readonly port: number }
  await assert.rejects(start(t, { 'service.http.port': String(port) }), {
    message: new RegExp(`Cannot listen on ::1 port ${port}: another program listens there\\.`),
  })
})
