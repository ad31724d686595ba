import { Buffer } from 'node:buffer'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { ReadTask } from './read-task.ts'

/** A response that stays in memory. It has what Fastify uses of the response of a server. */
class Answer extends Writable {
  statusCode = 200
  headersSent = false
  readonly headers: OutgoingHttpHeaders = {}
  readonly #chunks: Buffer[] = []

  constructor() {
    // Nobody needs it destroyed after its end, which takes a twentieth of the time of a small answer.
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
 * Asks the program as a client would, without a connection. The method of Fastify for this makes a complete request and response for each
 * call, which takes longer than many an answer.
 */
export function ask(app: FastifyInstance, { url, headers }: Pick<ReadTask, 'url' | 'headers'>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = { method: 'GET', url, headers, socket, httpVersionMajor: 1, on: nothing, once: nothing }
    const answer = new Answer()
    answer.once('finish', () => resolve(answer))
    answer.once('error', reject)
    answer.once('close', () => reject(new Error('the answer has no end')))
    app.routing(request as unknown as IncomingMessage, answer as unknown as ServerResponse)
  })
}
