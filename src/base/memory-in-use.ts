import type { Bytes } from './units.ts'

/** The memory that bodies or messages take at present: those of each owner, such as a caller or a network, and those of all. */
export class MemoryInUse {
  readonly #ofOne = new Map<string, Bytes>()
  #ofAll: Bytes = 0

  get ofAll(): Bytes {
    return this.#ofAll
  }

  of(owner: string): Bytes {
    return this.#ofOne.get(owner) ?? 0
  }

  /**
   * Counts bytes, or with negative numbers gives them back. An owner without any takes no memory.
   * @param all fewer than `one` where some count for their owner only
   */
  add(owner: string, one: Bytes, all: Bytes): void {
    this.#ofAll += all
    const total = this.of(owner) + one
    if (total > 0) this.#ofOne.set(owner, total)
    else this.#ofOne.delete(owner)
  }
}
