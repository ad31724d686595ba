import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { InvalidInput } from '../base/errors.ts'
import { problemOf } from './problem.ts'

/** Errors of Node's parser for bytes that are not a valid request. */
const causes: Readonly<Record<string, { readonly status: number; readonly detail: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The header of the request is too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The header of the request did not come in time.' },
}

/** What has been asked on a connection. */
interface Asked {
  /** The request that was read last, perhaps not to its end. */
  readonly last: IncomingMessage
  readonly response: ServerResponse
  /** The responses that have not ended, in the order of their requests. */
  readonly open: Set<ServerResponse>
}

const byConnection = new WeakMap<Socket, Asked>()

/** Notes what each connection asks, for {@link answerMalformed}. */
export function noteRequests(server: Server): void {
  server.prependListener('request', (last: IncomingMessage, response: ServerResponse) => {
    const open = byConnection.get(last.socket)?.open ?? new Set()
    open.add(response)
    response.once('close', () => open.delete(response))
    byConnection.set(last.socket, { last, response, open })
  })
}

/**
 * Answers bytes that are not a request, after the requests before them: the same kind of body and headers as every other refusal has
 * (D1.4, D1.6). Each request gets one response: where the bytes are the body of a request whose response has begun, the connection is
 * closed without a word. A proxy could give a second response to another client.
 */
export function answerMalformed(
  error: Error & { readonly code?: string },
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const { last, response, open } = byConnection.get(socket) ?? {}
  const isBody = last?.complete === false
  // Nothing was asked either on a connection on which nothing has come in time.
  if ((isBody && response?.headersSent === true) || socket.bytesRead === 0) return socket.destroySoon()
  const before = [...(open ?? [])].findLast(earlier => !(isBody && earlier === response))
  if (before) return void before.once('close', () => answerMalformed(error, socket, headers))
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
