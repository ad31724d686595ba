import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { answerMalformed, noteRequests } from '../../src/http/malformed.ts'

interface Connection {
  readonly writable?: boolean
  readonly bytesRead?: number
}

/** What is sent for an error of the parser; `undefined` if the connection is closed without a word. */
function answer(code: string | undefined, { writable = true, bytesRead = 100 }: Connection = {}): string | undefined {
  let sent: string | undefined
  let isClosed = false
  const close = (): void => void (isClosed = true)
  const fake = { writable, bytesRead, end: (text: string) => (sent = text), destroy: close, destroySoon: close }
  const error = Object.assign(new Error('parser'), code === undefined ? {} : { code })
  answerMalformed(error, fake as unknown as Socket, { 'x-own': 'a' })
  assert.equal(isClosed, sent === undefined)
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

test('nothing is sent to a client that has left, or that has sent nothing', () => {
  assert.equal(answer('ECONNRESET'), undefined)
  assert.equal(answer('HPE_INVALID_METHOD', { writable: false }), undefined)
  assert.equal(answer('ERR_HTTP_REQUEST_TIMEOUT', { bytesRead: 0 }), undefined)
})

test('what is not a request is answered after the request before it', () => {
  const server = new EventEmitter()
  noteRequests(server as unknown as Server)
  const sent: string[] = []
  const socket = { writable: true, bytesRead: 100, end: (text: string) => sent.push(text) } as unknown as Socket
  const response = Object.assign(new EventEmitter(), { headersSent: false })
  server.emit('request', { socket, complete: true }, response)
  answerMalformed(new Error('parser'), socket, {})
  assert.deepEqual(sent, [])
  response.emit('close')
  assert.match(sent.join(), /^HTTP\/1\.1 400 /)
})
