import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { answerMalformed } from '../../src/http/problem.ts'

/** What is sent for an error of the parser; `undefined` if the connection is closed without a word. */
function answer(
  code: string | undefined,
  { writable = true, hasAnswer = false, bytesRead = 100 } = {},
): string | undefined {
  let sent: string | undefined
  let isClosed = false
  const fake = { writable, bytesRead, end: (text: string) => (sent = text), destroySoon: () => (isClosed = true) }
  const error = Object.assign(new Error('parser'), code === undefined ? {} : { code })
  answerMalformed(error, fake as unknown as Socket, { headers: { 'x-own': 'a' }, hasAnswer })
  assert.equal(isClosed, sent === undefined)
  return sent
}

for (const [code, line, detail] of [
  [
    'HPE_HEADER_OVERFLOW',
    '431 Request Header Fields Too Large',
    'The header of the request is too long or has too many fields.',
  ],
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

test('nothing is sent to a client that has left, has sent nothing or has had its answer', () => {
  assert.equal(answer('ECONNRESET'), undefined)
  assert.equal(answer('HPE_INVALID_METHOD', { writable: false }), undefined)
  assert.equal(answer('HPE_INVALID_METHOD', { hasAnswer: true }), undefined)
  assert.equal(answer('ERR_HTTP_REQUEST_TIMEOUT', { bytesRead: 0 }), undefined)
})
