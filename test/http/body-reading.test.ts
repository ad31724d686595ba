import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { InvalidInput, TooLarge, TooSlow, UnsupportedType } from '../../src/base/errors.ts'
import { announcesBody, Bodies, dropUnreadBody, mediaTypeOf } from '../../src/http/protocol/body.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { type Headers, requestWith } from '../support/request-with-body.ts'

const MIB = 1_048_576

function requestOf(text: string, headers: Headers): IncomingMessage {
  const { body, request } = requestWith(headers)
  body.push(text)
  body.push(null)
  return request
}

function newResponse() {
  const state = { continued: 0 }
  const response = Object.assign(new EventEmitter(), { closed: false, writeContinue: () => state.continued++ })
  return { state, response: response as unknown as ServerResponse }
}

function newBodies({ idleTimeout = 60_000, maxJson = 100_000 } = {}) {
  const system = new FakeSystem()
  const memory = 10 * MIB
  return { system, bodies: new Bodies(system, { idleTimeout, maxJson, memory }) }
}

const { bodies } = newBodies()
/** In place of the responses of all requests that ask nothing of theirs. */
const { response } = newResponse()
response.setMaxListeners(0)

/** Sends `before` bytes, waits, and sends one more. */
async function slowBody(before: number, pauses: readonly number[], { own = 0 } = {}): Promise<void> {
  const { system, bodies: slow } = newBodies()
  const { body, request } = requestWith()
  const stream = slow.stream(request, response)
  const piece = async (bytes: number, pause: number): Promise<void> => {
    const next = stream.next()
    await setImmediate()
    system.pass(pause)
    body.push(Buffer.alloc(bytes))
    await next
    system.pass(own)
  }
  await piece(before, 0)
  for (const pause of pauses) await piece(1, pause)
  await stream.return(undefined)
}

test('a body may pause for ten seconds in all; after that it needs its minimum rate', async () => {
  const message = 'The body comes slower than 512 bytes per second.'
  const refusal = { constructor: TooSlow, code: 'request-timeout', message }
  await slowBody(512, [10_000])
  await assert.rejects(slowBody(512, [10_001]), refusal)
  await slowBody(11 * 512, [10_001])
  await slowBody(20 * 512, [20_000])
  await assert.rejects(slowBody(20 * 512, [20_001]), refusal)
  // Pauses add up; time that the service takes for itself does not count.
  await assert.rejects(slowBody(512, [6000, 6000]), refusal)
  await slowBody(512, [1000, 1000], { own: 60_000 })
})

test('a body that stops for too long ends the wait, and leaves no listener behind', async () => {
  const { request } = requestWith()
  const listeners = request.listenerCount('close')
  const stopped = newBodies({ idleTimeout: 5 }).bodies.bytes(request, response)
  const message = 'Nothing of the body came for 0.005 seconds.'
  await assert.rejects(stopped, { constructor: TooSlow, code: 'request-timeout', message })
  for (const event of ['data', 'end', 'error']) assert.equal(request.listenerCount(event), 0, event)
  assert.equal(request.listenerCount('close'), listeners)
})

test('a reader that is busy stops the body, and gets all of it', async () => {
  const { body, request } = requestWith()
  const stream = bodies.stream(request, response)
  const first = stream.next()
  const sent = Buffer.from(Array.from({ length: 400_000 }, (_, n) => n & 255))
  body.push(sent.subarray(0, 1000))
  await first
  for (let at = 1000; at < sent.length; at += 1000) body.push(sent.subarray(at, at + 1000))
  body.push(null)
  await setImmediate()
  assert.equal(request.isPaused(), true)
  const rest = []
  for await (const chunk of stream) rest.push(chunk)
  assert.deepEqual(Buffer.concat(rest), sent.subarray(1000))
})

test('a connection that ends before its body is refused, never taken as the end of the body', async () => {
  for (const error of [undefined, new Error('reset')]) {
    const { body, request } = requestWith()
    body.on('error', () => undefined)
    const reading = bodies.bytes(request, response)
    body.push('half')
    await setImmediate()
    body.destroy(error)
    const message = 'The connection ended before the body did.'
    await assert.rejects(reading, { constructor: InvalidInput, code: 'bad-request', message })
  }
})

test('the permission to send is given when the body is read, and only to clients that wait for it (D7.4)', async () => {
  const waiting = { expect: '100-continue' }
  const cases: ReadonlyArray<readonly [Headers, permissions: number]> = [
    [{ ...waiting, 'content-length': '4' }, 1],
    [{ 'content-length': '4' }, 0],
  ]
  for (const [headers, permissions] of cases) {
    const { state, response: answer } = newResponse()
    assert.equal(await bodies.text(requestOf('text', headers), answer), 'text')
    assert.equal(state.continued, permissions)
  }
  const { state, response: answer } = newResponse()
  const large = requestOf('text', { ...waiting, 'content-length': '100001' })
  await assert.rejects(bodies.bytes(large, answer), TooLarge)
  assert.equal(state.continued, 0, 'not for a body that is refused by its length')
})

test('a refused body says its limit, and a body of exactly the limit is read', async () => {
  const text = 'x'.repeat(100_000)
  assert.equal(await bodies.text(requestOf(text, { 'content-length': '100000' }), response), text)
  const beyond = requestOf(`${text}x`, {})
  const message = 'The body may have at most 100000 bytes.'
  await assert.rejects(bodies.text(beyond, response), { code: 'body-too-large', message, extra: { limit: 100_000 } })
})

