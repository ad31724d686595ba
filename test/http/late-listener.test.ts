import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { holdForLateListener, isLateListener } from '../../src/http/protocol/late-listener.ts'
import { type Headers, requestWith } from '../support/request-with-body.ts'

const response = Object.assign(new EventEmitter(), { closed: false }) as unknown as ServerResponse

test('only chunked uploads of superagent on Node wait for their response (W3.8.1)', () => {
  const chunked = { 'transfer-encoding': 'chunked' }
  const nameless = { ...chunked, 'accept-encoding': 'gzip, deflate', connection: 'close' }
  const cases: ReadonlyArray<readonly [Headers, isLate: boolean]> = [
    [{ ...chunked, 'user-agent': 'node-superagent/3.8.3' }, true],
    [{ ...chunked, 'user-agent': 'not node-superagent' }, false],
    [{ ...chunked, 'user-agent': 'node-superagent/3.8.3', expect: '100-continue' }, false],
    [{ 'content-length': '5', 'user-agent': 'node-superagent/3.8.3' }, false],
    [nameless, true],
    [{ ...nameless, connection: 'Close' }, true],
    [{ ...nameless, connection: 'keep-alive' }, false],
    [{ ...chunked, 'accept-encoding': 'gzip, deflate' }, false],
    [{ ...nameless, 'accept-encoding': 'gzip, deflate, br' }, false],
    [{ ...nameless, 'user-agent': 'curl/8' }, false],
    [{ ...nameless, 'user-agent': '' }, false],
  ]
  for (const [headers, isLate] of cases) {
    assert.equal(isLateListener({ headers } as unknown as IncomingMessage), isLate, JSON.stringify(headers))
  }
})

test('the response to such an upload waits for the end of the upload and 20 ms more (W3.8.1)', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { body, request } = requestWith()
  let isHeld = true
  const held = holdForLateListener(request, response).then(() => (isHeld = false))
  t.mock.timers.tick(1000)
  await setImmediate()
  body.push('rest')
  body.push(null)
  while (!body.readableEnded) await setImmediate()
  await setImmediate()
  t.mock.timers.tick(20)
  await setImmediate()
  assert.equal(isHeld, true)
  t.mock.timers.tick(1)
  await held
  assert.equal(isHeld, false)
})

test('the response to an upload that has come, or whose client has left, waits for no more of it (W3.8.1)', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const state of [
    { complete: true, destroyed: false },
    { complete: false, destroyed: true },
  ]) {
    const { request } = requestWith()
    Object.defineProperty(request, 'destroyed', { value: state.destroyed })
    Object.assign(request, { complete: state.complete })
    let isHeld = true
    const held = holdForLateListener(request, response).then(() => (isHeld = false))
    await setImmediate()
    t.mock.timers.tick(21)
    await setImmediate()
    assert.equal(isHeld, false, JSON.stringify(state))
    await held
  }
})
