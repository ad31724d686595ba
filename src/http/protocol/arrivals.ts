import type { IncomingMessage } from 'node:http'
import { TooSlow } from '../../base/errors.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'

/** So much is received ahead of its reader, for instance while a file is written. */
const AHEAD: Bytes = 262_144
/** Pieces are joined up to this size when they are taken. */
const JOINED: Bytes = 65_536

/**
 * The bytes of a body that have come and that nobody has taken yet. They are received while the reader does something else; reading
 * them from the stream instead stops and starts the connection for each piece.
 */
export class Arrivals {
  readonly #request: IncomingMessage
  readonly #idleTimeout: Milliseconds
  readonly #idle: NodeJS.Timeout
  #pieces: Uint8Array[] = []
  #size: Bytes = 0
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined

  constructor(request: IncomingMessage, idleTimeout: Milliseconds) {
    this.#request = request
    this.#idleTimeout = idleTimeout
    this.#idle = setTimeout(() => this.#refuse(), idleTimeout)
    request.on('data', this.#add)
    for (const event of ENDS) request.on(event, this.#wake)
  }

  /** The next bytes, or undefined when all that has come is taken. */
  take(): Uint8Array | undefined {
    const pieces = this.#pieces
    let [count, size] = [0, 0]
    for (const { length } of pieces) {
      if (count > 0 && size + length > JOINED) break
      count++
      size += length
    }
    if (count === 0) return undefined
    const taken = pieces.splice(0, count)
    this.#size -= size
    if (this.#request.isPaused() && !this.#isFull()) this.#request.resume()
    return count === 1 ? taken[0] : Buffer.concat(taken, size)
  }

  /** Resolves when there is something to take, or when the body has ended or failed. @throws {TooSlow} */
  next(): Promise<void> {
    this.#idle.refresh()
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }))
  }

  /** Leaves the rest where it is. */
  stop(): void {
    clearTimeout(this.#idle)
    this.#request.off('data', this.#add)
    for (const event of ENDS) this.#request.off(event, this.#wake)
    this.#request.pause()
  }

  readonly #add = (piece: Uint8Array): void => {
    this.#size += piece.length
    if (this.#isFull()) this.#request.pause()
    this.#pieces.push(piece)
    this.#wake()
  }

  readonly #wake = (): void => {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  #isFull(): boolean {
    return this.#size >= AHEAD
  }

  #refuse(): void {
    const message = `Nothing of the body came for ${this.#idleTimeout / 1000} seconds.`
    this.#waiting?.reject(new TooSlow('request-timeout', message))
    this.#waiting = undefined
  }
}

const ENDS = ['end', 'close', 'error'] as const
