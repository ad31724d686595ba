import type { IncomingMessage, Server } from 'node:http'
import type { Bytes } from '../../base/units.ts'

/** Chunks below this size are joined. */
const SMALL: Bytes = 1024
/** Small, because Node takes it from its pool of buffers: one read can begin a thousand bodies. */
const MAX_JOINED: Bytes = 2 * SMALL

/** Joins small HTTP chunks, which Node hands out one by one. */
export function joinChunks(server: Server): void {
  server.prependListener('request', (request: IncomingMessage) => {
    if (request.headers['transfer-encoding'] === undefined) return
    const chunks = new JoinedChunks(request)
    request.push = (chunk: Buffer | null) => chunks.push(chunk)
  })
}

/** The chunks of one body, between Node's parser and the request. */
class JoinedChunks {
  readonly #request: IncomingMessage
  readonly #push: (piece: Buffer | null) => boolean
  #joined: Buffer | undefined
  #length: Bytes = 0

  constructor(request: IncomingMessage) {
    this.#request = request
    this.#push = request.push.bind(request)
  }

  /** As `push` of the request: null is the end, and false asks for a pause. */
  push(chunk: Buffer | null): boolean {
    if (chunk !== null && chunk.length < SMALL) return this.#join(chunk)
    this.#handOn()
    return this.#push(chunk)
  }

  /** A copy dies young and costs less than a kept buffer, of which Node makes one for each chunk. */
  #join(chunk: Buffer): boolean {
    if (this.#length + chunk.length > MAX_JOINED) this.#handOn()
    if (!this.#joined) {
      this.#joined = Buffer.allocUnsafe(MAX_JOINED)
      // Not at the next tick: Node lets that happen after each chunk.
      setImmediate(() => this.#handOn())
    }
    this.#joined.set(chunk, this.#length)
    this.#length += chunk.length
    return this.#request.readableLength + this.#length < this.#request.readableHighWaterMark
  }

  #handOn(): void {
    if (!this.#joined) return
    const piece = this.#joined.subarray(0, this.#length)
    this.#joined = undefined
    this.#length = 0
    this.#push(piece)
  }
}
