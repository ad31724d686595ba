import { Overloaded } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'
import { lock, unlock } from './shared-lock.ts'

/** Address space only: the machine provides memory as it is used. Below 2^31, so that every offset is a small integer. */
const MAX_BYTES: Bytes = 2 ** 31 - 2 ** 16
const FIRST_BYTES: Bytes = 2 ** 20

/** Words of the header; allocated memory begins after them. */
const NEXT = 0
const GROWING = 1
const SLEEPS = 2
const HEADER_WORDS = 64

/** Memory that all threads of the process share. It only grows, and is divided among tables. Words have four bytes. */
export class SharedMemory {
  /** Where the first allocation begins. */
  static readonly first = HEADER_WORDS

  readonly shared: SharedArrayBuffer
  readonly words: Int32Array
  readonly doubles: Float64Array
  readonly octets: Uint8Array
  #buffer: Buffer

  /** @param shared the memory of another thread; without it new memory, with `maxBytes` at most */
  constructor(shared?: SharedArrayBuffer, maxBytes: Bytes = MAX_BYTES) {
    this.shared = shared ?? new SharedArrayBuffer(Math.min(FIRST_BYTES, maxBytes), { maxByteLength: maxBytes })
    // A view without a length grows with its memory, in whichever thread that happens.
    this.words = new Int32Array(this.shared)
    this.doubles = new Float64Array(this.shared)
    this.octets = new Uint8Array(this.shared)
    this.#buffer = Buffer.from(this.shared, 0, this.shared.byteLength)
    Atomics.compareExchange(this.words, NEXT, 0, HEADER_WORDS)
  }

  /** How often a thread had to sleep because another one held a lock. */
  get sleeps(): number {
    return Atomics.load(this.words, SLEEPS)
  }

  lock(at: number): void {
    if (lock(this.words, at)) Atomics.add(this.words, SLEEPS, 1)
  }

  unlock(at: number): void {
    unlock(this.words, at)
  }

  /** Decodes UTF-8 text at these bytes. */
  text(from: number, to: number): string {
    return this.#upTo(to).toString('utf8', from, to)
  }

  /** Writes a text in UTF-8 that takes `length` bytes. */
  write(text: string, from: number, length: Bytes): void {
    this.#upTo(from + length).write(text, from, length, 'utf8')
  }

  /**
   * Allocates `count` words, a multiple of four, all zero, and returns the first. @throws {Overloaded} when no memory is
   * left
   */
  allocate(count: number): number {
    const wanted = Math.ceil(count / 4) * 4
    this.lock(GROWING)
    try {
      const start = Atomics.load(this.words, NEXT)
      const end = (start + wanted) * 4
      if (end > this.shared.byteLength) this.#grow(end)
      Atomics.store(this.words, NEXT, start + wanted)
      return start
    } finally {
      this.unlock(GROWING)
    }
  }

  #grow(needed: Bytes): void {
    const max = this.shared.maxByteLength
    if (needed > max) throw new Overloaded('Too many logins and counters are kept at once.')
    this.shared.grow(Math.min(max, Math.max(needed, this.shared.byteLength * 2)))
  }

  /** A view for texts, which unlike the others does not grow. */
  #upTo(end: number): Buffer {
    if (end > this.#buffer.length) this.#buffer = Buffer.from(this.shared, 0, this.shared.byteLength)
    return this.#buffer
  }
}
