import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { answerMalformed } from '../../src/http/malformed.ts'

interface FakeSocket {
  writable?: boolean
  /** The head of the response to an earlier request has been sent, and its end. */
  headSent?: boolean
  isEnded?: boolean
}

/** What is sent for an error of the parser; `undefined` if the connection is closed without a word. */
function answer(code: string | undefined, socket: FakeSocket = {}): string | undefined {
  let sent: string | undefined
  let isDestroyed = false
  const { writable = true, headSent, isEnded = false } = socket
  const fake = {
    writable,
    _httpMessage: headSent === undefined ? null : { _headerSent: headSent, writableEnded: isEnded },
    end: (text: string) => (sent = text),
    destroy: () => (isDestroyed = true),
  } as unknown as Socket
  answerMalformed(Object.assign(new Error('parser'), code === undefined ? {} : { code }), fake, { 'x-own': 'a' })
  assert.equal(isDestroyed, sent === undefined)
  return sent
}

for (const [code, line, detail] of [
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large', 'The header of the request is too long.'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', 'The header of the request did not come in time.'],
  ['HPE_INVALID_METHOD', '400 Bad Request', 'The request is not valid HTTP.'],
  [undefined, '400 Bad Request', 'The request is not valid HTTP.'],
] as const) {
  test(`${code ?? 'an unknown error'} of the parser is answered with ${line} like other refusals (D1.4, D1.6)`, () => {
    const [head = '', body = ''] = answer(code)?.split('\r\n\r\n') ?? []
    assert.deepEqual(head.split('\r\n'), [
      `HTTP/1.1 ${line}`,
      'x-own: a',
      'cache-control: no-store',
      'content-type: application/problem+json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ])
    const { status, detail: sent, code: own } = JSON.parse(body) as Record<string, unknown>
    assert.deepEqual([status, sent, own], [Number(line.slice(0, 3)), detail, 'bad-request'])
  })
}

test('nothing is sent to a client that has left, or in the middle of another response', () => {
  assert.equal(answer('ECONNRESET'), undefined)
  assert.equal(answer('HPE_INVALID_METHOD', { writable: false }), undefined)
  assert.equal(answer('HPE_INVALID_METHOD', { headSent: true }), undefined)
  assert.ok(answer('HPE_INVALID_METHOD', { headSent: false }))
  assert.ok(answer('HPE_INVALID_METHOD', { headSent: true, isEnded: true }))
})
