import { type ByteReader, readRecords } from './byte-reader.ts'
import { emit, literalOf, type ObjectTerm, type QuadSink, Unusable } from './quads.ts'

/**
 * Reads RDF4J's BinaryRDF, versions 1 and 2.
 * @throws {Unusable} `truncated` without the final record, `damaged-file`, `rdf-star`
 */
export async function readBinaryRdf(chunks: AsyncIterable<Uint8Array>, sink: QuadSink): Promise<void> {
  const reader = new BinaryRdfReader(sink)
  const rest = await readRecords(chunks, bytes => reader.record(bytes))
  if (rest > 0) throw new Unusable('damaged-file', `${rest} bytes follow its end record`)
}

const END = 127

class BinaryRdfReader {
  readonly #sink: QuadSink
  /** Values that later records refer to by number; numbers are reused. */
  readonly #declared = new Map<number, ObjectTerm>()
  #version: number | undefined

  constructor(sink: QuadSink) {
    this.#sink = sink
  }

  /** Returns true at the end. */
  record(bytes: ByteReader): boolean {
    if (this.#version === undefined) {
      const magic = bytes.text(4)
      const version = bytes.int32()
      if (magic !== 'BRDF' || (version !== 1 && version !== 2)) {
        throw new Unusable('damaged-file', `it is BinaryRDF of version ${version}, which is not known`)
      }
      // The name of the encoding, which is always UTF-8.
      if (version === 2) bytes.text(bytes.varint())
      this.#version = version
      return false
    }
    const kind = bytes.byte()
    switch (kind) {
      case 0:
        this.#text(bytes)
        this.#text(bytes)
        return false
      case 1:
        emit(this.#sink, [this.#value(bytes), this.#value(bytes), this.#value(bytes), this.#value(bytes)])
        return false
      case 2:
        this.#text(bytes)
        return false
      case 3: {
        const id = this.#number(bytes)
        const value = this.#value(bytes)
        if (value !== undefined) this.#declared.set(id, value)
        return false
      }
      case END:
        return true
      default:
        throw new Unusable('damaged-file', `it holds a record of the unknown kind ${kind}`)
    }
  }

  #value(bytes: ByteReader): ObjectTerm | undefined {
    const kind = bytes.byte()
    switch (kind) {
      case 0:
        return undefined
      case 1:
        return this.#text(bytes)
      case 2:
        return `_:${this.#text(bytes)}`
      case 3:
        return [this.#text(bytes)]
      case 4:
        return literalOf(this.#text(bytes), this.#text(bytes), undefined)
      case 5:
        return literalOf(this.#text(bytes), undefined, this.#text(bytes))
      case 6: {
        const id = this.#number(bytes)
        const value = this.#declared.get(id)
        if (value === undefined) throw new Unusable('damaged-file', `it names a value (${id}) that was not declared`)
        return value
      }
      case 7:
        throw new Unusable('rdf-star', 'it holds statements about statements (RDF-star)')
      default:
        throw new Unusable('damaged-file', `it holds a value of the unknown kind ${kind}`)
    }
  }

  #number(bytes: ByteReader): number {
    return this.#version === 1 ? bytes.int32() : bytes.varint()
  }

  #text(bytes: ByteReader): string {
    return this.#version === 1 ? bytes.text(bytes.int32() * 2, 'utf-16be') : bytes.text(bytes.varint())
  }
}
