import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import * as fc from 'fast-check'
import { LoopTurns } from '../../src/http/protocol/loop-turns.ts'
import { readInSlices } from '../../src/http/protocol/sliced-reading.ts'
import { SliceTurns } from '../../src/http/protocol/slice-turns.ts'

/** What a server has found in the bytes of one connection: each complete request, and why it refuses the rest. */
interface Found {
  readonly requests: unknown[]
  refusal?: string
}

/** A server and what it has found in the connection from each port. */
async function listen(t: TestContext, install: (server: Server) => void = () => {}) {
  const [byPort, bySocket] = [new Map<number, Found>(), new WeakMap<Socket, Found>()]
  const foundIn = (socket: Socket): Found => bySocket.get(socket) ?? assert.fail('an unknown connection')
  const server = createServer((request, response) => {
    const { method, url, trailers, socket } = request
    const found = foundIn(socket)
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      found.requests.push({ method, url, body, trailers })
      response.end()
    })
  })
  server.on('clientError', ({ code = '' }: Error & { readonly code?: string }, socket: Socket) => {
    foundIn(socket).refusal ??= code
    socket.end()
  })
  server.on('connection', (socket: Socket) => {
    // Later its client may have left.
    const found = { requests: [] }
    bySocket.set(socket, found)
    byPort.set(socket.remotePort ?? 0, found)
  })
  install(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  /** What the server finds when it gets these bytes, one piece at a time. */
  const find = async (pieces: readonly string[], then?: 'leave'): Promise<Found | undefined> => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true)
    client.on('error', () => {})
    client.resume()
    await once(client, 'connect')
    const { localPort = 0 } = client
    const closed = once(client, 'close')
    for (const piece of pieces) {
      client.write(piece, 'latin1')
      await new Promise(resolve => setImmediate(resolve))
    }
    if (then === 'leave') client.destroy()
    else client.end()
    await closed
    return byPort.get(localPort)
  }
  return find
}

const sliced =
  (monotonic: () => number) =>
  (server: Server): void =>
    readInSlices(server, new SliceTurns(new LoopTurns(server), { monotonic }))

const text = fc.string({ unit: fc.constantFrom('a', '0', '\r', '\n', 'é', ' '), maxLength: 40 })
const chunk = (part: string): string => `${part.length.toString(16)}\r\n${part}\r\n`
const body = fc.oneof(
  fc.constant('\r\n'),
  text.map(part => `Content-Length: ${part.length}\r\n\r\n${part}`),
  fc
    .tuple(fc.array(text.filter(part => part !== '')), fc.constantFrom('', 'T: x\r\n'))
    .map(([parts, trailer]) => `Transfer-Encoding: chunked\r\n\r\n${parts.map(chunk).join('')}0\r\n${trailer}\r\n`),
)
const fields = fc.constantFrom(
  '',
  'A: b\r\n',
  'Connection: keep-alive\r\n',
  'Expect: 100-continue\r\n',
  `A: ${'b'.repeat(600)}\r\n`,
)
const request = fc
  .tuple(fc.constantFrom('GET', 'PUT', 'POST', 'HEAD'), fc.constantFrom('/', '/a', '/b?c'), fields, body)
  .map(([method, url, more, rest]) => `${method} ${url} HTTP/1.1\r\nHost: a\r\n${more}${rest}`)
const end = fc.constantFrom(
  '',
  'no request\r\n\r\n',
  'GET / HTTP/1.1\r\nA : b\r\n\r\n',
  `GET / HTTP/1.1\r\nHost: a\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`,
  'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /after HTTP/1.1\r\nHost: a\r\n\r\n',
  'PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: x\r\n\r\n',
  'PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc',
  'PUT / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc',
  'GET / HTTP/1.0\r\n\r\nGET /after HTTP/1.0\r\n\r\n',
  'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
  'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n',
  'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n',
  'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nab',
)

test('all requests of a connection are those that Node alone finds, however their bytes come (D35.19)', async t => {
  const inNode = await listen(t)
  let time = 0
  const inSlices = [
    await listen(
      t,
      sliced(() => time++),
    ),
    await listen(
      t,
      sliced(() => 0),
    ),
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { maxLength: 12 }),
      end,
      fc.array(fc.nat(2000), { maxLength: 10 }),
      fc.constantFrom(...inSlices),
      async (requests, last, lengths, find) => {
        const all = requests.join('') + last
        const pieces: string[] = []
        let begin = 0
        for (const length of lengths) pieces.push(all.slice(begin, (begin += length)))
        pieces.push(all.slice(begin))
        assert.deepEqual(await find(pieces), await inNode([all]))
      },
    ),
    { numRuns: 300 },
  )
})

const next = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'
const foundNext = { method: 'GET', url: '/next', body: '', trailers: {} }

test('what waits of a connection that has ended goes to no other one (D35.19)', async t => {
  let time = 0
  const find = await listen(
    t,
    sliced(() => time++),
  )
  const all = Array.from({ length: 20 }, (_, n) => n)
  // Node gives a connection the parser of one that has ended.
  for (const _ of all) {
    const found = await Promise.all(
      all.map(n => (n % 2 === 0 ? find([next.repeat(2)]) : find([next.repeat(1000)], 'leave'))),
    )
    for (const n of all) if (n % 2 === 0) assert.deepEqual(found[n], { requests: [foundNext, foundNext] })
  }
})
