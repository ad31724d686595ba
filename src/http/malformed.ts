import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { InvalidInput } from '../base/errors.ts'
import { problemOf } from './problem.ts'

/** Errors of Node's parser for bytes that are not a valid request. */
const causes: Readonly<Record<string, { readonly status: number; readonly detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The header of the request is too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The header of the request did not come in time.' },
}

/** Answers bytes that are not a request: the same kind of body and headers as every other refusal has (D1.4, D1.6). */
export function answerMalformed(
  error: Error & { readonly code?: string },
  socket: Socket & {
    readonly _httpMessage?: { readonly _headerSent: boolean; readonly writableEnded: boolean } | null
  },
  headers: Readonly<Record<string, string>>,
): void {
  const earlier = socket._httpMessage
  // The client has disconnected, or the response to an earlier request has begun, not ended, and must not be mixed with this one.
  if (error.code === 'ECONNRESET' || !socket.writable || (earlier?._headerSent === true && !earlier.writableEnded)) {
    socket.destroy()
    return
  }
  const { status, detail } = causes[error.code ?? ''] ?? { status: 400, detail: 'The request is not valid HTTP.' }
  const body = JSON.stringify({ ...problemOf(new InvalidInput('bad-request', detail), '').body, status })
  const lines = Object.entries({
    ...headers,
    'cache-control': 'no-store',
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
