import type { Bytes, Milliseconds } from '../../base/units.ts'
import type { SharedMemory } from './shared-memory.ts'
import { classBytes, SIZE_CLASSES, sizeClass } from './size-class.ts'

/** The words of a stripe: its lock, its buckets, its list in order of insertion, its unused memory. */
const LOCK = 0
const COUNT = 1
const BUCKETS = 2
const BUCKET_COUNT = 3
const OLDEST = 4
const YOUNGEST = 5
const SWEEPER = 6
const CHUNK = 7
const CHUNK_END = 8
/** A double: the number of the last insertion or change. */
const CHANGES = 10
/** The first unused block of each size class; each points to the next. */
const UNUSED = 12
export const STRIPE_WORDS = UNUSED + SIZE_CLASSES

/** The words of a record; the bytes of key and value follow. */
const HASH = 0
const NEXT_IN_BUCKET = 1
const OLDER = 2
const YOUNGER = 3
/** Doubles: when it expires, the number of its last change, and of its insertion. */
const EXPIRES = 4
const VERSION = 6
const INSERTED = 8
/** The size class, above 16 bits that hold the length of the key in bytes. */
const CLASS_AND_KEY = 10
const VALUE_BYTES = 11
const RECORD_WORDS = 12
/** Also the part of the largest block that key and value cannot use. */
export const RECORD_BYTES: Bytes = RECORD_WORDS * 4

const FIRST_BUCKETS = 16
const CHUNK_BYTES: Bytes = 65_536

/** A key as bytes with their hash. */
export interface HashedKey {
  readonly bytes: Uint8Array
  readonly length: Bytes
  readonly hash: number
}

/** A live record: its content, and the number of its last change. */
export interface SharedEntry {
  readonly text: string
  readonly expires: Milliseconds
  readonly version: number
}

/** A record found while iterating over a stripe in order of insertion. */
export interface SharedRecord extends SharedEntry {
  readonly key: string
  /** Where the iteration continues. */
  readonly at: number
  readonly inserted: number
}

/**
 * A hash table in shared memory with its own lock. The caller of each method must hold the lock. No method calls foreign
 * code or leaves the table half changed: the step that can fail, allocating memory, comes first.
 */
export class SharedStripe {
  readonly #memory: SharedMemory
  readonly #at: number

  constructor(memory: SharedMemory, at: number) {
    this.#memory = memory
    this.#at = at
  }

  get lockAt(): number {
    return this.#at + LOCK
  }

  /** Records held, expired ones included. */
  get count(): number {
    return this.#word(COUNT)
  }

