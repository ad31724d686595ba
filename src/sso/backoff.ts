import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'

const FIRST_PAUSE: Milliseconds = 1_000

/** Pauses between attempts: a second, then each time twice as long, up to a limit. After a long quiet time they begin anew. */
export class Backoff {
  readonly #system: System
  readonly #longest: Milliseconds
  /** Monotonic. */
  #last: Milliseconds = -Infinity
  #pause: Milliseconds = 0

  constructor(system: System, longest: Milliseconds) {
    this.#system = system
    this.#longest = longest
  }

  /** Whether the next attempt may be made. */
  get isOver(): boolean {
    return this.#quiet() >= this.#pause
  }

  /** Notes an attempt. */
  extend(): void {
    const isNew = this.#pause === 0 || this.#quiet() >= 2 * this.#longest
    this.#pause = isNew ? FIRST_PAUSE : Math.min(2 * this.#pause, this.#longest)
    this.#last = this.#system.monotonic()
  }

  /** Forgets all attempts. */
  end(): void {
    this.#pause = 0
  }

  #quiet(): Milliseconds {
    return this.#system.monotonic() - this.#last
  }
}
