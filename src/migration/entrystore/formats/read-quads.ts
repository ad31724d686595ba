import { readBinaryRdf } from './binary-rdf.ts'
import { gunzipped } from './gunzip.ts'
import { readMemoryStore } from './memory-store.ts'
import { readNQuads } from './n-quads.ts'
import { type QuadSink, Unusable } from './quads.ts'
import { readTrig } from './trig.ts'
import { readTrix } from './trix.ts'

type Format = 'TriX' | 'TriG' | 'N-Quads' | 'BinaryRDF' | 'memory store'

const readers: Readonly<Record<Format, (chunks: AsyncIterable<Uint8Array>, sink: QuadSink) => Promise<void>>> = {
  TriX: readTrix,
  TriG: readTrig,
  'N-Quads': readNQuads,
  BinaryRDF: readBinaryRdf,
  'memory store': readMemoryStore,
}

const HEAD_BYTES = 4096

/**
 * Reads a file of quads, compressed or not, and detects its format by its content.
 * @returns the format, with `, gzip` when it is compressed
 * @throws {Unusable} `truncated`, `damaged-file`, `format-not-quads`, `rdf-star`
 */
export async function readQuads(chunks: AsyncIterable<Uint8Array>, sink: QuadSink): Promise<string> {
  const outer = await peek(chunks)
  const isGzip = outer.head[0] === 0x1f && outer.head[1] === 0x8b
  const { head, all } = isGzip ? await peek(gunzipped(outer.all)) : outer
  const format = formatOf(head)
  await readers[format](all, sink)
  return isGzip ? `${format}, gzip` : format
}

/** Detects the format by the first bytes. @throws {Unusable} `truncated` for an empty file, `format-not-quads` */
function formatOf(head: Uint8Array): Format {
  const letters = Buffer.from(head.subarray(0, 4)).toString('latin1')
  if (letters === 'BRDF') return 'BinaryRDF'
  if (letters === 'BMSF') return 'memory store'
  const text = new TextDecoder().decode(head).replace(/^(?:\s+|#[^\n\r]*)+/u, '')
  if (text === '' && head.length < HEAD_BYTES) throw new Unusable('truncated', 'it is empty')
  if (/^<(\?xml|!DOCTYPE|!--|TriX\b|[\w.-]+:TriX\b)/i.test(text)) return 'TriX'
  if (/^<rdf:RDF\b/i.test(text) || text.startsWith('[') || /^\{\s*"/.test(text)) {
    throw new Unusable('format-not-quads', 'it is RDF/XML or JSON, which hold no graph names here')
  }
  if (/^(@prefix|@base|prefix\b|base\b|graph\b|\{)/i.test(text) || /^(<[^>]*>|_:\S+|\w*:\S*)\s*\{/.test(text))
    return 'TriG'
  return 'N-Quads'
}

/** The first bytes of a stream, and the whole stream. */
async function peek(chunks: AsyncIterable<Uint8Array>): Promise<{ head: Uint8Array; all: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]()
  const begun: Uint8Array[] = []
  let size = 0
  while (size < HEAD_BYTES) {
    const { done, value } = await iterator.next()
    if (done === true) break
    begun.push(value)
    size += value.length
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* begun
      for (;;) {
        const { done, value } = await iterator.next()
        if (done === true) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: Buffer.concat(begun).subarray(0, HEAD_BYTES), all: all() }
}
