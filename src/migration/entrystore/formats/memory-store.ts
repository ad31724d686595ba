import { createGunzip } from 'node:zlib'
import { type ByteReader, readRecords } from './byte-reader.ts'
import { gunzipped } from './gunzip.ts'
import { literalOf, type ObjectTerm, type QuadSink, truncated, Unusable } from './quads.ts'

/** `memorystore.data` begins with these letters and a version. */
const HEADER_BYTES = 5
const END = 127

/**
 * Reads the file of a memory store, versions 1 to 3. Inferred statements are skipped.
 * @throws {Unusable} `truncated`, `damaged-file`, `rdf-star`
 */
export async function readMemoryStore(chunks: AsyncIterable<Uint8Array>, sink: QuadSink): Promise<void> {
  const { header, rest } = await splitHeader(chunks)
  const version = header[4] ?? 0
  if (version < 1 || version > 3)
    throw new Unusable('damaged-file', `it is a memory store of the unknown version ${version}`)
  const reader = new MemoryStoreReader(version, sink)
  try {
    const { outcome } = await readRecords(gunzipped(rest, createGunzip()), bytes => reader.record(bytes))
    if (outcome === 'cut') throw truncated('it ends before its end record')
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Unusable('damaged-file', `a record of it cannot be read: ${error.message}`, { cause: error })
  }
}

async function splitHeader(chunks: AsyncIterable<Uint8Array>) {
  const iterator = chunks[Symbol.asyncIterator]()
  let header = Buffer.alloc(0)
  while (header.length < HEADER_BYTES) {
    const { done, value } = await iterator.next()
    if (done === true) throw truncated('it is shorter than its header')
    header = Buffer.concat([header, value])
  }
  async function* rest(): AsyncGenerator<Uint8Array> {
    yield header.subarray(HEADER_BYTES)
    for (;;) {
      const { done, value } = await iterator.next()
      if (done === true) return
      yield value
    }
  }
  return { header, rest: rest() }
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
        const isInferred = kind > 3
        if (isInferred) return false
        const isNamed = graph === undefined || typeof graph === 'string'
        if (typeof subject !== 'string' || typeof predicate !== 'string' || !isNamed) {
          this.#sink.problem('unreadable-statement', typeof graph === 'string' ? `graph ${graph}` : 'default graph')
        } else this.#sink.quad(subject, predicate, object, graph)
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
      case 9: {
        const value = this.#text(bytes)
        return literalOf(value, this.#text(bytes), undefined)
      }
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
