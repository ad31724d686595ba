import type { IncomingMessage, Server } from 'node:http'
import type { Bytes } from '../../base/units.ts'
import { countItem, readInSlices } from './sliced-reading.ts'

/** Chunks below this size are joined. */
const SMALL: Bytes = 1024
/** Small, because Node takes it from its pool of buffers: one read can begin a thousand bodies. */
const MAX_JOINED: Bytes = 2 * SMALL
/** A body is one of small chunks when it would have so many bytes more if each of them had the size above. */
const MAX_EXCESS: Bytes = 65_536

/**
 * Joins small HTTP chunks, which Node hands out one by one, and reads the connection of a body of many small ones in slices. They are
 * noticed here, while Node parses what it has read, because Node would read the next bytes before anybody listens for the first.
 */
export function joinChunks(server: Server): void {
  server.prependListener('request', (request: IncomingMessage) => {
    countItem(request.socket)
    if (request.headers['transfer-encoding'] === undefined) return
    const chunks = new JoinedChunks(request)
    request.push = (chunk: Buffer | null) => chunks.push(chunk)
  })
}

/** The chunks of one body, between Node's parser and the request. */
class JoinedChunks {
  readonly #request: IncomingMessage
  readonly #push: (piece: Buffer | null) => boolean
  #excess: Bytes = 0
  #joined: Buffer | undefined
  #length: Bytes = 0

  constructor(request: IncomingMessage) {
    this.#request = request
    this.#push = request.push.bind(request)
  }

  /** As `push` of the request: null is the end, and false asks for a pause. */
  push(chunk: Buffer | null): boolean {
    if (chunk !== null) this.#note(chunk)
    if (chunk !== null && chunk.length < SMALL) return this.#join(chunk)
    this.#handOn()
    return this.#push(chunk)
  }

  #note({ length }: Buffer): void {
    countItem(this.#request.socket)
    if (this.#excess >= MAX_EXCESS) return
    this.#excess = Math.max(0, this.#excess + SMALL - length)
    if (this.#excess >= MAX_EXCESS) readInSlices(this.#request.socket)
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
