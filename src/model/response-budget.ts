import type { Bytes } from '../base/units.ts'

/** Of one entry in a response with several. */
const MAX_ENTRY: Bytes = 512 * 1024
/** Of all of them together. */
const MAX_RESPONSE: Bytes = 4 * 2 ** 20

/**
 * How much of a response with several entries (hits, members of a list or group) their graphs may take. What does not fit
 * is shown without its graphs, so that one large entry cannot make every response that contains it slow or impossible.
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

  /** One entry is always shown whole: its size is limited when it is written. */
  static forOne(): ResponseBudget {
    return new ResponseBudget(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  }

  /** The largest entry that may be loaded whole now. */
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
