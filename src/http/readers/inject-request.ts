import { Buffer } from 'node:buffer'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { ReadTask } from './read-task.ts'

/** A response that stays in memory. It has what Fastify uses of the response of a server. */
class MemoryResponse extends Writable {
  statusCode = 200
  headersSent = false
  readonly headers: OutgoingHttpHeaders = {}
  readonly #chunks: Buffer[] = []

  constructor() {
    // Nobody needs it destroyed after its end, which takes a twentieth of the time of a small response.
    super({ autoDestroy: false })
  }

  setHeader(name: string, value: string): void {
    this.headers[name] = value
  }

  getHeader(name: string): OutgoingHttpHeaders[string] {
    return this.headers[name]
  }

  getHeaders(): OutgoingHttpHeaders {
    return this.headers
  }

  hasHeader(name: string): boolean {
    return name in this.headers
  }

  removeHeader(name: string): void {
    delete this.headers[name]
  }

  writeHead(status: number, headers: OutgoingHttpHeaders): this {
    this.statusCode = status
    this.headersSent = true
    Object.assign(this.headers, headers)
    return this
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.headersSent = true
    this.#chunks.push(chunk)
    done()
  }

  get body(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}

const socket = {}
const nothing = (): void => undefined

/**
 * Sends a request to the program without a connection. Fastify's own `inject` makes a complete request and response for each call, which
 * takes longer than many a response.
 */
export function injectRequest(
  app: FastifyInstance,
  { url, headers }: Pick<ReadTask, 'url' | 'headers'>,
): Promise<MemoryResponse> {
  return new Promise((resolve, reject) => {
    const request = { method: 'GET', url, headers, socket, httpVersionMajor: 1, on: nothing, once: nothing }
    const response = new MemoryResponse()
    response.once('finish', () => resolve(response))
    response.once('error', reject)
    response.once('close', () => reject(new Error('the response has no end')))
    app.routing(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
}
