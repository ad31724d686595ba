import type { Bytes } from '../../base/units.ts'

/** Reads a stream of bytes in portions. When the source fails, its portion ends there. */
export class Portions {
  readonly #source: AsyncIterator<Uint8Array>
  #rest: Uint8Array | undefined
  #isAtEnd = false
  failure: unknown

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#source = bytes[Symbol.asyncIterator]()
  }

  /** Yields at most this many bytes. */
  async *next(most: Bytes): AsyncGenerator<Uint8Array> {
    for (let left = most; left > 0; ) {
      const chunk = await this.#take()
      if (!chunk) return
      const taken = chunk.subarray(0, left)
      if (taken.length < chunk.length) this.#rest = chunk.subarray(left)
      left -= taken.length
      yield taken
    }
  }

  /** Whether no more bytes come, because the source has ended or failed. */
  async isAtEnd(): Promise<boolean> {
    this.#rest ??= await this.#take()
    return this.#rest === undefined
  }

  /** Lets go of the source. Not awaited: behind a blocked `next` it would not settle. */
  close(): void {
    Promise.resolve(this.#source.return?.()).catch(() => {})
  }

  async #take(): Promise<Uint8Array | undefined> {
    const rest = this.#rest
    this.#rest = undefined
    if (rest) return rest
    if (this.#isAtEnd) return undefined
    try {
      for (;;) {
        const { value, done } = await this.#source.next()
        if (done === true) this.#isAtEnd = true
        else if (value.length === 0) continue
        return done === true ? undefined : value
      }
    } catch (error) {
      this.#isAtEnd = true
      this.failure = error
      return undefined
    }
  }
}