test('a form has at most 32 KiB and its own type; what is no form is refused (D2.1)', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const value = 'x'.repeat(32_768 - 2)
  const fields = await bodies.form(requestOf(`a=${value}`, form), response)
  assert.equal(fields.get('a'), value)
  await assert.rejects(bodies.form(requestOf(`a=${value}x`, form), response), { extra: { limit: 32_768 } })
  await assert.rejects(bodies.form(requestOf('a=%zz', form), response), { code: 'invalid-form' })
  const refusal = { constructor: UnsupportedType, code: 'unsupported-type' }
  for (const type of ['application/json', 'text/plain', 'multipart/form-data', '']) {
    await assert.rejects(bodies.form(requestOf('a=1', { 'content-type': type }), response), refusal, type)
  }
  await assert.rejects(bodies.form(requestOf('a=1', {}), response), refusal, 'without a type')
})

test('JSON has a type of JSON; only a body without bytes needs none', async () => {
  const json = (text: string, headers: Headers) => bodies.json(requestOf(text, headers), response)
  const length = { 'content-length': '2' }
  for (const type of ['application/json', 'Application/JSON ; charset=utf-8', 'application/rdf+json']) {
    assert.deepEqual(await json('{}', { ...length, 'content-type': type }), {}, type)
  }
  const refusal = { constructor: UnsupportedType, code: 'unsupported-type' }
  for (const announced of [length, { 'transfer-encoding': 'chunked' }]) {
    await assert.rejects(json('{}', announced), refusal)
    // What a page of another site can send without being asked is not read as JSON.
    await assert.rejects(json('{}', { ...announced, 'content-type': 'text/plain' }), refusal)
  }
  for (const empty of [{}, { 'content-length': '0' }]) {
    assert.equal(await bodies.jsonText(requestOf('', { ...empty, 'content-type': 'text/plain' }), response), '')
    await assert.rejects(json('', empty), { constructor: InvalidInput, code: 'invalid-json' })
  }
  const latin = requestWith({ ...length, 'content-type': 'application/json' })
  latin.body.push(Buffer.from([0x22, 0xe4, 0x22]))
  latin.body.push(null)
  await assert.rejects(bodies.json(latin.request, response), InvalidInput)
})

test('the refusal of a type names those that are accepted, and the one that came', async () => {
  const json = bodies.json(requestOf('{}', { 'content-length': '2', 'content-type': 'text/plain' }), response)
  await assert.rejects(json, { message: 'The body must be application/json or application/rdf+json, not text/plain.' })
  const form = bodies.form(requestOf('a=1', {}), response)
  await assert.rejects(form, { message: 'The body must be application/x-www-form-urlencoded, not untyped.' })
})

test('a request announces a body by a length, even of 0, or by an encoding; its type is compared without parameters', () => {
  const request = (headers: Headers) => ({ headers }) as unknown as IncomingMessage
  assert.equal(announcesBody(request({})), false)
  assert.equal(announcesBody(request({ 'content-length': '0' })), true)
  assert.equal(announcesBody(request({ 'transfer-encoding': 'chunked' })), true)
  assert.equal(mediaTypeOf(request({})), undefined)
  assert.equal(mediaTypeOf(request({ 'content-type': ' Text/Turtle ;charset=utf-8' })), 'text/turtle')
})

/** Prepares a response, then sends `bytes` bytes of the body. Returns how often the connection was closed. */
async function unreadBody(bytes: number): Promise<number> {
  const { body, request, state } = requestWith()
  const { response: answer } = newResponse()
  const dropped = dropUnreadBody(request, answer)
  for (let rest = bytes; rest > 0; rest -= MIB) body.push(Buffer.alloc(Math.min(rest, MIB)))
  body.push(null)
  await dropped
  assert.equal(request.listenerCount('data'), 0)
  assert.equal(state.destroyed, 0, 'the response comes first')
  answer.emit('close')
  return state.destroyed
}

test('of a refused upload 8 MiB are still read, so that the client sees the refusal; then the connection is closed', async () => {
  assert.equal(await unreadBody(0), 0)
  assert.equal(await unreadBody(8 * MIB), 0)
  assert.equal(await unreadBody(8 * MIB + 1), 1)
})

test('the rest of a body is dropped where its reader has stopped', async () => {
  const { body, request } = requestWith()
  const { response: answer } = newResponse()
  body.push(Buffer.alloc(1000))
  for await (const chunk of bodies.stream(request, answer)) {
    assert.equal(chunk.length, 1000)
    break
  }
  const dropped = dropUnreadBody(request, answer)
  for (let n = 0; n < 4; n++) body.push(Buffer.alloc(MIB))
  body.push(null)
  await dropped
  assert.equal(request.readableEnded, true)
})

test('the rest of a refused upload has five seconds to come', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { request, state } = requestWith()
  const { response: answer } = newResponse()
  void dropUnreadBody(request, answer)
  answer.emit('close')
  t.mock.timers.tick(4999)
  assert.equal(state.destroyed, 0)
  t.mock.timers.tick(1)
  await setImmediate()
  assert.equal(request.listenerCount('data'), 0)
})

test('a body that has come completely is not touched', async () => {
  const { body, request, state } = requestWith()
  const { response: answer } = newResponse()
  body.push('all of it')
  Object.assign(request, { complete: true })
  await dropUnreadBody(request, answer)
  answer.emit('close')
  assert.deepEqual([state.destroyed, request.listenerCount('data')], [0, 0])
})
