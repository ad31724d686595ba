import type { Bytes } from '../base/units.ts'

/** Maximum size of one entry in a response with several. */
const MAX_ENTRY: Bytes = 512 * 1024
/** Maximum size of all entries of a response together. */
const MAX_RESPONSE: Bytes = 4 * 2 ** 20

/**
 * Limits the size of graphs in a response with several entries (hits, members of a list or group). Entries that do not fit
 * are shown without their graphs, so that one large entry cannot make every response that contains it slow or impossible.
 */
export class ResponseBudget {
  #left: Bytes
  readonly #maxEntry: Bytes

  private constructor(left: Bytes, maxEntry: Bytes) {
    this.#left = left
    this.#maxEntry = maxEntry
  }

  static forMany(): ResponseBudget {
    return new ResponseBudget(MAX_RESPONSE, MAX_ENTRY)
  }

  /** A single entry is always shown completely: its size is limited when it is written. */
  static forOne(): ResponseBudget {
    return new ResponseBudget(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  }

  /** The largest entry that may still be loaded completely. */
  get maxEntry(): Bytes {
    return Math.max(0, Math.min(this.#maxEntry, this.#left))
  }

  spend(bytes: Bytes): void {
    this.#left -= bytes
  }

  /** How many of `most` rows of about this size still fit. */
  rowsLeft(most: number, bytesEach: Bytes): number {
    return Math.max(0, Math.min(most, Math.floor(this.#left / bytesEach)))
  }
}
