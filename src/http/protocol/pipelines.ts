import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { onResponseEnd } from './response-end.ts'
import { holdReading } from './sliced-reading.ts'

type Exchange = readonly [IncomingMessage, ServerResponse]

interface Waiting {
  readonly begin: () => void
  /** None for what is not a valid request. */
  readonly exchange?: Exchange
}

/** What waits for the response to an earlier request of its connection. */
interface Pipeline {
  readonly waiting: Waiting[]
  /** Whether nothing more is read, once two have waited. */
  isHeld: boolean
}

const byConnection = new WeakMap<Socket, Pipeline>()

/**
 * Handles pipelined requests of a connection one after the other: each begins when the response before it has been handed on as a whole.
 * From the second one on that waits, until none waits any more, the connection is not read. One alone is no sign of a pipeline: a client can
 * have all bytes of a response, and send its next request, before this side knows.
 */
export function handleInTurn(server: Server): void {
  const handlers = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  for (const handle of handlers) {
    server.on('request', (request, response) => {
      // A response has its connection from the start, unless an earlier one has it.
      if (response.socket === null) wait([request, response], () => handle(request, response))
      else handle(request, response)
    })
  }
}

/** Answers what is not a valid request, after the requests before it that wait. */
export function answerInTurn(socket: Socket, answer: () => void): void {
  const waiting = byConnection.get(socket)?.waiting
  if (!waiting) return answer()
  // The rest of the body of this request is what is not valid.
  if (waiting.at(-1)?.exchange?.[0].complete === false) waiting.pop()
  waiting.push({ begin: answer })
}

function wait(exchange: Exchange, begin: () => void): void {
  const [request] = exchange
  const { socket } = request
  let pipeline = byConnection.get(socket)
  if (!pipeline) {
    byConnection.set(socket, (pipeline = { waiting: [], isHeld: false }))
    const { _httpMessage: current } = socket as Socket & { readonly _httpMessage: ServerResponse }
    onResponseEnd(request, current, () => beginNext(socket))
  }
  if (pipeline.waiting.push({ begin, exchange }) > 1 && !pipeline.isHeld) {
    pipeline.isHeld = true
    holdReading(socket, true)
  }
}

function beginNext(socket: Socket): void {
  const pipeline = byConnection.get(socket)
  const next = pipeline?.waiting.shift()
  // A request whose response cannot be sent is not begun.
  if (!pipeline || !next || !socket.writable) return void byConnection.delete(socket)
  if (pipeline.waiting.length === 0) {
    byConnection.delete(socket)
    if (pipeline.isHeld) holdReading(socket, false)
  } else if (next.exchange) {
    onResponseEnd(...next.exchange, () => beginNext(socket))
  }
  next.begin()
}
