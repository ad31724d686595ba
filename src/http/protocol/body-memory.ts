import type { IncomingMessage, ServerResponse } from 'node:http'
import { Overloaded } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'

export interface BodyMemoryLimits {
  /** For bodies of one caller at the same time. */
  readonly ofOne: Bytes
  /** For bodies of all callers. */
  readonly ofAll: Bytes
}

/** The memory that the body of one request takes. */
export interface BodyReservation {
  /**
   * Counts bytes that are about to come against the limit of the caller, before any of them is read. @throws {Overloaded}
   */
  announce(bytes: Bytes): void
  /** Counts bytes that have come. @throws {Overloaded} */
  add(bytes: Bytes): void
}

/**
 * Counts the memory of bodies that are read as a whole, from their first byte until the response has ended: in between they wait for
 * more bytes, for a thread that parses them, or for the turn to write. What a caller announces counts against their own limit at once, so
 * that of many bodies the first ones are read to the end. Against the limit of all counts only what has come, so that nobody takes
 * memory from others by announcing much.
 */
export class BodyMemory {
  readonly #limits: BodyMemoryLimits
  readonly #owners = new WeakMap<IncomingMessage, string>()
  readonly #ofOne = new Map<string, Bytes>()
  #ofAll: Bytes = 0

  constructor(limits: BodyMemoryLimits) {
    this.#limits = limits
  }

  /** Says whose request this is: a user, or the address of a guest. */
  belongs(request: IncomingMessage, owner: string): void {
    this.#owners.set(request, owner)
  }

  reserve(request: IncomingMessage, response: ServerResponse): BodyReservation {
    const owner = this.#owners.get(request) ?? ''
    let [announced, received] = [0, 0]
    let isOver = response.closed
    response.once('close', () => {
      isOver = true
      this.#ofAll -= received
      const rest = (this.#ofOne.get(owner) ?? 0) - announced
      if (rest > 0) this.#ofOne.set(owner, rest)
      else this.#ofOne.delete(owner)
    })
    const announce = (bytes: Bytes): void => {
      if (bytes <= announced || isOver) return
      const ofOne = (this.#ofOne.get(owner) ?? 0) + bytes - announced
      if (ofOne > this.#limits.ofOne) throw new Overloaded('Your large bodies take too much memory at once.')
      this.#ofOne.set(owner, ofOne)
      announced = bytes
    }
    const add = (bytes: Bytes): void => {
      if (isOver) return
      announce(received + bytes)
      if (this.#ofAll + bytes > this.#limits.ofAll) throw new Overloaded('Too many large bodies at once.')
      this.#ofAll += bytes
      received += bytes
    }
    return { announce, add }
  }
}
