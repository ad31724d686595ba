import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectPlain } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { test } from 'node:test'
import { Visitor } from '../support/http-client.ts'
import { FRONT_NAME, fronts, startFront } from '../support/peers/fronts.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const [ATTACKER, OTHER] = ['127.0.0.1', '127.0.0.2']
const CONNECTIONS = 1000

interface Attack {
  readonly socket: TLSSocket
  readonly received: () => string
}

test('behind nginx.conf as shipped, what one address sends does not keep another user from being answered', async t => {
  const front = fronts.find(({ file }) => file === 'nginx.conf')
  if (!front || !requirePeer(t, front.peer)) return
  const ports = { service: await freePort(), tls: await freePort(), plain: await freePort() }
  const base = `https://${FRONT_NAME}:${ports.tls}/store/`
  await startProcess(t, {
    settings: {
      'service.http.port': String(ports.service),
      'service.http.trusted-proxies.1': '127.0.0.1/32',
      'service.baseurl.folder': base,
    },
  })
  const { ca } = await startFront(t, front, ports)
  const lookup: NonNullable<ConstructorParameters<typeof Visitor>[1]>['lookup'] = (_name, options, done) =>
    options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)
  const user = new Visitor(base, { ca, lookup, localAddress: OTHER })
  assert.equal((await user.signIn('admin', ADMIN_PASSWORD)).status, 200)
  const context = await newContext(user)
  const file = `${context}/resource/${await newEntry(user, context)}`
  assert.equal((await putFile(user, file, Buffer.alloc(8 * 2 ** 20))).status, 201)
  const guestMayRead = {
    [base + context]: {
      'http://entrystore.org/terms/read': [{ type: 'uri', value: `${base}_principals/resource/_guest` }],
    },
  }
  assert.equal((await user.put(`_contexts/entry/${context}`, guestMayRead)).status, 204)

  /** A connection of the attacker, with what has come back. */
  const open = async (): Promise<Attack> => {
    const plain = connectPlain({ host: '127.0.0.1', port: ports.tls, localAddress: ATTACKER })
    const socket = connect({ socket: plain, servername: FRONT_NAME, ca })
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    return { socket, received: () => received }
  }
  const head = (line: string, ...more: string[]): string =>
    [`${line} HTTP/1.1`, `Host: ${FRONT_NAME}`, ...more, '', ''].join('\r\n')
  const statuses = (received: string): number[] =>
    [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  const othersAreAnswered = async (): Promise<void> => {
    for (let count = 0; count < 20; count++) assert.equal((await user.get('auth/user')).status, 200)
  }

  await t.test('as many pictures as a browser asks for at once by HTTP/2 are all answered', async t => {
    const picture = `${context}/resource/${await newEntry(user, context)}`
    assert.equal((await putFile(user, picture, Buffer.alloc(2 ** 16))).status, 201)
    const plain = connectPlain({ host: '127.0.0.1', port: ports.tls, localAddress: OTHER })
    const session = connectHttp2(base, {
      createConnection: () => connect({ socket: plain, servername: FRONT_NAME, ca, ALPNProtocols: ['h2'] }),
    })
    t.after(() => session.destroy())
    await once(session, 'remoteSettings')
    const answers = Array.from({ length: session.remoteSettings.maxConcurrentStreams ?? 0 }, async () => {
      const stream = session.request({ ':path': `/store/${picture}` })
      const [head] = await once(stream, 'response')
      stream.resume()
      await once(stream, 'end')
      return head[':status']
    })
    assert.ok(answers.length >= 60, String(answers.length))
    assert.deepEqual(new Set(await Promise.all(answers)), new Set([200]))
  })

  await t.test('10,000 chunks of one byte, at addresses with and without uploads', async () => {
    for (const path of [file, 'auth/cookie']) {
      const { socket, received } = await open()
      socket.write(head(`PUT /store/${path}`, 'Content-Type: text/plain', 'Transfer-Encoding: chunked'))
      socket.write('1\r\nx\r\n'.repeat(10_000))
      await othersAreAnswered()
      socket.write('0\r\n\r\n')
      await eventually('it is refused', () => statuses(received()).length === 1)
      assert.ok([401, 405].includes(statuses(received())[0] ?? 0), received())
    }
  })

  await t.test('pipelined requests', async () => {
    const { socket, received } = await open()
    socket.write(head('GET /store/management/status').repeat(CONNECTIONS))
    await othersAreAnswered()
    await eventually('some are answered, and the others refused', () => {
      const all = statuses(received())
      return all.includes(200) && all.includes(429)
    })
  })

  await t.test('clients that read nothing', async () => {
    const sockets = []
    for (let count = 0; count < 40; count++) {
      const { socket } = await open()
      socket.pause().write(head(`GET /store/${file}`))
      sockets.push(socket)
    }
    await othersAreAnswered()
    assert.equal((await user.get(file)).bytes.length, 8 * 2 ** 20)
    for (const socket of sockets) socket.destroy()
  })

  await t.test('a thousand connections', async () => {
    const all: Attack[] = []
    while (all.length < CONNECTIONS) all.push(await open())
    // Half of a request: nothing of it is counted before its header has come.
    for (const { socket } of all) socket.write(`GET /store/${file} HTTP/1.1\r\nHost: ${FRONT_NAME}\r\n`)
    await othersAreAnswered()
    for (const { socket } of all) socket.pause().write('\r\n')
    await othersAreAnswered()
    for (const { socket } of all) socket.resume()
    // How many are refused depends on how fast this machine sends them.
    await eventually('each is answered or refused', () =>
      all.every(({ received }) => /^HTTP\/1\.1 (?:200|429) /.test(received())),
    )
  })
})
