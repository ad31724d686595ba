import {
  closeSync,
  createReadStream,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import { StartupError, StoreUnavailable } from '../../base/errors.ts'

/**
 * A file with a large set of hashes, which answers whether a hash is in it by bisection. A hash counts with its first 52 bits, so a
 * hash beside the set is found by mistake with a probability of count / 2^52. Only a descriptor is kept in memory. Numbers are big-endian.
 *
 *     header  24 bytes: magic (8), number of hashes (8), CRC-32 of the hashes (4), CRC-32 of the header up to there (4)
 *     hashes  7 bytes each, in ascending order
 */
const MAGIC = 'hashset2'
const HEADER = 24
const RECORD = 7
const HASH_BITS = 52
/** Hashes that are written or checked at once. */
const PORTION = 2 ** 16

/** The first 52 bits of a digest as a number. */
export const hashOf = (digest: Buffer): number => digest.readUInt32BE(0) * 2 ** 20 + (digest.readUIntBE(4, 3) >>> 4)

const read = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at) * 2 ** 20 + bytes.readUIntBE(at + 4, 3)

export class SortedHashes {
  readonly #path: string
  readonly #file: number
  /** Number of hashes. */
  readonly count: number
  readonly #checksum: number

  private constructor(path: string, file: number) {
    const header = readAt(file, 0, HEADER, path)
    const magic = header.toString('latin1', 0, MAGIC.length)
    if (magic !== MAGIC) throw unusable(path, 'it is not such a file')
    if (header.readUInt32BE(20) !== crc32(header.subarray(0, 20))) throw unusable(path, 'its header is damaged')
    this.#path = path
    this.#file = file
    this.count = Number(header.readBigUInt64BE(8))
    this.#checksum = header.readUInt32BE(16)
    const [size, expected] = [fstatSync(file).size, HEADER + this.count * RECORD]
    if (size !== expected) throw unusable(path, `it has ${size} bytes instead of ${expected}`)
  }

  /** Opens the file after a check of header and size. @throws {StartupError} when it is missing, damaged or incomplete */
  static open(path: string): SortedHashes {
    let file: number
    try {
      file = openSync(path, 'r')
    } catch (cause) {
      const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
      throw unusable(path, isMissing ? 'it does not exist' : (cause as Error).message, cause)
    }
    try {
      return new SortedHashes(path, file)
    } catch (error) {
      closeSync(file)
      throw error
    }
  }

  /** @param hash see {@link hashOf} @throws {StoreUnavailable} when the file cannot be read any more */
  has(hash: number): boolean {
    let [low, high] = [0, this.count]
    try {
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const found = read(readAt(this.#file, HEADER + middle * RECORD, RECORD), 0)
        if (found === hash) return true
        if (found < hash) low = middle + 1
        else high = middle
      }
      return false
    } catch (error) {
      throw new StoreUnavailable('The list of breached passwords', { cause: error })
    }
  }

  /**
   * Reads the whole file. Returns the probability that a hash that was never added is found.
   * @throws {StartupError} when it is damaged
   */
  verify(): number {
    let checksum = 0
    for (let done = 0; done < this.count; done += PORTION) {
      const length = Math.min(PORTION, this.count - done) * RECORD
      checksum = crc32(readAt(this.#file, HEADER + done * RECORD, length, this.#path), checksum)
    }
    if (checksum !== this.#checksum) throw unusable(this.#path, 'its checksum is wrong')
    return this.count / 2 ** HASH_BITS
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** Writes a file of {@link SortedHashes}, which appears under its name when it is complete. */
export class SortedHashesWriter {
  readonly #path: string
  readonly #file: number
  readonly #portion = Buffer.alloc(PORTION * RECORD)
  #length = 0
  #count = 0
  #checksum = 0
  #last = -1

  constructor(path: string) {
    this.#path = path
    // The remains of a run that was cut off, or a link, which would be followed.
    rmSync(`${path}.part`, { force: true })
    this.#file = openSync(`${path}.part`, 'wx', 0o644)
    writeFileSync(this.#file, Buffer.alloc(HEADER))
  }

  /** The number of hashes so far. */
  get count(): number {
    return this.#count
  }

  /** @param hash at least as large as the previous hash; an equal one is left out */
  add(hash: number): void {
    if (hash === this.#last) return
    this.#last = hash
    this.#portion.writeUInt32BE(Math.floor(hash / 2 ** 20), this.#length)
    this.#portion.writeUIntBE(hash % 2 ** 20, this.#length + 4, 3)
    this.#length += RECORD
    this.#count++
    if (this.#length === this.#portion.length) this.#flush()
  }

  /** Completes the file and gives it its name. Returns its size in bytes. */
  finish(): number {
    this.#flush()
    const header = Buffer.alloc(HEADER)
    header.write(MAGIC, 'latin1')
    header.writeBigUInt64BE(BigInt(this.#count), 8)
    header.writeUInt32BE(this.#checksum, 16)
    header.writeUInt32BE(crc32(header.subarray(0, 20)), 20)
    writeSync(this.#file, header, 0, HEADER, 0)
    fsyncSync(this.#file)
    closeSync(this.#file)
    renameSync(`${this.#path}.part`, this.#path)
    return HEADER + this.#count * RECORD
  }

  /** Removes what has been written. */
  abandon(): void {
    closeSync(this.#file)
    rmSync(`${this.#path}.part`, { force: true })
  }

  #flush(): void {
    const bytes = this.#portion.subarray(0, this.#length)
    writeFileSync(this.#file, bytes)
    this.#checksum = crc32(bytes, this.#checksum)
    this.#length = 0
  }
}

/** @throws {Error} when the file ends before; {@link StartupError} if a path is given */
function readAt(file: number, position: number, length: number, path?: string): Buffer {
  const bytes = Buffer.alloc(length)
  if (readSync(file, bytes, 0, length, position) === length) return bytes
  throw path === undefined ? new Error('the file ends early') : unusable(path, 'it ends early')
}

const unusable = (path: string, reason: string, cause?: unknown): StartupError =>
  new StartupError(`The list of breached passwords ${path} cannot be used: ${reason}. Build it again.`, { cause })

/** The bytes of a file in large pieces. */
export const readPieces = (path: string): AsyncIterable<Buffer> => createReadStream(path, { highWaterMark: 2 ** 20 })
