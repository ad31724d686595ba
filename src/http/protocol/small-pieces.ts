import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Bytes } from '../../base/units.ts'
import { readInSlices } from './sliced-reading.ts'

/** Each piece costs about as much as so many bytes. */
const COST_OF_PIECE: Bytes = 1024
/** So much more than their bytes may the pieces of a body cost. */
const MAX_EXCESS: Bytes = 262_144

/** Notices a body that comes in many small pieces, such as HTTP chunks of one byte. From then on its connection is read in slices. */
export class SmallPieces {
  readonly #request: IncomingMessage
  #excess: Bytes = 0
  #areMany = false

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  get areMany(): boolean {
    return this.#areMany
  }

  note({ length }: Uint8Array): void {
    this.#excess = Math.max(0, this.#excess + COST_OF_PIECE - length)
    if (this.#areMany || this.#excess < MAX_EXCESS) return
    this.#areMany = true
    const { socket } = this.#request
    // A request that was handed to another thread has no connection there.
    if (socket instanceof Socket) readInSlices(socket)
  }
}
