import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { Overloaded, TooLarge } from '../../src/base/errors.ts'
import { Bodies, BodyMemory } from '../../src/http/protocol/body.ts'
import { FakeSystem } from '../support/fake-system.ts'

const LIMIT = 1_500_000
const bodies = new Bodies(new FakeSystem(), {
  idleTimeout: 60_000,
  minimumRate: 1,
  maxJson: LIMIT,
  memory: { ofOne: 3 * LIMIT, ofAll: 4 * LIMIT },
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
      if ('content-length' in headers) assert.equal(bytes.buffer.byteLength, length)
    }
  }
})

test('a body beyond its limit is refused: at once if it says so, else when it has come so far', async () => {
  const refusal = { constructor: TooLarge, code: 'body-too-large' }
  const declared = requestOf(new Uint8Array(10), { 'content-length': String(LIMIT + 1) })
  await assert.rejects(bodies.bytes(declared, noResponse), refusal)
  await assert.rejects(bodies.bytes(requestOf(new Uint8Array(LIMIT + 1), {}), noResponse), refusal)
  await assert.rejects(bodies.bytes(requestOf(new Uint8Array(101), {}), noResponse, 100), refusal)
})

test('bodies of one caller, and of all, have a limit on their memory until their responses have ended', async () => {
  const small = new Bodies(new FakeSystem(), {
    idleTimeout: 60_000,
    minimumRate: 1,
    maxJson: 1000,
    memory: { ofOne: 2000, ofAll: 3000 },
  })
  const read = async (owner: string, declared: number, size = declared): Promise<EventEmitter> => {
    const request = requestOf(new Uint8Array(size), declared > 0 ? { 'content-length': String(declared) } : {})
    const response = Object.assign(new EventEmitter(), { closed: false })
    small.belongs(request, owner)
    await small.bytes(request, response as unknown as ServerResponse).catch((error: unknown) => {
      response.emit('close')
      throw error
    })
    return response
  }
  const refusal = { constructor: Overloaded, code: 'overloaded' }
  const first = await read('anna', 1000)
  await read('anna', 1000)
  await assert.rejects(read('anna', 1), refusal)
  await assert.rejects(read('anna', 0, 1), refusal)
  // What another caller has announced and not sent takes nothing from the others.
  await read('eve', 1000, 1)
  await read('bert', 0, 999)
  await assert.rejects(read('carl', 1), refusal)
  first.emit('close')
  await read('carl', 1)
  await read('anna', 900)
  await assert.rejects(read('anna', 101), refusal)
})

function newMemory() {
  const memory = new BodyMemory({ ofOne: 2000, ofAll: 3000 })
  const reserve = (owner: string, isClosed = false) => {
    const request = { socket: new EventEmitter() } as unknown as IncomingMessage
    const response = Object.assign(new EventEmitter(), { closed: isClosed })
    memory.belongs(request, owner)
    const reservation = memory.reserve(request, response as unknown as ServerResponse)
    return { ...reservation, end: () => void response.emit('close') }
  }
  return reserve
}

const ownLimit = {
  constructor: Overloaded,
  code: 'overloaded',
  message: 'Your large bodies take too much memory at once.',
}
const commonLimit = { ...ownLimit, message: 'Too many large bodies at once.' }

test('what a caller has announced counts once, however it comes, and is free when the response has ended', () => {
  const reserve = newMemory()
  const first = reserve('anna')
  first.announce(1500)
  for (let count = 0; count < 3; count++) first.add(500)
  first.announce(10)
  const second = reserve('anna')
  assert.throws(() => second.announce(501), ownLimit)
  second.announce(500)
  assert.throws(() => second.add(501), ownLimit)
  first.end()
  second.announce(2000)
  assert.throws(() => second.announce(2001), ownLimit)
  second.end()
  reserve('anna').announce(2000)
})

test('what comes without a length counts as it comes, for the caller and for all', () => {
  const reserve = newMemory()
  const [anna, bert] = [reserve('anna'), reserve('bert')]
  for (let count = 0; count < 4; count++) anna.add(500)
  assert.throws(() => anna.add(1), ownLimit)
  bert.add(1000)
  assert.throws(() => bert.add(1), commonLimit)
  anna.end()
  bert.add(1000)
})

test('what comes after the end of the response counts for nobody', () => {
  const reserve = newMemory()
  const isOver = reserve('anna')
  isOver.add(1000)
  isOver.end()
  for (const late of [isOver, reserve('anna', true)]) {
    late.announce(5000)
    late.add(5000)
  }
  const anna = reserve('anna')
  anna.add(2000)
  reserve('bert').add(1000)
})

test('the length that a request declares is announced before its first byte; a body without one announces nothing', async () => {
  const small = new Bodies(new FakeSystem(), {
    idleTimeout: 60_000,
    minimumRate: 1,
    maxJson: 1500,
    memory: { ofOne: 2000, ofAll: 3000 },
  })
  const waiting = (headers: Record<string, string>) => {
    const made = Object.assign(new Readable({ read: () => undefined }), { headers, socket: new EventEmitter() })
    const request = made as unknown as IncomingMessage
    small.belongs(request, 'anna')
    return request
  }
  const open = () => Object.assign(new EventEmitter(), { closed: false }) as unknown as ServerResponse
  const chunked = waiting({ 'transfer-encoding': 'chunked' })
  const declared = waiting({ 'content-length': '1500' })
  const reading = [small.bytes(chunked, open()), small.bytes(declared, open())]
  await assert.rejects(small.bytes(waiting({ 'content-length': '501' }), open()), ownLimit)
  for (const request of [chunked, declared]) (request as unknown as Readable).push(null)
  await Promise.all(reading)
})
