import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import {
  BUCKET_HEAD,
  FINGERPRINT_BITS,
  HASH_BITS,
  HEADER_SIZE,
  MAGIC,
  MAX_PREFIX_BITS,
  POSITION_SIZE,
} from './hash-filter.ts'

/** Values of a bucket; fewer make the index larger, more make an answer slower. */
const BUCKET_VALUES = 512
/** Bytes that wait to be written. */
const PENDING = 2 ** 20

/**
 * Writes a {@link HashFilter} from hashes in ascending order. Memory is needed for the index, 6 bytes for about 500 hashes, and for one
 * bucket. The file appears under its name when it is complete.
 */
export class HashFilterWriter {
  readonly #path: string
  readonly #file: number
  readonly #prefixBits: number
  readonly #index: Buffer
  #values = new Float64Array(1024)
  #length = 0
  #bucket = 0
  #count = 0
  #pending: Buffer[] = []
  #pendingSize = 0
  #position: number

  /** @param expected about how many hashes will be added; a wrong number makes the file larger or slower, never wrong */
  constructor(path: string, expected: number) {
    const bits = Math.round(Math.log2(Math.max(1, expected / BUCKET_VALUES)))
    this.#prefixBits = Math.min(MAX_PREFIX_BITS, Math.max(0, bits))
    this.#index = Buffer.alloc((2 ** this.#prefixBits + 1) * POSITION_SIZE)
    this.#position = HEADER_SIZE + this.#index.length
    this.#index.writeUIntBE(this.#position, 0, POSITION_SIZE)
    this.#path = path
    this.#file = openSync(this.#partial, 'w', 0o644)
  }

  /** The number of hashes so far. */
  get count(): number {
    return this.#count
  }

  /** @param hash not below the previous one */
  add(hash: number): void {
    const rest = 2 ** (HASH_BITS - this.#prefixBits)
    const bucket = Math.floor(hash / rest)
    while (this.#bucket < bucket) this.#endBucket()
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#length++] = hash - bucket * rest
    this.#count++
  }

  /** Completes the file and gives it its name. Returns its size in bytes. */
  finish(): number {
    while (this.#bucket < 2 ** this.#prefixBits) this.#endBucket()
    this.#flush()
    const header = Buffer.alloc(HEADER_SIZE)
    MAGIC.copy(header)
    header.writeUInt8(this.#prefixBits, 8)
    header.writeBigUInt64BE(BigInt(this.#count), 16)
    header.writeBigUInt64BE(BigInt(this.#position), 24)
    header.writeUInt32BE(crc32(this.#index), 32)
    header.writeUInt32BE(crc32(header.subarray(0, 60)), 60)
    writeAll(this.#file, header, 0)
    writeAll(this.#file, this.#index, HEADER_SIZE)
    fsyncSync(this.#file)
    renameSync(this.#partial, this.#path)
    closeSync(this.#file)
    return this.#position
  }

  /** Removes what has been written. */
  abandon(): void {
    closeSync(this.#file)
    rmSync(this.#partial, { force: true })
  }

  get #partial(): string {
    return `${this.#path}.part`
  }

  #endBucket(): void {
    if (this.#length > 0) {
      const bytes = encode(this.#values.subarray(0, this.#length), HASH_BITS - this.#prefixBits)
      this.#pending.push(bytes)
      this.#pendingSize += bytes.length
      this.#position += bytes.length
      this.#length = 0
      if (this.#pendingSize >= PENDING) this.#flush()
    }
    this.#bucket++
    this.#index.writeUIntBE(this.#position, this.#bucket * POSITION_SIZE, POSITION_SIZE)
  }

  #flush(): void {
    writeAll(this.#file, Buffer.concat(this.#pending), this.#position - this.#pendingSize)
    this.#pending = []
    this.#pendingSize = 0
  }
}

/** A bucket of the file. @param hashes ascending, of `bits` bits each */
function encode(hashes: Float64Array, bits: number): Buffer {
  const ownBits = Math.ceil(Math.log2(hashes.length))
  const valueBits = Math.min(bits, ownBits + FINGERPRINT_BITS)
  const lowBits = valueBits - ownBits
  const [scale, low] = [2 ** (bits - valueBits), 2 ** lowBits]
  // The high parts of all codes together have at most 2 bits for each hash.
  const bytes = Buffer.alloc(BUCKET_HEAD + Math.ceil((hashes.length * (lowBits + 3)) / 8) + 4)
  let position = BUCKET_HEAD * 8
  const push = (bit: number): void => {
    if (bit === 1) bytes[position >> 3] = (bytes[position >> 3] ?? 0) | (1 << (7 - (position & 7)))
    position++
  }
  let [count, last] = [0, 0]
  for (const hash of hashes) {
    const value = Math.floor(hash / scale)
    if (count > 0 && value === last) continue
    const gap = value - last
    for (let high = Math.floor(gap / low); high > 0; high--) push(1)
    push(0)
    for (let bit = lowBits - 1; bit >= 0; bit--) push(Math.floor(gap / 2 ** bit) & 1)
    last = value
    count++
  }
  const end = Math.ceil(position / 8)
  bytes.writeUInt32BE(count, 0)
  bytes.writeUInt8(valueBits, 4)
  bytes.writeUInt8(lowBits, 5)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, end)), end)
  return bytes.subarray(0, end + 4)
}

function writeAll(file: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done)
  }
}

export const sizeOf = (path: string): number => statSync(path).size
