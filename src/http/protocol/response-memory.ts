import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServerResponse } from 'node:http'
import { Overloaded } from '../../base/errors.ts'
import { notePassing } from '../../base/passing-bytes.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import type { BodyMemoryLimits } from './body.ts'
import { MemoryInUse } from '../../base/memory-in-use.ts'
import { onResponseEnd } from './pipelines.ts'

/** From here on a body counts. The buffers of the system take smaller ones, and a caller gets them in any case. */
const LARGE: Bytes = 65_536

export interface ResponseMemoryOptions {
  readonly limits: BodyMemoryLimits
  /** The longest time in which a client takes nothing of a response. */
  readonly idleTimeout: Milliseconds
  /** The caller whose limit the response counts against. */
  readonly ownerOf: (request: FastifyRequest) => string
}

/**
 * Counts the memory of large bodies from the moment they are sent until the client, or the buffers of the system, have taken them: the
 * client decides when it reads. A single body may exceed the limits, because many entries do not come in parts.
 */
export class ResponseMemory {
  readonly #options: ResponseMemoryOptions
  readonly #inUse = new MemoryInUse()

  constructor(options: ResponseMemoryOptions) {
    this.#options = options
  }

  /** Counts a body that is about to be sent. @throws {Overloaded} when the client must first read what waits */
  add(request: FastifyRequest, reply: FastifyReply, body: unknown): void {
    if (typeof body === 'string' || Buffer.isBuffer(body)) {
      if (body.length >= LARGE) this.#count(request, reply, body)
    } else if (body !== undefined && body !== null) {
      this.#endPauses(reply.raw)
    }
  }

  #count(request: FastifyRequest, reply: FastifyReply, body: string | Buffer): void {
    if (request.method === 'HEAD') return
    const bytes = Buffer.byteLength(body)
    const owner = this.#options.ownerOf(request)
    const waiting = this.#inUse.of(owner)
    // A refusal is sent in any case, and so is the response to a change that has been made.
    if (request.method === 'GET' && reply.statusCode < 400) this.#requireMemory(reply, waiting, bytes)
    this.#inUse.add(owner, bytes, bytes)
    this.#endPauses(reply.raw)
    onResponseEnd(reply.raw, () => this.#release(owner, bytes))
  }

  #requireMemory(reply: FastifyReply, waiting: Bytes, bytes: Bytes): void {
    const { ofOne, ofAll } = this.#options.limits
    const isTooMuch = waiting > 0 && waiting + bytes > ofOne
    if (!isTooMuch && (this.#inUse.ofAll === 0 || this.#inUse.ofAll + bytes <= ofAll)) return
    notePassing(bytes)
    for (const name of Object.keys(reply.getHeaders())) if (describesBody.test(name)) reply.removeHeader(name)
    // Of the requests that wait behind this one, each would be read and refused in the same way.
    reply.header('connection', 'close')
    throw withoutFunctions(
      new Overloaded(
        isTooMuch
          ? 'Your responses that wait take too much memory. Read them first.'
          : 'Responses that wait for their clients take too much memory.',
      ),
    )
  }

  #release(owner: string, bytes: Bytes): void {
    notePassing(bytes)
    this.#inUse.add(owner, -bytes, -bytes)
  }

  /** Ends the connection when bytes wait and the client takes none of them for too long. */
  #endPauses(response: ServerResponse): void {
    response.setTimeout(this.#options.idleTimeout, () => {
      const { socket } = response
      // Where nothing waits, the client is not what takes long.
      if (socket !== null && socket.writableLength > 0) socket.destroy()
    })
    // Before Node's own listener, which sets the time for an idle connection.
    response.prependListener('finish', () => response.socket?.setTimeout(0))
  }
}

/**
 * The error lives as long as its response waits, and so do the functions of its stack trace, which hold the refused body, until the trace
 * has been made a text.
 */
function withoutFunctions<T extends Error>(error: T): T {
  error.stack = String(error.stack)
  return error
}

/** Headers that must not be those of the refusal. */
const describesBody =
  /^(?:content-(?:disposition|encoding|language|length|range|type)|etag|last-modified|cache-control|(?:repr-)?digest|accept-ranges|x-total-count)$/
