import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { array, assert as check, constantFrom, integer, nat, property, record } from 'fast-check'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Overloaded } from '../../src/base/errors.ts'
import { ResponseMemory } from '../../src/http/protocol/response-memory.ts'

const KIB = 1024
const LIMITS = { ofOne: 512 * KIB, ofAll: 1024 * KIB }

class Connection extends EventEmitter {
  destroyed = false
  timeouts: number[] = []
  writableLength = 0

  setTimeout(ms: number): void {
    this.timeouts.push(ms)
  }

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

class Response extends EventEmitter {
  closed = false
  socket: Connection

  constructor(socket: Connection) {
    super()
    this.socket = socket
    this.closed = socket.destroyed
    socket.setMaxListeners(0).once('close', () => this.close())
  }

  setTimeout(ms: number, onTimeout: () => void): void {
    this.on('timeout', onTimeout)
    this.socket.setTimeout(ms)
  }

  close(): void {
    this.closed = true
    this.emit('close')
  }
}

interface Sent {
  readonly owner: string
  readonly bytes: number
  readonly response: Response
  readonly connection: Connection
}

function newMemory() {
  const memory = new ResponseMemory({
    limits: LIMITS,
    idleTimeout: 30_000,
    ownerOf: request => (request as unknown as { readonly owner: string }).owner,
  })
  const send = (
    owner: string,
    body: unknown,
    {
      connection = new Connection(),
      method = 'GET',
      statusCode = 200,
      headers = {},
    }: {
      connection?: Connection
      method?: string
      statusCode?: number
      headers?: Record<string, string>
    } = {},
  ): Sent => {
    const response = new Response(connection)
    const request = { owner, method, raw: { socket: connection } } as unknown as FastifyRequest
    const reply = {
      raw: response,
      statusCode,
      getHeaders: () => headers,
      removeHeader: (name: string) => delete headers[name],
      header: (name: string, value: string) => (headers[name] = value),
    } as unknown as FastifyReply
    memory.add(request, reply, body)
    return { owner, bytes: (body as Buffer).length, response, connection }
  }
  return send
}

const buffer = (kib: number): Buffer => Buffer.alloc(kib * KIB)
const ownLimit = { constructor: Overloaded, message: 'Your responses that wait take too much memory. Read them first.' }
const commonLimit = { constructor: Overloaded, message: 'Responses that wait for their clients take too much memory.' }

test('what waits is what was sent and has not ended, for each caller and for all (D35.14)', () => {
  const step = record({
    owner: constantFrom('anna', 'bert', 'carl'),
    kib: integer({ min: 64, max: 400 }),
    connection: nat(5),
    end: constantFrom('none', 'response', 'connection'),
    which: nat(20),
  })
  check(
    property(array(step, { maxLength: 60 }), steps => {
      const send = newMemory()
      const connections = Array.from({ length: 6 }, () => new Connection())
      let waiting: Sent[] = []
      const bytesOf = (some: readonly Sent[]): number => some.reduce((sum, { bytes }) => sum + bytes, 0)
      for (const { owner, kib, connection: at, end, which } of steps) {
        const connection = connections[at] ?? new Connection()
        const own = bytesOf(waiting.filter(sent => sent.owner === owner))
        const all = bytesOf(waiting)
        const bytes = kib * KIB
        const isRefused = (own > 0 && own + bytes > LIMITS.ofOne) || (all > 0 && all + bytes > LIMITS.ofAll)
        const add = (): Sent => send(owner, buffer(kib), { connection })
        if (isRefused && !connection.destroyed) assert.throws(add, Overloaded)
        else if (!isRefused) {
          const sent = add()
          if (!connection.destroyed) waiting.push(sent)
        }
        const ended = waiting[which % Math.max(1, waiting.length)]
        if (!ended || end === 'none') continue
        if (end === 'response') ended.response.close()
        else ended.connection.destroy()
        waiting = waiting.filter(sent => (end === 'response' ? sent !== ended : sent.connection !== ended.connection))
      }
      for (const { connection } of waiting) connection.destroy()
      for (const owner of ['anna', 'bert']) for (let count = 0; count < 2; count++) send(owner, buffer(256))
      assert.throws(() => send('anna', buffer(64)), ownLimit)
      assert.throws(() => send('carl', buffer(64)), commonLimit)
    }),
  )
})

test('a small body does not count (D35.14)', () => {
  const send = newMemory()
  send('anna', buffer(512))
  for (let count = 0; count < 100; count++) send('anna', buffer(63))
  assert.throws(() => send('anna', buffer(64)), ownLimit)
  assert.throws(() => send('anna', 'x'.repeat(64 * KIB)), ownLimit)
})

test('a single body may exceed the limits; one of a change, or of a refusal, is always sent (D35.14)', () => {
  const send = newMemory()
  const { response } = send('anna', buffer(3000))
  assert.throws(() => send('anna', buffer(64)), ownLimit)
  send('anna', buffer(64), { method: 'POST' })
  send('anna', buffer(64), { statusCode: 503 })
  for (let count = 0; count < 100; count++) send('anna', buffer(64), { method: 'HEAD' })
  response.close()
  send('anna', buffer(384))
  assert.throws(() => send('anna', buffer(64)), ownLimit)
})

test('a refusal has none of the headers of the body that it replaces, and closes the connection (D35.14)', () => {
  const send = newMemory()
  send('anna', buffer(512))
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    etag: '"1.gzip"',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'",
    'set-cookie': 'auth_token=x',
    vary: 'Origin',
  }
  assert.throws(() => send('anna', buffer(64), { headers }), ownLimit)
  assert.deepEqual(Object.keys(headers), ['content-security-policy', 'set-cookie', 'vary', 'connection'])
  assert.equal(headers['connection'], 'close')
})

test('a connection is ended when bytes wait and none are taken, and not where nothing waits (D35.14)', () => {
  const send = newMemory()
  for (const body of [buffer(64), { pipe: () => {} }]) {
    const { connection, response } = send('anna', body)
    assert.deepEqual(connection.timeouts, [30_000])
    response.emit('timeout')
    assert.equal(connection.destroyed, false)
    response.emit('finish')
    assert.deepEqual(connection.timeouts, [30_000, 0])
    connection.writableLength = 1
    response.emit('timeout')
    assert.equal(connection.destroyed, true)
  }
})