  /**
   * The record of the key, expired or not; 0 for none.
   * @param known a version that the record of this key had: no other one ever has it, so its key is not compared again
   */
  find({ bytes, length, hash }: HashedKey, known?: number): number {
    const { words, octets } = this.#memory
    const buckets = this.#word(BUCKETS)
    if (buckets === 0) return 0
    let record = words[buckets + (hash & (this.#word(BUCKET_COUNT) - 1))] as number
    for (; record !== 0; record = words[record + NEXT_IN_BUCKET] as number) {
      if (words[record + HASH] !== hash || ((words[record + CLASS_AND_KEY] as number) & 0xffff) !== length) continue
      if (this.version(record) === known) return record
      const from = record * 4 + RECORD_BYTES
      let same = 0
      while (same < length && octets[from + same] === bytes[same]) same++
      if (same === length) return record
    }
    return 0
  }

  expires(record: number): Milliseconds {
    return this.#memory.doubles[(record + EXPIRES) >> 1] as number
  }

  version(record: number): number {
    return this.#memory.doubles[(record + VERSION) >> 1] as number
  }

  /** @param known a version of the record whose text the caller has: its text is not read again */
  read(record: number, known?: number): SharedEntry {
    const version = this.version(record)
    return { text: version === known ? '' : this.#text(record), expires: this.expires(record), version }
  }

  #text(record: number): string {
    const from = record * 4 + RECORD_BYTES + this.#keyBytes(record)
    return this.#memory.text(from, from + (this.#memory.words[record + VALUE_BYTES] as number))
  }

  /** Replaces the content of a record without changing its position. @throws {Overloaded} without a change */
  replace(record: number, key: HashedKey, text: string, expires: Milliseconds): void {
    const size = Buffer.byteLength(text)
    const needed = RECORD_BYTES + key.length + size
    if (needed <= classBytes(this.#class(record))) return this.#fill(record, key, { text, size, expires })
    const larger = this.#allocate(sizeClass(needed))
    const { words, doubles } = this.#memory
    this.#writeKey(larger, key, sizeClass(needed))
    this.#fill(larger, key, { text, size, expires })
    doubles[(larger + INSERTED) >> 1] = doubles[(record + INSERTED) >> 1] as number
    const [older, younger] = [words[record + OLDER] as number, words[record + YOUNGER] as number]
    words[larger + OLDER] = older
    words[larger + YOUNGER] = younger
    this.#link(older, larger)
    this.#linkBack(younger, larger)
    if (this.#word(SWEEPER) === record) this.#set(SWEEPER, larger)
    this.#unchain(record, larger)
    this.#free(record, this.#class(record))
  }

  /** Inserts an absent key as the youngest. @throws {Overloaded} without a change */
  insert(key: HashedKey, text: string, expires: Milliseconds): void {
    if (this.count >= this.#word(BUCKET_COUNT)) this.#moreBuckets()
    const size = Buffer.byteLength(text)
    const kind = sizeClass(RECORD_BYTES + key.length + size)
    const record = this.#allocate(kind)
    const { words, doubles } = this.#memory
    this.#writeKey(record, key, kind)
    this.#fill(record, key, { text, size, expires })
    doubles[(record + INSERTED) >> 1] = this.version(record)
    this.#chain(record)
    const youngest = this.#word(YOUNGEST)
    words[record + OLDER] = youngest
    words[record + YOUNGER] = 0
    this.#link(youngest, record)
    this.#set(YOUNGEST, record)
    this.#set(COUNT, this.count + 1)
  }

  delete(record: number): void {
    const { words } = this.#memory
    const [older, younger] = [words[record + OLDER] as number, words[record + YOUNGER] as number]
    if (this.#word(SWEEPER) === record) this.#set(SWEEPER, younger)
    this.#link(older, younger)
    this.#linkBack(younger, older)
    this.#unchain(record, 0)
    this.#set(COUNT, this.count - 1)
    this.#free(record, this.#class(record))
  }

  deleteOldest(): void {
    const oldest = this.#word(OLDEST)
    if (oldest !== 0) this.delete(oldest)
  }

  /** Checks the next `count` records, in circles, and deletes those that have expired. */
  sweep(count: number, now: Milliseconds): void {
    for (let seen = 0; seen < count; seen++) {
      const record = this.#word(SWEEPER) || this.#word(OLDEST)
      if (record === 0) return
      const younger = this.#memory.words[record + YOUNGER] as number
      if (this.expires(record) <= now) this.delete(record)
      this.#set(SWEEPER, younger)
      if (younger === 0) return
    }
  }

  /** At most `count` records inserted after the one given, oldest first. */
  after(last: Pick<SharedRecord, 'at' | 'inserted'> | undefined, count: number): SharedRecord[] {
    const { words, doubles } = this.#memory
    const found: SharedRecord[] = []
    const inserted = (record: number): number => doubles[(record + INSERTED) >> 1] as number
    // The place of the last record may hold another record by now, or unused memory.
    const isThere = last !== undefined && this.#isLive(last.at) && inserted(last.at) === last.inserted
    let record = isThere ? (words[last.at + YOUNGER] as number) : this.#word(OLDEST)
    for (; record !== 0 && found.length < count; record = words[record + YOUNGER] as number) {
      if (last && inserted(record) <= last.inserted) continue
      const from = record * 4 + RECORD_BYTES
      const key = this.#memory.text(from, from + this.#keyBytes(record))
      found.push({ ...this.read(record), key, at: record, inserted: inserted(record) })
    }
    return found
  }

  /** Whether a block is in use as a record: an unused block has no key. */
  #isLive(record: number): boolean {
    return this.#keyBytes(record) > 0
  }

  #word(at: number): number {
    return this.#memory.words[this.#at + at] as number
  }

  #set(at: number, value: number): void {
    this.#memory.words[this.#at + at] = value
  }

  #keyBytes(record: number): Bytes {
    return (this.#memory.words[record + CLASS_AND_KEY] as number) & 0xffff
  }

  #class(record: number): number {
    return (this.#memory.words[record + CLASS_AND_KEY] as number) >> 16
  }

  /** Makes `younger` follow `older`; 0 stands for an end of the list. */
  #link(older: number, younger: number): void {
    if (older === 0) this.#set(OLDEST, younger)
    else this.#memory.words[older + YOUNGER] = younger
  }

  #linkBack(younger: number, older: number): void {
    if (younger === 0) this.#set(YOUNGEST, older)
    else this.#memory.words[younger + OLDER] = older
  }

  #writeKey(record: number, { bytes, length, hash }: HashedKey, kind: number): void {
    const { words, octets } = this.#memory
    words[record + HASH] = hash
    words[record + CLASS_AND_KEY] = (kind << 16) | length
    for (let at = 0; at < length; at++) octets[record * 4 + RECORD_BYTES + at] = bytes[at] as number
  }

  #fill(record: number, key: HashedKey, value: { text: string; size: Bytes; expires: Milliseconds }): void {
    const { words, doubles } = this.#memory
    const changes = (doubles[(this.#at + CHANGES) >> 1] as number) + 1
    doubles[(this.#at + CHANGES) >> 1] = changes
    doubles[(record + VERSION) >> 1] = changes
    doubles[(record + EXPIRES) >> 1] = value.expires
    words[record + VALUE_BYTES] = value.size
    this.#memory.write(value.text, record * 4 + RECORD_BYTES + key.length, value.size)
  }

  #bucket(record: number): number {
    const hash = this.#memory.words[record + HASH] as number
    return this.#word(BUCKETS) + (hash & (this.#word(BUCKET_COUNT) - 1))
  }

  #chain(record: number): void {
    const { words } = this.#memory
    const bucket = this.#bucket(record)
    words[record + NEXT_IN_BUCKET] = words[bucket] as number
    words[bucket] = record
  }

  /** Removes a record from its bucket, and inserts `substitute` in its place unless that is 0. */
  #unchain(record: number, substitute: number): void {
    const { words } = this.#memory
    let at = this.#bucket(record)
    while (words[at] !== record) at = (words[at] as number) + NEXT_IN_BUCKET
    const next = words[record + NEXT_IN_BUCKET] as number
    if (substitute !== 0) words[substitute + NEXT_IN_BUCKET] = next
    words[at] = substitute === 0 ? next : substitute
  }

  #moreBuckets(): void {
    const [old, count] = [this.#word(BUCKETS), this.#word(BUCKET_COUNT)]
    const more = Math.max(FIRST_BUCKETS, count * 2)
    const buckets = this.#allocate(sizeClass(more * 4))
    const { words } = this.#memory
    words.fill(0, buckets, buckets + more)
    this.#set(BUCKETS, buckets)
    this.#set(BUCKET_COUNT, more)
    for (let record = this.#word(OLDEST); record !== 0; record = words[record + YOUNGER] as number) this.#chain(record)
    if (old !== 0) this.#free(old, sizeClass(count * 4))
  }

  #allocate(kind: number): number {
    const { words } = this.#memory
    const unused = this.#word(UNUSED + kind)
    if (unused !== 0) {
      this.#set(UNUSED + kind, words[unused] as number)
      return unused
    }
    const count = classBytes(kind) / 4
    // A large allocation, such as buckets, would leave most of the present chunk unused.
    if (count * 8 > CHUNK_BYTES) return this.#memory.allocate(count)
    if (this.#word(CHUNK) + count > this.#word(CHUNK_END)) {
      this.#set(CHUNK, this.#memory.allocate(CHUNK_BYTES / 4))
      this.#set(CHUNK_END, this.#word(CHUNK) + CHUNK_BYTES / 4)
    }
    const piece = this.#word(CHUNK)
    this.#set(CHUNK, piece + count)
    return piece
  }

  #free(piece: number, kind: number): void {
    const { words } = this.#memory
    words[piece] = this.#word(UNUSED + kind)
    // Marks the block as not being a record. Even the smallest block, for the first buckets, has this word.
    words[piece + CLASS_AND_KEY] = 0
    this.#set(UNUSED + kind, piece)
  }
}
