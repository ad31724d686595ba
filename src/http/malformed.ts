import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { InvalidInput } from '../base/errors.ts'
import { problemOf } from './problem.ts'

/** Errors of Node's parser for bytes that are not a valid request. */
const causes: Readonly<Record<string, { readonly status: number; readonly detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The header of the request is too long or has too many fields.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The header of the request did not come in time.' },
}

/**
 * Answers bytes that are not a request: the same kind of body and headers as every other refusal has (D1.4, D1.6). A message that has been
 * answered gets no second answer, which a proxy could give to another client.
 */
export function answerMalformed(
  error: Error & { readonly code?: string },
  socket: Socket,
  { headers, hasAnswer }: { readonly headers: Readonly<Record<string, string>>; readonly hasAnswer: boolean },
): void {
  // Nothing was asked either on a connection on which nothing has come in time.
  if (error.code === 'ECONNRESET' || hasAnswer || !socket.writable || socket.bytesRead === 0) {
    socket.destroySoon()
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
