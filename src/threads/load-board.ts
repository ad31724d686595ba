import { performance } from 'node:perf_hooks'
import type { Milliseconds } from '../base/units.ts'

/** The numbers of each thread: its connections, and its recent load in thousandths. */
const WORDS = 2
const INTERVAL: Milliseconds = 200
const BUSY = 600

/**
 * The load of each thread, visible to all. A connection belongs to the thread that accepted it, and clients
 * keep connections. A thread with too many asks some of its clients to reconnect, and an idle thread accepts
 * them.
 */
export class LoadBoard {
  readonly shared: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #index: number
  readonly #count: number
  #surplus = 0

  /** @param shared the board of another thread; without it a new one is made */
  constructor(index: number, count: number, shared?: SharedArrayBuffer) {
    this.shared = shared ?? new SharedArrayBuffer(count * WORDS * 4)
    this.#words = new Int32Array(this.shared)
    this.#index = index
    this.#count = count
  }

  /** Publishes the connections and the load of this thread regularly, until the returned function is called. */
  watch(connections: () => number): () => void {
    let last = performance.eventLoopUtilization()
    const timer = setInterval(() => {
      const present = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(present, last)
      last = present
      this.note(connections(), Math.round(utilization * 1000))
    }, INTERVAL).unref()
    return () => clearInterval(timer)
  }

  /** Records this thread's load and compares it with the others. @param busy in thousandths */
  note(connections: number, busy: number): void {
    Atomics.store(this.#words, this.#index * WORDS, connections)
    Atomics.store(this.#words, this.#index * WORDS + 1, busy)
    this.#surplus = this.#surplusOf(connections, busy)
  }

  /** True when the client of the next response should reconnect; returned once per surplus connection. */
  takeSurplus(): boolean {
    if (this.#surplus <= 0) return false
    this.#surplus--
    return true
  }

  #surplusOf(connections: number, busy: number): number {
    if (busy < BUSY || connections < 2) return 0
    let total = 0
    let isOtherIdle = false
    for (let index = 0; index < this.#count; index++) {
      total += Atomics.load(this.#words, index * WORDS)
      if (index !== this.#index && Atomics.load(this.#words, index * WORDS + 1) < busy / 2) isOtherIdle = true
    }
    return isOtherIdle ? Math.max(1, connections - Math.ceil(total / this.#count)) : 0
  }
}
