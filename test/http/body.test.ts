import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { Overloaded, TooLarge } from '../../src/base/errors.ts'
import { Bodies } from '../../src/http/protocol/body.ts'
import { FakeSystem } from '../support/fake-system.ts'

const LIMIT = 1_500_000
const bodies = new Bodies(new FakeSystem(), {
  idleTimeout: 60_000,
  maxJson: LIMIT,
  memory: 4 * LIMIT,
})
const noResponse = { once: () => {}, closed: true } as unknown as ServerResponse

/** A request with this body, in pieces of a size. */
function requestOf(body: Uint8Array, headers: Record<string, string>, piece = 50_000): IncomingMessage {
  const pieces = Array.from({ length: Math.ceil(body.length / piece) }, (_, n) =>
    Buffer.from(body.subarray(n * piece, (n + 1) * piece)),
  )
  return Object.assign(Readable.from(pieces, { objectMode: false }), {
    headers,
    socket: new EventEmitter(),
  }) as unknown as IncomingMessage
}

test('a body is returned whole and alone in its memory, with and without a declared length', async () => {
  for (const length of [0, 1, 65_536, 65_537, 1_200_000, LIMIT]) {
    const body = Uint8Array.from({ length }, (_, at) => at % 251)
    for (const headers of [{ 'content-length': String(length) }, { 'transfer-encoding': 'chunked' }]) {
      const bytes = await bodies.bytes(requestOf(body, headers), noResponse)
      assert.equal(Buffer.compare(bytes, body), 0, `${length} ${JSON.stringify(headers)}`)
      assert.equal(bytes.byteOffset, 0)
      assert.equal(bytes.buffer.byteLength, length)
    }
  }
})

test('a body beyond its limit is refused: at once if it states its length, else when it reaches the limit', async () => {
  const refusal = { constructor: TooLarge, code: 'body-too-large' }
  const declared = requestOf(new Uint8Array(10), { 'content-length': String(LIMIT + 1) })
  await assert.rejects(bodies.bytes(declared, noResponse), refusal)
  await assert.rejects(bodies.bytes(requestOf(new Uint8Array(LIMIT + 1), {}), noResponse), refusal)
  await assert.rejects(bodies.bytes(requestOf(new Uint8Array(101), {}), noResponse, 100), refusal)
})

test('bodies have a limit on their memory until their responses have ended (D35.2)', async () => {
  const limits = { idleTimeout: 60_000, maxJson: 2000, memory: 3000 }
  const small = new Bodies(new FakeSystem(), limits)
  const read = async (size: number): Promise<EventEmitter> => {
    const response = Object.assign(new EventEmitter(), { closed: false })
    await small.bytes(requestOf(new Uint8Array(size), {}), response as unknown as ServerResponse)
    return response
  }
  const message = 'Large requests in progress take more than 3000 bytes. Try again when some have finished.'
  const refusal = { constructor: Overloaded, code: 'overloaded', message }
  const first = await read(2000)
  await read(1000)
  await assert.rejects(read(1), refusal)
  first.emit('close')
  await read(2000)
  await assert.rejects(read(1), refusal)
})

test('what comes after the end of the response counts no more', () => {
  const limits = { idleTimeout: 60_000, maxJson: 2000, memory: 3000 }
  const small = new Bodies(new FakeSystem(), limits)
  const response = Object.assign(new EventEmitter(), { closed: false })
  const late = small.counter(response as unknown as ServerResponse)
  late(2000)
  response.closed = true
  response.emit('close')
  late(2000)
  small.counter(noResponse)(3000)
})
