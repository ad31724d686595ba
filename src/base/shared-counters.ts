/** Words: the next number, the present minute, how often something has happened in it. */
const NEXT = 0
const MINUTE = 1
const IN_MINUTE = 2
const WORDS = 3

/** Two counters that the threads of a process share. */
export class SharedCounters {
  readonly shared: SharedArrayBuffer
  readonly #words: Int32Array

  /** @param shared the counters of another thread; if absent, new ones */
  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(WORDS * 4)) {
    this.shared = shared
    this.#words = new Int32Array(shared)
  }

  /** Returns each number once, in the order of the calls in all threads, up to 2^28; then it begins again at 0. */
  next(): number {
    return Atomics.add(this.#words, NEXT, 1) & (2 ** 28 - 1)
  }

  /** How often this has been called for this minute, with this call. Between two minutes a few calls may count for either. */
  inMinute(minute: number): number {
    const present = minute & (2 ** 31 - 1)
    const last = Atomics.load(this.#words, MINUTE)
    if (last !== present && Atomics.compareExchange(this.#words, MINUTE, last, present) === last) {
      Atomics.store(this.#words, IN_MINUTE, 0)
    }
    return Atomics.add(this.#words, IN_MINUTE, 1) + 1
  }
}
