import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { StartupError, StoreUnavailable } from '../base/errors.ts'

/**
 * A file that holds a large set of hashes in about 23 bits each, and answers whether a hash is in it. Members are always found; another
 * hash is found by mistake with a probability of at most {@link MAX_FALSE_POSITIVES}. An answer reads one bucket of the file, so
 * nothing but a descriptor is kept in memory.
 *
 * A hash counts with its first 52 bits. The first `prefixBits` of them name a bucket; the following `valueBits` are kept there, in
 * order, as differences in Golomb-Rice code. Numbers are big-endian.
 *
 *     header  64 bytes: magic, prefixBits (at 8), number of hashes (at 16), size of the file (at 24), CRC-32 of the index (at 32),
 *             CRC-32 of the header up to there (at 60)
 *     index   the position of each bucket and of the end, 6 bytes each
 *     bucket  empty, or: number of values (4), valueBits (1), low bits of each code (1), codes, CRC-32 of all that (4)
 */
export const MAX_FALSE_POSITIVES = 2 ** -21
/** Value bits beside those that tell the values of a bucket apart. */
export const FINGERPRINT_BITS = 21
export const HASH_BITS = 52
export const HEADER_SIZE = 64
export const POSITION_SIZE = 6
export const BUCKET_HEAD = 6
export const MAX_PREFIX_BITS = 24
export const MAGIC = Buffer.from('hashset1', 'latin1')

/** The first 52 bits of a digest as a number. */
export const hashOf = (digest: Buffer): number => digest.readUInt32BE(0) * 2 ** 20 + (digest.readUIntBE(4, 3) >>> 4)

const indexSize = (prefixBits: number): number => (2 ** prefixBits + 1) * POSITION_SIZE

export class HashFilter {
  readonly #path: string
  readonly #file: number
  readonly #prefixBits: number
  /** Number of hashes that the file was made from. */
  readonly count: number

  private constructor(path: string, file: number, { prefixBits, count }: { prefixBits: number; count: number }) {
    this.#path = path
    this.#file = file
    this.#prefixBits = prefixBits
    this.count = count
  }

  /** Opens the file after a check of header, index and size. @throws {StartupError} when it is missing, damaged or incomplete */
  static open(path: string): HashFilter {
    const file = openFile(path)
    try {
      return new HashFilter(path, file, readHeader(path, file))
    } catch (error) {
      closeSync(file)
      throw error
    }
  }

  /** @param hash see {@link hashOf} @throws {StoreUnavailable} when the file cannot be read any more, or is damaged */
  has(hash: number): boolean {
    const rest = 2 ** (HASH_BITS - this.#prefixBits)
    try {
      const bucket = this.#bucket(Math.floor(hash / rest))
      return bucket.length > 0 && contains(bucket, hash % rest, HASH_BITS - this.#prefixBits)
    } catch (error) {
      throw new StoreUnavailable('The list of breached passwords', { cause: error })
    }
  }

  /**
   * Reads the whole file. Returns the probability that a hash that was never added is found.
   * @throws {StartupError} at the first damaged bucket
   */
  verify(): number {
    const buckets = 2 ** this.#prefixBits
    let probability = 0
    for (let number = 0; number < buckets; number++) {
      try {
        const bucket = this.#bucket(number)
        if (bucket.length > 0) probability += bucket.readUInt32BE(0) / 2 ** bucket.readUInt8(4) / buckets
      } catch (error) {
        throw damaged(this.#path, error instanceof Error ? error.message : String(error))
      }
    }
    return probability
  }

  close(): void {
    closeSync(this.#file)
  }

  #bucket(number: number): Buffer {
    const ends = readAt(this.#file, HEADER_SIZE + number * POSITION_SIZE, 2 * POSITION_SIZE)
    const start = ends.readUIntBE(0, POSITION_SIZE)
    const bucket = readAt(this.#file, start, ends.readUIntBE(POSITION_SIZE, POSITION_SIZE) - start)
    if (bucket.length > 0 && bucket.readUInt32BE(bucket.length - 4) !== crc32(bucket.subarray(0, -4))) {
      throw new Error(`the checksum of bucket ${number} is wrong`)
    }
    return bucket
  }
}

/** Decodes the values up to the one that is looked for. */
function contains(bucket: Buffer, hash: number, bits: number): boolean {
  const count = bucket.readUInt32BE(0)
  const [valueBits, lowBits] = [bucket.readUInt8(4), bucket.readUInt8(5)]
  const wanted = Math.floor(hash / 2 ** (bits - valueBits))
  let position = BUCKET_HEAD * 8
  const next = (): number => ((bucket[position >> 3] ?? 0) >> (7 - (position++ & 7))) & 1
  let value = 0
  for (let index = 0; index < count; index++) {
    let high = 0
    while (next() === 1) high++
    let low = 0
    for (let bit = 0; bit < lowBits; bit++) low = low * 2 + next()
    value += high * 2 ** lowBits + low
    if (value >= wanted) return value === wanted
  }
  return false
}

function readHeader(path: string, file: number): { readonly prefixBits: number; readonly count: number } {
  const header = readAt(file, 0, HEADER_SIZE, path)
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged(path, 'it is not such a file')
  const prefixBits = header.readUInt8(8)
  if (header.readUInt32BE(60) !== crc32(header.subarray(0, 60)) || prefixBits > MAX_PREFIX_BITS) {
    throw damaged(path, 'its header is damaged')
  }
  const [size, expected] = [fstatSync(file).size, Number(header.readBigUInt64BE(24))]
  if (size !== expected) throw damaged(path, `it has ${size} bytes instead of ${expected}`)
  const index = readAt(file, HEADER_SIZE, indexSize(prefixBits), path)
  if (header.readUInt32BE(32) !== crc32(index)) throw damaged(path, 'its index is damaged')
  return { prefixBits, count: Number(header.readBigUInt64BE(16)) }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'it does not exist' : (cause as Error).message
    throw damaged(path, reason, cause)
  }
}

/** @throws {Error} when the file ends before; {@link StartupError} if a path is given */
function readAt(file: number, position: number, length: number, path?: string): Buffer {
  const bytes = Buffer.alloc(length)
  let done = 0
  while (done < length) {
    const count = readSync(file, bytes, done, length - done, position + done)
    if (count === 0) throw path === undefined ? new Error('the file ends early') : damaged(path, 'it ends early')
    done += count
  }
  return bytes
}

const damaged = (path: string, reason: string, cause?: unknown): StartupError =>
  new StartupError(`The list of breached passwords ${path} cannot be used: ${reason}. Build it again.`, { cause })

/** The bytes of a file in large pieces. */
export const readPieces = (path: string): AsyncIterable<Buffer> => createReadStream(path, { highWaterMark: 2 ** 20 })
