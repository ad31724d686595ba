import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { onResponseEnd } from './response-end.ts'

/** The order of the requests on one connection. */

/** Maximum number of waiting requests per connection. Few clients pipeline, and proxies do not. */
const MAX_WAITING = 100

/** The latest request of a connection, its response and the response before, and the number of waiting requests of the connection. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly earlier: ServerResponse | undefined
  readonly waiting: number
}

const latest = new WeakMap<Socket, Exchange>()
const refused = new WeakSet<Socket>()

/**
 * Hands a request on when the response before it on its connection has ended (RFC 9112 9.3.2), unless the connection has ended with that.
 * Closes a connection on which too many requests wait.
 */
export function inOrder(handle: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = request
    const before = latest.get(socket)
    const waiting = before && !before.response.closed ? before.waiting + 1 : 0
    latest.set(socket, { request, response, earlier: before?.response, waiting })
    if (waiting > MAX_WAITING) socket.destroy()
    else if (waiting === 0) handle(request, response)
    else onResponseEnd(before?.response, () => socket.writable && handle(request, response))
  }
}

/** Whether a request of the connection waits for its response. */
export const isAnswering = (socket: Socket): boolean => latest.get(socket)?.response.closed === false

/**
 * Answers an invalid request once, after the requests before it.
 * @param answer gets true if the message has been answered already: then the rest of its body is invalid
 */
export function answerInOrder(socket: Socket, answer: (hasAnswer: boolean) => void): void {
  if (refused.has(socket)) return
  refused.add(socket)
  const exchange = latest.get(socket)
  const isBody = exchange?.request.complete === false
  const before = isBody ? exchange.earlier : exchange?.response
  onResponseEnd(socket.writable ? before : undefined, () => answer(isBody && exchange.response.headersSent))
}
