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
/** How many words there are now. */
const SIZE = 3
const HEADER_WORDS = 64

/** The same memory as words, as numbers, and as bytes. */
interface Views {
  readonly words: Int32Array
  readonly doubles: Float64Array
  readonly octets: Buffer
}

/**
 * Memory that all threads of the process share. It only grows, and is divided among tables. Words have four bytes.
 *
 * The views have a fixed length. For one that grows with its memory the engine asks for the length with each access, in a function of
 * its own, which took a fifth of the time that reading a record takes. So a thread makes new views when it takes a lock and the memory
 * has grown. What the lock protects refers to no place beyond: only who holds the lock changes that. Views from before a call of
 * {@link allocate} may be too short after it.
 */
export class SharedMemory {
  /** Where the first allocation begins. */
  static readonly first = HEADER_WORDS

  readonly shared: SharedArrayBuffer
  #views: Views

  /** @param shared the memory of another thread; without it new memory, with `maxBytes` at most */
  constructor(shared?: SharedArrayBuffer, maxBytes: Bytes = MAX_BYTES) {
    this.shared = shared ?? new SharedArrayBuffer(Math.min(FIRST_BYTES, maxBytes), { maxByteLength: maxBytes })
    this.#views = viewsOf(this.shared)
    Atomics.compareExchange(this.words, NEXT, 0, HEADER_WORDS)
    if (!shared) this.#noteSize()
  }

  get words(): Int32Array {
    return this.#views.words
  }

  get doubles(): Float64Array {
    return this.#views.doubles
  }

  get octets(): Uint8Array {
    return this.#views.octets
  }

  /** How often a thread had to sleep because another one held a lock. */
  get sleeps(): number {
    return Atomics.load(this.words, SLEEPS)
  }

  lock(at: number): void {
    if (lock(this.words, at)) Atomics.add(this.words, SLEEPS, 1)
    if (Atomics.load(this.words, SIZE) > this.words.length) this.#views = viewsOf(this.shared)
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
    this.#views = viewsOf(this.shared)
    this.#noteSize()
  }

  #noteSize(): void {
    Atomics.store(this.words, SIZE, this.words.length)
  }

  /** The bytes up to this one, also for those who hold no lock. */
  #upTo(end: number): Buffer {
    if (end > this.#views.octets.length) this.#views = viewsOf(this.shared)
    return this.#views.octets
  }
}

function viewsOf(shared: SharedArrayBuffer): Views {
  const { byteLength } = shared
  return {
    words: new Int32Array(shared, 0, Math.floor(byteLength / 4)),
    doubles: new Float64Array(shared, 0, Math.floor(byteLength / 8)),
    octets: Buffer.from(shared, 0, byteLength),
  }
}
