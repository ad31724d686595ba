import { createHash } from 'node:crypto'
import type { System } from '../../src/base/system.ts'
import type { Milliseconds } from '../../src/base/units.ts'

/** What the clock of a service in the process of its test says at first. */
export const START: Milliseconds = Date.UTC(2026, 10, 21, 10, 0, 0)

/** A system whose clock moves only when a test moves it, and whose randomness comes from a seed. */
export class FakeSystem implements System {
  #now: Milliseconds = START
  #monotonic: Milliseconds = 1000
  #seed: string
  #drawn = 0
  readonly #onPass: (duration: Milliseconds) => void

  /** @param onPass called when time passes, for code that does not use this clock */
  constructor(seed = 'seed', onPass: (duration: Milliseconds) => void = () => {}) {
    this.#seed = seed
    this.#onPass = onPass
  }

  now(): Milliseconds {
    return this.#now
  }

  /** Each moment is 456 microseconds after the full millisecond. */
  preciseNow(): Milliseconds {
    return this.#now + 0.456
  }

  monotonic(): Milliseconds {
    return this.#monotonic
  }

  randomBytes(count: number): Uint8Array {
    const blocks: Buffer[] = []
    while (Buffer.concat(blocks).length < count) {
      blocks.push(
        createHash('sha256')
          .update(`${this.#seed}/${this.#drawn++}`)
          .digest(),
      )
    }
    return Buffer.concat(blocks).subarray(0, count)
  }

  /** Lets time pass on both clocks. */
  pass(duration: Milliseconds): void {
    this.#now += duration
    this.#monotonic += duration
    this.#onPass(duration)
  }

  /** Sets the wall clock, as an administrator or a time server would; the monotonic clock does not notice. */
  jump(by: Milliseconds): void {
    this.#now += by
  }
}
