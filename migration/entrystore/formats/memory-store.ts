import { type ByteReader, readRecords } from './byte-reader.ts'
import { gunzipped, peek } from './chunks.ts'
import { emit, literalOf, type ObjectTerm, type QuadSink, truncated, Unusable } from './quads.ts'

/** `memorystore.data` begins with these letters and a version. */
const HEADER_BYTES = 5
const END = 127

/**
 * Reads the file of a memory store, versions 1 to 3. Inferred statements are skipped.
 * @throws {Unusable} `truncated`, `damaged-file`, `rdf-star`
 */
export async function readMemoryStore(chunks: AsyncIterable<Uint8Array>, sink: QuadSink): Promise<void> {
  const { head, all } = await peek(chunks, HEADER_BYTES)
  const version = head[4]
  if (version === undefined) throw truncated('it is shorter than its header')
  if (version < 1 || version > 3)
    throw new Unusable('damaged-file', `it is a memory store of the unknown version ${version}`)
  const reader = new MemoryStoreReader(version, sink)
  await readRecords(gunzipped(after(HEADER_BYTES, all)), bytes => reader.record(bytes))
}

/** The bytes after the first ones. */
async function* after(count: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = count
  for await (const chunk of chunks) {
    yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}

class MemoryStoreReader {
  readonly #version: number
  readonly #sink: QuadSink

  constructor(version: number, sink: QuadSink) {
    this.#version = version
    this.#sink = sink
  }

  /** Returns true at the end. */
  record(bytes: ByteReader): boolean {
    const kind = bytes.byte()
    switch (kind) {
      case 1:
        this.#text(bytes)
        this.#text(bytes)
        if (this.#version === 1) bytes.byte()
        return false
      case 2:
      case 3:
      case 4:
      case 5: {
        const [subject, predicate, object] = [this.#value(bytes), this.#value(bytes), this.#value(bytes)]
        const graph = kind === 3 || kind === 5 ? this.#value(bytes) : undefined
        // The others are inferred.
        if (kind <= 3) emit(this.#sink, [subject, predicate, object, graph])
        return false
      }
      case END:
        return true
      default:
        throw new Unusable('damaged-file', `it holds a record of the unknown kind ${kind}`)
    }
  }

  #value(bytes: ByteReader): ObjectTerm {
    const kind = bytes.byte()
    switch (kind) {
      case 6:
        return this.#text(bytes)
      case 7:
        return `_:${this.#text(bytes)}`
      case 8:
        return [this.#text(bytes)]
      case 9:
        return literalOf(this.#text(bytes), this.#text(bytes), undefined)
      case 10: {
        const value = this.#text(bytes)
        const datatype = this.#value(bytes)
        return literalOf(value, undefined, typeof datatype === 'string' ? datatype : undefined)
      }
      case 11:
        throw new Unusable('rdf-star', 'it holds statements about statements (RDF-star)')
      default:
        throw new Unusable('damaged-file', `it holds a value of the unknown kind ${kind}`)
    }
  }

  #text(bytes: ByteReader): string {
    return this.#version === 1 ? fromModifiedUtf8(bytes) : bytes.text(bytes.int32())
  }
}

/** Java's modified UTF-8: each surrogate is encoded separately, NUL in two bytes. */
function fromModifiedUtf8(bytes: ByteReader): string {
  const length = bytes.uint16()
  let text = ''
  for (let read = 0; read < length; ) {
    const first = bytes.byte()
    const following = first < 0x80 ? 0 : first < 0xe0 ? 1 : 2
    let code = following === 0 ? first : first & (following === 1 ? 0x1f : 0x0f)
    for (let more = 0; more < following; more++) code = (code << 6) | (bytes.byte() & 0x3f)
    text += String.fromCharCode(code)
    read += 1 + following
  }
  return text
}
