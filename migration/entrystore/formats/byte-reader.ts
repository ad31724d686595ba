import { truncated, Unusable } from './quads.ts'

/** Thrown inside {@link readRecords} when a record is incomplete so far. */
class NeedMore extends Error {}

const needMore = new NeedMore('more bytes are needed')
// A literal may begin with U+FEFF as one of its characters.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const utf16 = new TextDecoder('utf-16be', { ignoreBOM: true })

/**
 * Reads numbers and texts from a stream of bytes, big-endian. Every method fails when the bytes have not
 * arrived yet.
 */
export class ByteReader {
  #buffer = Buffer.alloc(0)
  #at = 0
  /** The minimum number of bytes that the last failed read needed. */
  wanted = 0

  /** Adds bytes, and drops those before `from`. */
  append(chunks: readonly Uint8Array[], from: number): void {
    this.#buffer = Buffer.concat([this.#buffer.subarray(from), ...chunks])
    this.#at = 0
  }

  get position(): number {
    return this.#at
  }

  get available(): number {
    return this.#buffer.length
  }

  byte(): number {
    return this.#buffer[this.#advance(1)] ?? 0
  }

  int32(): number {
    return this.#buffer.readInt32BE(this.#advance(4))
  }

  uint16(): number {
    return this.#buffer.readUInt16BE(this.#advance(2))
  }

  /** Little-endian base 128. */
  varint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
      if (factor > 2 ** 35) throw new RangeError('a length is out of bounds')
    }
  }

  text(length: number, encoding: 'utf-8' | 'utf-16be' = 'utf-8'): string {
    if (length < 0) throw new RangeError('a length is out of bounds')
    const from = this.#advance(length)
    return (encoding === 'utf-8' ? utf8 : utf16).decode(this.#buffer.subarray(from, from + length))
  }

  #advance(length: number): number {
    const from = this.#at
    if (from + length > this.#buffer.length) {
      this.wanted = from + length
      throw needMore
    }
    this.#at += length
    return from
  }
}

/**
 * Calls `read` for one record after another until it returns true. A record that is split between chunks is
 * read again when the next bytes have arrived. Resolves to the number of bytes after the end.
 * @throws {Unusable} `truncated` when the stream ends before a record that marks the end, `damaged-file`
 */
export async function readRecords(
  chunks: AsyncIterable<Uint8Array>,
  read: (reader: ByteReader) => boolean,
): Promise<number> {
  const reader = new ByteReader()
  let pending: Uint8Array[] = []
  let size = 0
  let begin = 0
  let isEnded = false
  let rest = 0
  for await (const chunk of chunks) {
    if (isEnded) {
      rest += chunk.length
      continue
    }
    pending.push(chunk)
    size += chunk.length
    if (reader.available - begin + size < reader.wanted) continue
    reader.append(pending, begin)
    pending = []
    size = 0
    begin = 0
    try {
      while (!isEnded) {
        begin = reader.position
        isEnded = read(reader)
      }
      rest = reader.available - reader.position
    } catch (error) {
      if (error instanceof RangeError)
        throw new Unusable('damaged-file', `a record of it cannot be read: ${error.message}`, { cause: error })
      if (error !== needMore) throw error
      // Counts from the beginning of the record, because the whole record is read again.
      reader.wanted -= begin
    }
  }
  if (!isEnded) throw truncated('it ends before its end record')
  return rest
}
