import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum number of waiting requests per connection. Few clients pipeline, and proxies do not. */
const MAX_WAITING = 100

/** The latest request of a connection, its response and the one before, and how many requests of the connection wait. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly earlier: ServerResponse | undefined
  readonly waiting: number
}

const latest = new WeakMap<Socket, Exchange>()
const refused = new WeakSet<Socket>()

/**
 * Begins a request when the response before it on its connection has ended (RFC 9112 9.3.2), unless the connection has ended with that.
 * Closes a connection on which too many requests wait.
 */
export function beginInOrder(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
  const { socket } = request
  const before = latest.get(socket)
  const waiting = before && !before.response.closed ? before.waiting + 1 : 0
  latest.set(socket, { request, response, earlier: before?.response, waiting })
  if (waiting > MAX_WAITING) socket.destroy()
  else if (waiting === 0) begin()
  else onResponseEnd(before?.response, () => socket.writable && begin())
}

/** Whether a request of the connection waits for its response. */
export const isAnswering = (socket: Socket): boolean => latest.get(socket)?.response.closed === false

/**
 * Answers what is not a valid request once, after the requests before it.
 * @param answer is told whether the message has been answered already, if the rest of its body is what is not valid
 */
export function answerInOrder(socket: Socket, answer: (hasAnswer: boolean) => void): void {
  if (refused.has(socket)) return
  refused.add(socket)
  const exchange = latest.get(socket)
  const isBody = exchange?.request.complete === false
  const before = isBody ? exchange.earlier : exchange?.response
  onResponseEnd(socket.writable ? before : undefined, () => answer(isBody && exchange.response.headersSent))
}

/** Calls `done` when the response has been handed on as a whole or its client has left; at once if there is none or that is over. */
export function onResponseEnd(response: ServerResponse | undefined, done: () => void): void {
  if (!response || response.closed) done()
  else response.once('close', done)
}
