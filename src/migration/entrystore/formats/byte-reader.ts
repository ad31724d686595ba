/** Thrown inside of {@link readRecords} when a record is not all there yet. */
class NeedMore extends Error {}

const needMore = new NeedMore('more bytes are needed')
// A literal may begin with U+FEFF, which is a character of it.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const utf16 = new TextDecoder('utf-16be', { ignoreBOM: true })

/** Bytes of a stream as numbers and texts, big-endian. Every method fails when the bytes have not come yet. */
export class ByteReader {
  #buffer = Buffer.alloc(0)
  #at = 0
  /** How many bytes the last failed read wanted at least. */
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
 * Calls `read` for one record after the other until it returns true; a record that is cut by the end of a chunk is read
 * once more when the next bytes are there.
 * @returns `ended` when a record said so, with the number of bytes after it; `cut` when the stream ended before
 */
export async function readRecords(
  chunks: AsyncIterable<Uint8Array>,
  read: (reader: ByteReader) => boolean,
): Promise<{ readonly outcome: 'ended' | 'cut'; readonly rest: number }> {
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
      if (error !== needMore) throw error
      // Counted from the beginning of the record, which is where it is read from again.
      reader.wanted -= begin
    }
  }
  return { outcome: isEnded ? 'ended' : 'cut', rest }
}
