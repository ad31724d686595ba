/** An immutable set of document numbers, one bit each. */
export class DocBitmap {
  static readonly EMPTY = new DocBitmap(new Uint32Array(0))

  readonly #words: Uint32Array
  #size: number | undefined

  private constructor(words: Uint32Array) {
    this.#words = words
  }

  /** @param docs integers separated by commas, as `group_concat` returns them */
  static parse(docs: string): DocBitmap {
    const numbers = numbersOf(docs)
    return numbers.length === 0 ? DocBitmap.EMPTY : DocBitmap.of(numbers)
  }

  static of(docs: readonly number[] | Uint32Array): DocBitmap {
    let last = 0
    for (const doc of docs) if (doc > last) last = doc
    const words = new Uint32Array((last >>> 5) + 1)
    for (const doc of docs) words[doc >>> 5] = (words[doc >>> 5] ?? 0) | (1 << (doc & 31))
    return new DocBitmap(words)
  }

  get size(): number {
    this.#size ??= this.#words.reduce((sum, word) => sum + bitsOf(word), 0)
    return this.#size
  }

  /** Its approximate size in memory. */
  get bytes(): number {
    return this.#words.byteLength + 200
  }

  has(doc: number): boolean {
    return (((this.#words[doc >>> 5] ?? 0) >>> (doc & 31)) & 1) === 1
  }

  and(other: DocBitmap): DocBitmap {
    const [short, long] = byLength(this.#words, other.#words)
    return new DocBitmap(short.map((word, at) => word & (long[at] ?? 0)))
  }

  or(other: DocBitmap): DocBitmap {
    const [short, long] = byLength(this.#words, other.#words)
    const words = long.slice()
    for (const [at, word] of short.entries()) words[at] = (words[at] ?? 0) | word
    return new DocBitmap(words)
  }

  without(other: DocBitmap): DocBitmap {
    return new DocBitmap(this.#words.map((word, at) => word & ~(other.#words[at] ?? 0)))
  }

  /** In ascending order. */
  docs(): number[] {
    const docs: number[] = []
    const words = this.#words
    for (let at = 0; at < words.length; at++) {
      for (let rest = words[at] ?? 0; rest !== 0; rest &= rest - 1) docs.push(at * 32 + 31 - Math.clz32(rest & -rest))
    }
    return docs
  }
}

const byLength = (one: Uint32Array, other: Uint32Array): [short: Uint32Array, long: Uint32Array] =>
  one.length < other.length ? [one, other] : [other, one]

/** Number of ones in a 32-bit word (Hacker's Delight, 5-1). */
function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return (((fours + (fours >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
}

/** Parsed digit by digit for speed: there may be 100 000 numbers, each below 2^32. */
export function numbersOf(docs: string): Uint32Array {
  // A number takes at least a digit and a comma.
  const numbers = new Uint32Array((docs.length + 1) >>> 1)
  let count = 0
  let number = 0
  for (let at = 0; at < docs.length; at++) {
    const code = docs.charCodeAt(at)
    if (code === COMMA) {
      numbers[count++] = number
      number = 0
    } else {
      number = number * 10 + code - ZERO
    }
  }
  if (docs !== '') numbers[count++] = number
  return numbers.subarray(0, count)
}

const COMMA = 44
const ZERO = 48
