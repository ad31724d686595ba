/** Numbers that a seed decides, so that a run that failed can be repeated (xorshift32). */
export class Random {
  #state: number

  constructor(seed: number) {
    // Neighbouring seeds would begin alike, and zero would stay zero.
    this.#state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ 0x2545f491) >>> 0 || 1
    for (let drawn = 0; drawn < 8; drawn++) this.below(2)
  }

  /** From 0 to `bound` - 1. */
  below(bound: number): number {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x >>> 0
    return Math.floor((this.#state / 2 ** 32) * bound)
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new RangeError('there is nothing to pick from')
    return item
  }

  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count)
    for (let index = 0; index < count; index++) bytes[index] = this.below(256)
    return bytes
  }

  /** A generator of its own, for work that runs beside other work. */
  fork(): Random {
    return new Random(this.below(2 ** 31))
  }
}
